import { CircleCheck } from 'lucide-react';
import type { Data } from '../../api/types.ts';
import { formatNumber } from '../../format/format.ts';
import { Badge, StatusBadge, type Tone } from '../../kit/badge.tsx';
import { Card } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import styles from './job-pages.module.css';

type Cause = Data<'summarizeJob'>['causes'][number];

const RETRIES: Readonly<Record<string, readonly [Tone, string]>> = {
  later: ['info', 'try again later'],
  otherWay: ['info', 'another way may work'],
  never: ['idle', 'trying again fails again'],
};

/** Why URLs failed or were left out, the most frequent cause first, each with what to do. */
export function CauseList({
  causes,
  onChoose,
}: {
  readonly causes: readonly Cause[];
  readonly onChoose: (cause: Cause) => void;
}) {
  if (causes.length === 0) {
    return (
      <Card title="Reasons">
        <EmptyState icon={CircleCheck} title="Nothing failed and nothing was left out">
          Every URL that the job has found so far was fetched, or still waits for its turn.
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card title="Reasons" about="Choose one to see its URLs." isFlush>
      <Table
        label="Reasons"
        rows={causes}
        keyOf={({ state, cause }) => `${state} ${cause}`}
        columns={[
          {
            id: 'state',
            head: 'State',
            isSecondary: true,
            cell: ({ state }) => <StatusBadge status={state} />,
          },
          {
            id: 'urls',
            head: 'URLs',
            align: 'end',
            cell: ({ urls }) => <span className={styles.number}>{formatNumber(urls)}</span>,
          },
          {
            id: 'cause',
            head: 'Reason and what to do',
            cell: (cause) => (
              <div className={styles.cause}>
                <button type="button" className={styles.linkButton} onClick={() => onChoose(cause)}>
                  <Sentence text={cause.message ?? cause.cause} />
                </button>
                {cause.advice !== null && (
                  <span className={styles.advice}>
                    <Sentence text={cause.advice} />
                  </span>
                )}
              </div>
            ),
          },
          {
            id: 'retry',
            head: 'Again?',
            isSecondary: true,
            cell: ({ retry }) => {
              const [tone, text] = RETRIES[retry ?? ''] ?? [];
              return tone === undefined ? null : <Badge tone={tone}>{text}</Badge>;
            },
          },
          { id: 'code', head: 'Code', isSecondary: true, cell: ({ cause }) => <code>{cause}</code> },
        ]}
      />
    </Card>
  );
}
