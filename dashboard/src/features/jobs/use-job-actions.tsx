import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { formatNumber, plural } from '../../format/format.ts';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { toast } from '../../kit/toasts.tsx';
import { jobName } from './job-name.ts';
import { isOpen } from './queries.ts';
import { needsLimit, ResumeDialog } from './resume-dialog.tsx';

export type JobAction = 'cancel' | 'resume' | 'retry' | 'delete';

/** Which actions a job allows in its present state. */
export function allowedActions(job: Job): Readonly<Record<JobAction, boolean>> {
  const isOver = !isOpen(job);
  const { skipped, cancelled, failed } = job.progress;
  return {
    cancel: !isOver,
    resume: isOver && (cancelled > 0 || (skipped > 0 && job.stopReason !== null)),
    retry: isOver && failed > 0,
    delete: isOver,
  };
}

const send = (action: JobAction, id: string): Promise<unknown> => {
  const input = { params: { id } };
  if (action === 'cancel') return api.post('/v1/jobs/{id}/cancel', input);
  if (action === 'resume') return api.post('/v1/jobs/{id}/resume', { ...input, body: {} });
  if (action === 'retry') return api.post('/v1/jobs/{id}/retry', input);
  return api.delete('/v1/jobs/{id}', input);
};

const DONE: Readonly<Record<JobAction, string>> = {
  cancel: 'Cancelled',
  resume: 'Continued',
  retry: 'Failed URLs are tried again',
  delete: 'Deleted',
};

export interface JobActions {
  readonly isBusy: boolean;
  /** Runs an action on jobs; cancelling and deleting ask first. */
  run(action: JobAction, jobs: readonly Job[]): void;
  clone(job: Job): void;
  /** The question that is open; stands anywhere on the page. */
  readonly dialog: ReactNode;
}

/** The actions of jobs, for rows, for several at once and for the page of one. */
export function useJobActions(onDeleted?: () => void): JobActions {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isBusy, setIsBusy] = useState(false);
  const [asked, setAsked] = useState<{ action: JobAction; jobs: readonly Job[] } | null>(null);

  /** All jobs are tried; the failures are told together, with the reason of the first. */
  const perform = async (action: JobAction, jobs: readonly Job[]) => {
    const results = await Promise.allSettled(jobs.map(({ id }) => send(action, id)));
    const failures = results.filter((result) => result.status === 'rejected');
    const done = jobs.length - failures.length;
    if (done > 0) toast.done(jobs.length === 1 ? DONE[action] : `${DONE[action]}: ${plural(done, 'job')}`);
    if (action === 'delete') {
      for (const [index, { id }] of jobs.entries())
        if (results[index]?.status === 'fulfilled') client.removeQueries({ queryKey: ['jobs', id] });
    }
    if (action === 'delete' && done > 0) onDeleted?.();
    await client.invalidateQueries({ queryKey: ['jobs'] });
    if (failures[0] !== undefined) throw failures[0].reason;
  };
  const run = (action: JobAction, jobs: readonly Job[]) => {
    if (jobs.length === 0) return;
    const [first] = jobs;
    const needsMore = action === 'resume' && jobs.length === 1 && first !== undefined && needsLimit(first);
    if (action === 'delete' || action === 'cancel' || needsMore) return setAsked({ action, jobs });
    setIsBusy(true);
    perform(action, jobs)
      .catch((cause) => toast.failed(cause))
      .finally(() => setIsBusy(false));
  };
  return {
    isBusy,
    run,
    clone: (job) => void navigate({ to: '/jobs/new', search: { clone: job.id } }),
    dialog: asked && (
      <Question
        {...asked}
        onClose={() => setAsked(null)}
        onConfirm={() => perform(asked.action, asked.jobs)}
      />
    ),
  };
}

function Question({
  action,
  jobs,
  onClose,
  onConfirm,
}: {
  readonly action: JobAction;
  readonly jobs: readonly Job[];
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<unknown>;
}) {
  const [first] = jobs;
  if (action === 'resume') return first === undefined ? null : <ResumeDialog job={first} onClose={onClose} />;
  const name = jobs.length === 1 && first ? jobName(first) : plural(jobs.length, 'job');
  const open = jobs.reduce((sum, { progress }) => sum + progress.open, 0);
  const pages = jobs.reduce((sum, { progress }) => sum + progress.pages, 0);
  if (action === 'cancel') {
    return (
      <ConfirmDialog
        isOpen
        onClose={onClose}
        title={`Cancel ${name}?`}
        about={`Requests under way are finished and kept; ${plural(open, 'URL')} will not be fetched. You can resume it later.`}
        action={jobs.length === 1 ? 'Cancel job' : 'Cancel jobs'}
        onConfirm={onConfirm}
      />
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Delete ${name}?`}
      about={`Its ${formatNumber(pages)} stored pages, records, files and exports are deleted with it. This cannot be undone.`}
      action={jobs.length === 1 ? 'Delete job' : 'Delete jobs'}
      typeToConfirm={name}
      onConfirm={onConfirm}
    />
  );
}
