import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { Job } from '../../api/types.ts';
import { formatNumber, shortUrl } from '../../format/format.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Card } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import styles from './overview.module.css';
import { isOpen, type Summary } from './queries.ts';
import { allowedActions, type JobActions } from './use-job-actions.tsx';

/** Why URLs failed or were left out, the most frequent cause first, each with what to do. */
export function Causes({
  job,
  causes,
  actions,
}: {
  readonly job: Job;
  readonly causes: Summary['causes'];
  readonly actions: JobActions;
}) {
  if (causes.length === 0) {
    const { failed, skipped, denied } = job.progress;
    // The figures come with each event; the causes are asked for again every few seconds.
    const areBehind = isOpen(job) && failed + skipped + denied > 0;
    return (
      <Card title="Failed and left out">
        {areBehind ? (
          <EmptyState title="The causes are being counted">They follow the job by a few seconds.</EmptyState>
        ) : (
          <EmptyState icon={CircleCheck} title="Nothing failed and nothing was left out" />
        )}
      </Card>
    );
  }
  return (
    <Card title="Failed and left out" about="Grouped by cause, with what to do about it." isFlush>
      <Table
        label="Causes"
        rows={causes}
        keyOf={({ state, cause }) => `${state} ${cause}`}
        columns={[
          { id: 'state', head: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
          {
            id: 'urls',
            head: 'URLs',
            align: 'end',
            cell: ({ state, cause, urls }) => (
              <Link
                to="/jobs/$id"
                params={{ id: job.id }}
                search={{ tab: 'urls', state, reason: cause, kind: 'any' } as { tab: 'urls' }}
                aria-label={`Show the ${formatNumber(urls)} URLs of ${cause}`}
              >
                {formatNumber(urls)}
              </Link>
            ),
          },
          {
            id: 'cause',
            head: 'Cause and what to do',
            cell: ({ message, cause, advice, example }) => (
              <div className={styles.cause}>
                <span>
                  <Sentence text={message ?? cause} />
                </span>
                {advice !== null && (
                  <span className={styles.advice}>
                    <Sentence text={advice} />
                  </span>
                )}
                {example !== null && (
                  <span className={styles.example}>
                    <ExternalLink url={example} text={shortUrl(example)} />
                  </span>
                )}
              </div>
            ),
          },
          { id: 'code', head: 'Code', isSecondary: true, cell: ({ cause }) => <code>{cause}</code> },
          {
            id: 'action',
            head: <span className="visually-hidden">Action</span>,
            cell: (cause) => <NextStep job={job} cause={cause} actions={actions} />,
          },
        ]}
      />
    </Card>
  );
}

/** The button that does what the advice says, where there is one. */
function NextStep({
  job,
  cause,
  actions,
}: {
  readonly job: Job;
  readonly cause: Summary['causes'][number];
  readonly actions: JobActions;
}) {
  const allowed = allowedActions(job);
  if (cause.state === 'failed' && cause.retry === 'later' && allowed.retry) {
    return (
      <Button size="small" isBusy={actions.isBusy} onClick={() => actions.run('retry', [job])}>
        Retry failed
      </Button>
    );
  }
  if (cause.cause.startsWith('budget.') && allowed.resume) {
    return (
      <Button size="small" isBusy={actions.isBusy} onClick={() => actions.run('resume', [job])}>
        Raise limit
      </Button>
    );
  }
  return null;
}
