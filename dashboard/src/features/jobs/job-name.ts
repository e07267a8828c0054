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

/** The share of known URLs that has ended, 0 to 1. */
export const jobShare = ({ progress, finishedAt }: Pick<Job, 'progress' | 'finishedAt'>): number =>
  finishedAt !== null ? 1 : progress.known === 0 ? 0 : 1 - progress.open / progress.known;
