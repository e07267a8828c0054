import { useQuery } from '@tanstack/react-query';
import type { Job } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatPercent, plural } from '../../format/format.ts';
import { Card, Columns, Figure, ProgressBar, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Notice, QueryView, Skeleton } from '../../kit/states.tsx';
import { Time, useNow } from '../../kit/time.tsx';
import { Causes } from './causes.tsx';
import { JobLog } from './job-log.tsx';
import { jobDuration, jobGoal, jobShare } from './job-name.ts';
import styles from './overview.module.css';
import { isOpen, summaryQuery } from './queries.ts';
import { Engines, Hosts, StatusCodes } from './summary-tables.tsx';
import { Throughput } from './throughput.tsx';
import type { JobActions } from './use-job-actions.tsx';
import { useRate } from './use-rate.ts';

export function OverviewTab({ job, actions }: { readonly job: Job; readonly actions: JobActions }) {
  const summary = useQuery(summaryQuery(job.id, isOpen(job)));
  return (
    <Stack>
      <Progress job={job} />
      <Waits job={job} />
      <Figures job={job} />
      <QueryView query={summary} skeleton={<Skeleton lines={3} height={180} />}>
        {(found) => (
          <Stack>
            <Throughput timeline={found.timeline} isLive={isOpen(job)} />
            <Causes job={job} causes={found.causes} actions={actions} />
            <Columns min="normal">
              <StatusCodes jobId={job.id} summary={found} />
              <Engines jobId={job.id} summary={found} />
              <Hosts jobId={job.id} summary={found} />
            </Columns>
          </Stack>
        )}
      </QueryView>
      <JobLog job={job} />
    </Stack>
  );
}

/** How far a job is, and why it stopped where it stopped early. */
function Progress({ job }: { readonly job: Job }) {
  const { ended, all, isLimited } = jobGoal(job);
  const rate = useRate(job);
  if (!isOpen(job)) {
    if (job.stopMessage === null) return null;
    return (
      <Notice tone={job.status === 'failed' ? 'bad' : 'warn'}>
        <Sentence text={job.stopMessage} />
      </Notice>
    );
  }
  const share = jobShare(job);
  const left = rate !== null && rate > 0 ? ((all - ended) / rate) * 1000 : null;
  return (
    <Card>
      <div className={styles.progressWords}>
        <strong>
          {all === 0
            ? 'Waiting for its turn'
            : `${formatPercent(share)} ${isLimited ? 'of its limit' : 'of what is known'}`}
        </strong>
        <span>
          {`${formatNumber(ended)} of ${isLimited ? plural(all, 'page') : plural(all, 'URL')}`}
          {left !== null &&
            ` · about ${formatDuration(Math.max(1000, left))} left${isLimited ? '' : ', unless more is found'}`}
        </span>
      </div>
      <ProgressBar value={all === 0 ? undefined : share} label="URLs ended" />
      {job.stopMessage !== null && (
        <p className={styles.stopping}>
          <Sentence text={job.stopMessage} />
        </p>
      )}
    </Card>
  );
}

/** What open URLs wait for. */
function Waits({ job }: { readonly job: Job }) {
  const waits = isOpen(job) ? (job.waitingFor ?? []) : [];
  if (waits.length === 0) return null;
  return (
    <Notice tone="info">
      <ul className={styles.waits}>
        {waits.map(({ host, code, message, until, tasks }) => (
          <li key={`${host} ${code} ${until}`}>
            <strong>{host}</strong>
            {': '}
            <Sentence text={message} />
            {` ${plural(tasks, 'URL waits', 'URLs wait')}; they may go on `}
            <Time at={until} />.
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Figures({ job }: { readonly job: Job }) {
  useNow();
  const rate = useRate(job);
  const { pages, failed, skipped, denied, open, bytes, browserMs } = job.progress;
  const ended = pages + failed;
  // The shared clock moves every ten seconds; between, each change of the counters draws the duration anew.
  const duration = jobDuration(job, Date.now());
  return (
    <div className={styles.figures}>
      <Figure
        label="Pages"
        value={formatNumber(pages)}
        about={rate === null ? 'fetched and kept' : `${rate.toFixed(1)} a second now`}
      />
      <Figure
        label="Failed"
        value={formatNumber(failed)}
        about={ended === 0 ? 'none so far' : `${formatPercent(failed / ended)} of those tried`}
      />
      <Figure
        label="Left out"
        value={formatNumber(skipped + denied)}
        about={`${formatNumber(denied)} by robots or policy`}
      />
      {isOpen(job) && <Figure label="Open" value={formatNumber(open)} about="still to be done" />}
      <Figure
        label="Data"
        value={formatBytes(bytes)}
        about={browserMs > 0 ? `${formatDuration(browserMs)} of browsers` : 'without a browser'}
      />
      <Figure
        label="Duration"
        value={duration === null ? '–' : formatDuration(duration)}
        about={
          duration !== null && duration > 1000
            ? `${((ended * 1000) / duration).toFixed(1)} URLs/s on average`
            : 'since its start'
        }
      />
      <Figure
        label="Credits"
        value={formatNumber(job.credits)}
        about={pages > 0 ? `${(job.credits / pages).toFixed(2)} a page` : 'so far'}
      />
    </div>
  );
}
