import { useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { formatDuration } from '../../format/format.ts';
import { HttpStatus, StatusBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { QueryView } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';

type Delivery = Data<'getDelivery'>;

/** One delivery: what was sent, each try, and what the receiver answered. */
export function DeliveryDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const action = useAction(['webhooks']);
  const delivery = useQuery({
    queryKey: ['webhooks', 'delivery', id],
    queryFn: ({ signal }) => api.get('/v1/deliveries/{id}', { params: { id }, signal }),
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="sheet"
      title="Delivery"
      actions={
        <Button
          icon={RotateCw}
          isBusy={action.isBusy}
          onClick={() =>
            action.run(
              () => api.post('/v1/deliveries/{id}/redeliver', { params: { id } }),
              'It is delivered again.',
            )
          }
        >
          Deliver again
        </Button>
      }
    >
      <QueryView query={delivery}>{(found) => <Loaded delivery={found} />}</QueryView>
    </Dialog>
  );
}

const Loaded = ({ delivery }: { readonly delivery: Delivery }) => (
  <Stack>
    <Row>
      <StatusBadge status={delivery.state} />
      <code>{delivery.event}</code>
      <Time at={delivery.createdAt} />
    </Row>
    <KeyValues
      entries={[
        ['Event', delivery.eventId],
        ['Reason', delivery.reason ?? undefined],
        [
          'Next try',
          delivery.nextAttemptAt === null ? undefined : <Time key="next" at={delivery.nextAttemptAt} />,
        ],
      ]}
    />
    <h3>Tries</h3>
    <Table
      label="Tries"
      rows={delivery.log}
      keyOf={({ at }) => at}
      columns={[
        { id: 'at', head: 'When', cell: ({ at }) => <Time at={at} /> },
        { id: 'status', head: 'Status', cell: ({ statusCode }) => <HttpStatus code={statusCode} /> },
        { id: 'ms', head: 'Took', align: 'end', cell: ({ ms }) => formatDuration(ms) },
        { id: 'answer', head: 'Answer', isWide: true, cell: ({ error, answer }) => error ?? answer },
      ]}
    />
    {delivery.request !== null && (
      <>
        <h3>Request</h3>
        <CodeBlock
          label="headers"
          text={Object.entries(delivery.request.headers)
            .map(([name, value]) => `${name}: ${String(value)}`)
            .join('\n')}
        />
        <CodeBlock label="payload" text={pretty(delivery.request.body)} />
      </>
    )}
  </Stack>
);

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
