import { Link } from '@tanstack/react-router';
import { CircleX, Copy, EllipsisVertical, Play, RotateCw, Trash2 } from 'lucide-react';
import type { Job } from '../../api/types.ts';
import { formatDuration, formatNumber, formatPercent, plural } from '../../format/format.ts';
import { Badge, StatusBadge } from '../../kit/badge.tsx';
import { IconButton } from '../../kit/button.tsx';
import { ProgressBar } from '../../kit/layout.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../kit/menu.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { jobDuration, jobName, jobShare } from './job-name.ts';
import styles from './jobs.module.css';
import { isOpen } from './queries.ts';
import { allowedActions, type JobActions } from './use-job-actions.tsx';

interface Selection {
  has(id: string): boolean;
  toggle(id: string): void;
  readonly isAll: boolean;
  toggleAll(): void;
}

/** The columns of the list of jobs; `now` moves the durations of jobs that run. */
export const jobColumns = (
  actions: JobActions,
  selection: Selection,
  now: number,
): readonly Column<Job>[] => [
  {
    id: 'select',
    isSecondary: true,
    head: (
      <input
        type="checkbox"
        aria-label="Select all jobs shown"
        className={styles.box}
        checked={selection.isAll}
        onChange={selection.toggleAll}
      />
    ),
    cell: (job) => (
      <input
        type="checkbox"
        aria-label={`Select ${jobName(job)}`}
        className={styles.box}
        checked={selection.has(job.id)}
        onChange={() => selection.toggle(job.id)}
      />
    ),
  },
  { id: 'job', head: 'Job', isWide: true, cell: (job) => <JobCell job={job} /> },
  { id: 'status', head: 'Status', cell: (job) => <StatusCell job={job} /> },
  {
    id: 'pages',
    head: 'Pages',
    isSecondary: true,
    align: 'end',
    cell: ({ progress }) => formatNumber(progress.pages),
  },
  {
    id: 'failed',
    head: 'Failed',
    align: 'end',
    isSecondary: true,
    cell: ({ progress }) =>
      progress.failed === 0 ? (
        <span className={styles.none}>0</span>
      ) : (
        <span className={styles.failed}>{formatNumber(progress.failed)}</span>
      ),
  },
  {
    id: 'duration',
    head: 'Duration',
    align: 'end',
    isSecondary: true,
    cell: (job) => {
      const duration = jobDuration(job, now);
      return duration === null ? '–' : formatDuration(duration);
    },
  },
  {
    id: 'credits',
    head: 'Credits',
    align: 'end',
    isSecondary: true,
    cell: ({ credits }) => formatNumber(credits),
  },
  { id: 'created', head: 'Created', isSecondary: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'actions',
    head: <span className="visually-hidden">Actions</span>,
    cell: (job) => <RowMenu job={job} actions={actions} />,
  },
];

function JobCell({ job }: { readonly job: Job }) {
  return (
    <span className={styles.job}>
      <Link to="/jobs/$id" params={{ id: job.id }} className={styles.name} title={job.seeds[0]}>
        {jobName(job)}
      </Link>
      <Badge>{job.kind}</Badge>
      {job.seeds.length > 1 && (
        <span className={styles.more}>{`+${formatNumber(job.seeds.length - 1)}`}</span>
      )}
    </span>
  );
}

function StatusCell({ job }: { readonly job: Job }) {
  const share = jobShare(job);
  return (
    <span className={styles.status}>
      <StatusBadge status={job.status} />
      {isOpen(job) && (
        <span className={styles.progress}>
          <ProgressBar
            value={job.progress.known === 0 ? undefined : share}
            label={`${formatPercent(share)} of ${plural(job.progress.known, 'known URL')} ended`}
          />
        </span>
      )}
    </span>
  );
}

function RowMenu({ job, actions }: { readonly job: Job; readonly actions: JobActions }) {
  const allowed = allowedActions(job);
  return (
    <Menu trigger={<IconButton icon={EllipsisVertical} label={`Actions of ${jobName(job)}`} size="small" />}>
      <MenuItem icon={CircleX} isDisabled={!allowed.cancel} onSelect={() => actions.run('cancel', [job])}>
        Cancel
      </MenuItem>
      <MenuItem icon={Play} isDisabled={!allowed.resume} onSelect={() => actions.run('resume', [job])}>
        Resume
      </MenuItem>
      <MenuItem icon={RotateCw} isDisabled={!allowed.retry} onSelect={() => actions.run('retry', [job])}>
        Retry failed
      </MenuItem>
      <MenuItem icon={Copy} onSelect={() => actions.clone(job)}>
        Clone
      </MenuItem>
      <MenuSeparator />
      <MenuItem
        icon={Trash2}
        isDangerous
        isDisabled={!allowed.delete}
        onSelect={() => actions.run('delete', [job])}
      >
        Delete
      </MenuItem>
    </Menu>
  );
}
