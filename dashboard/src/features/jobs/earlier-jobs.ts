import { useQuery } from '@tanstack/react-query';
import type { Job } from '../../api/types.ts';
import { jobHost } from './job-name.ts';
import { siblingsQuery } from './queries.ts';

export interface EarlierJobs {
  /** Jobs that began at the same URL, the newest first. */
  readonly same: readonly Job[];
  /** Other jobs of the same host. */
  readonly others: readonly Job[];
  /** The last job before this one that began at the same URL. */
  readonly previous: Job | null;
}

/** Jobs with pages that a job can be compared with. Those of other hosts, and of other ports, are other sites. */
export function earlierJobs(job: Job, found: readonly Job[]): EarlierJobs {
  const host = hostWithPort(job);
  const fit = found.filter(
    (each) => each.id !== job.id && each.progress.pages > 0 && hostWithPort(each) === host,
  );
  const isSame = ({ kind, seeds }: Job) => kind === job.kind && seeds[0] === job.seeds[0];
  const same = fit.filter(isSame);
  return {
    same,
    others: fit.filter((each) => !isSame(each)),
    previous: same.find(({ createdAt }) => createdAt < job.createdAt) ?? null,
  };
}

const hostWithPort = ({ seeds }: Job): string => URL.parse(seeds[0] ?? '')?.host ?? '';

export function useEarlierJobs(
  job: Job,
): EarlierJobs & { readonly error: unknown; readonly isThere: boolean } {
  const { data, error } = useQuery(siblingsQuery(jobHost(job)));
  return { ...earlierJobs(job, data?.items ?? []), error, isThere: data !== undefined };
}
