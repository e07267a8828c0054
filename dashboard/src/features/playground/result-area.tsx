import type { UseQueryResult } from '@tanstack/react-query';
import { CircleAlert, FlaskConical } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { FieldProblem } from '../../api/api-error.ts';
import { formatDuration, plural } from '../../format/format.ts';
import { Button, LinkButton } from '../../kit/button.tsx';
import { Card, ProgressBar, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState, FailureState, QueryView, Skeleton } from '../../kit/states.tsx';
import styles from './playground.module.css';
import { messageAt } from './request/request-draft.ts';
import { ResultView } from './result/result-view.tsx';
import type { Run } from './result/run.ts';
import { WhyTab } from './result/why-tab.tsx';
import type { ResultTab } from './routes.ts';
import type { RunState } from './use-run.ts';

interface ResultAreaProps {
  readonly state: RunState;
  /** The result that the address names; null where it names none. */
  readonly stored: UseQueryResult<Run> | null;
  readonly tab: ResultTab;
  readonly onTab: (tab: ResultTab) => void;
  readonly rules: string;
  readonly onRules: (rules: string) => void;
  readonly onAskNetwork: () => void;
  readonly onExample: () => void;
  readonly onRetry: () => void;
}

/** The result, or what stands in its place until there is one. */
export const ResultArea = (props: ResultAreaProps) => (
  <div className={styles.place} data-result>
    <Card className={styles.result}>
      <Content {...props} />
    </Card>
  </div>
);

function Content({ state, stored, onExample, onRetry, ...view }: ResultAreaProps) {
  switch (state.kind) {
    case 'running':
      return <Running startedAt={state.startedAt} />;
    case 'done':
      return <ResultView key={state.run.jobId} run={state.run} {...view} />;
    case 'accepted':
      return (
        <EmptyState
          title="The job has started"
          actions={
            <LinkButton to="/jobs/$id" params={{ id: state.jobId }}>
              Open the job
            </LinkButton>
          }
        >
          The request asked not to wait for the page.
        </EmptyState>
      );
    case 'failed':
      return <Failed state={state} onRetry={onRetry} />;
    case 'cancelled':
      return (
        <EmptyState title="Cancelled" actions={<Button onClick={onRetry}>Run again</Button>}>
          The server has ended the job, and fetches nothing more for it.
        </EmptyState>
      );
    default:
      if (stored !== null) {
        return (
          <QueryView query={stored} skeleton={<Skeleton lines={12} />}>
            {(run) => <ResultView key={run.jobId} run={run} {...view} />}
          </QueryView>
        );
      }
      return (
        <EmptyState
          icon={FlaskConical}
          title="Nothing was run yet"
          actions={<Button onClick={onExample}>Scrape the sample page of this server</Button>}
        >
          Write the address of a page and press Run. Here stand the page, its Markdown, HTML, data, links and
          network, how long each step took, and why it was fetched the way it was.
        </EmptyState>
      );
  }
}

function Running({ startedAt }: { readonly startedAt: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <Stack>
      <p role="status">Fetching the page…</p>
      <ProgressBar label="Fetching the page" />
      <p className={styles.faint} aria-hidden>
        {formatDuration(Math.max(0, now - startedAt))}
      </p>
      <Skeleton lines={9} />
    </Stack>
  );
}

function Failed({
  state,
  onRetry,
}: {
  readonly state: Extract<RunState, { kind: 'failed' }>;
  readonly onRetry: () => void;
}) {
  const { facts, problems } = state.error;
  const { jobId, url } = facts;
  if (problems.length > 0) return <Refused problems={problems} />;
  return (
    <Stack>
      <FailureState failure={state.error} onRetry={onRetry} />
      {typeof jobId === 'string' && typeof url === 'string' && (
        <>
          <h2>Why</h2>
          <WhyTab jobId={jobId} url={url} />
        </>
      )}
    </Stack>
  );
}

/** The options that the server refused; the form shows each of them at its field. */
const Refused = ({ problems }: { readonly problems: readonly FieldProblem[] }) => (
  <EmptyState
    icon={CircleAlert}
    title={`${plural(problems.length, 'option needs', 'options need')} a change`}
  >
    <ul className={styles.problems}>
      {problems.map(({ field, message }) => (
        <li key={`${field} ${message}`}>
          <code>{field}</code>: <Sentence text={messageAt(field, field, message)} />
        </li>
      ))}
    </ul>
  </EmptyState>
);
