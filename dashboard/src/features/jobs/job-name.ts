import type { Job } from '../../api/types.ts';
import { shortUrl } from '../../format/format.ts';

/** What people call a job: the address it starts from. */
export function jobName({ seeds, kind }: Pick<Job, 'seeds' | 'kind'>): string {
  const first = seeds[0];
  return first === undefined ? kind : shortUrl(first);
}

/** The host that a job starts on; empty when it has no URL. */
export function jobHost({ seeds }: Pick<Job, 'seeds'>): string {
  try {
    return new URL(seeds[0] ?? '').hostname;
  } catch {
    return '';
  }
}

/** Milliseconds that a job has run so far; null before it has started. */
export const jobDuration = ({ startedAt, finishedAt }: Pick<Job, 'startedAt' | 'finishedAt'>, now: number) =>
  startedAt === null
    ? null
    : Math.max(0, (finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(startedAt));

export interface JobGoal {
  /** URLs that have ended, and all that the job will do as far as it is known now. */
  readonly ended: number;
  readonly all: number;
  /** The job reaches its limit of pages before it reaches the end of what it knows. */
  readonly isLimited: boolean;
}

/** How far a job is: on the way to the end of the known URLs, or to its limit of pages where that comes first. */
export function jobGoal({ progress, options }: Pick<Job, 'progress' | 'options'>): JobGoal {
  const { known, open, pages, failed } = progress;
  const { budgets } = (options ?? {}) as { readonly budgets?: { readonly maxPages?: number | null } };
  const most = budgets?.maxPages ?? null;
  if (most !== null && pages + failed + open > most)
    return { ended: Math.min(pages + failed, most), all: most, isLimited: true };
  return { ended: known - open, all: known, isLimited: false };
}

/** The share of its goal that a job has reached, 0 to 1. */
export function jobShare(job: Pick<Job, 'progress' | 'options' | 'finishedAt'>): number {
  const { ended, all } = jobGoal(job);
  return job.finishedAt !== null ? 1 : all === 0 ? 0 : ended / all;
}
