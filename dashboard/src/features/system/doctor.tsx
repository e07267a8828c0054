import { useMutation } from '@tanstack/react-query';
import { Stethoscope } from 'lucide-react';
import { api } from '../../api/client.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState, FailureNotice, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;

/** The checks of `scrapifie doctor`, with what to do about each finding. */
export function Doctor() {
  const doctor = useMutation({ mutationFn: () => api.post('/v1/system/doctor') });
  const run = (
    <Button kind="primary" icon={Stethoscope} isBusy={doctor.isPending} onClick={() => doctor.mutate()}>
      Run the checks
    </Button>
  );
  return (
    <Card title="Doctor" actions={doctor.data && run} isFlush>
      {doctor.error !== null && <FailureNotice failure={doctor.error} />}
      {doctor.isPending && <Skeleton lines={8} />}
      {doctor.isIdle && (
        <EmptyState icon={Stethoscope} title="Is this installation in order?" actions={run}>
          Checks settings, folders, browsers, servers and clocks, and says what to do.
        </EmptyState>
      )}
      {doctor.data && (
        <Table
          label="Checks"
          rows={doctor.data.items.map((item, index) => ({ ...item, key: `${item.check} ${index}` }))}
          keyOf={({ key }) => key}
          columns={[
            { id: 'state', head: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
            { id: 'check', head: 'Check', cell: ({ check }) => check },
            { id: 'found', head: 'Found', cell: ({ found }) => <Sentence text={found} /> },
            { id: 'advice', head: 'What to do', cell: ({ advice }) => <Sentence text={advice ?? ''} /> },
          ]}
        />
      )}
    </Card>
  );
}
