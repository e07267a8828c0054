import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Data, Job, QueryAt } from '../../api/types.ts';
import type { JobsSearch, Period } from './address.ts';

export type Summary = Data<'summarizeJob'>;
export type JobsQuery = QueryAt<'/v1/jobs', 'get'>;

export const isOpen = ({ status }: Pick<Job, 'status'>): boolean =>
  status === 'queued' || status === 'running';

const PERIOD_MS: Readonly<Record<Period, number>> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
};

/** The filter of the list as the server takes it; a period ends now. */
export const listFilter = ({ period, ...search }: JobsSearch, now: number): JobsQuery => ({
  ...(search as JobsQuery),
  ...(period && { since: new Date(now - PERIOD_MS[period]).toISOString() }),
});

/** A job that is not over is asked for again by itself, should the stream of live events be cut off. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', id, 'head'],
    queryFn: ({ signal }) => api.get('/v1/jobs/{id}', { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data) ? 5_000 : false),
  });

/** A job shows its first hundred start URLs; all of them are among its URLs. */
const SHOWN_SEEDS = 100;
const MOST_SEEDS = 10_000;

/** A job with all its start URLs, to be made again. */
export const cloneQuery = (id: string) =>
  queryOptions({
    queryKey: ['job-clone', id],
    queryFn: async ({ signal }) => {
      const job = await api.get('/v1/jobs/{id}', { params: { id }, signal });
      if (job.seeds.length < SHOWN_SEEDS) return job;
      const seeds: string[] = [];
      let cursor: string | null = null;
      let isMore = true;
      // The start URLs were the first that the job knew, so the first answer without any of them ends the search.
      while (isMore && seeds.length < MOST_SEEDS) {
        const query = { kind: 'any' as const, depth: 0, limit: 1_000, ...(cursor !== null && { cursor }) };
        const page: Data<'listJobRows'> = await api.get('/v1/jobs/{id}/rows', {
          params: { id },
          query,
          signal,
        });
        const found = page.items.filter(({ foundBy }) => foundBy === 'seed');
        for (const { url } of found) seeds.push(url);
        cursor = page.nextCursor;
        isMore = cursor !== null && found.length > 0;
      }
      return seeds.length > job.seeds.length ? { ...job, seeds } : job;
    },
    staleTime: 60_000,
  });

const LEAST_PAUSE_MS = 3_000;
/** A summary that took the server a second is asked for every twenty seconds. */
const PAUSE_FACTOR = 20;

const tookMs = new Map<string, number>();

/**
 * What became of the URLs of a job. Its key is no `jobs`: progress of jobs would have it counted every two seconds, which
 * takes seconds for a job of a million URLs. While the job runs it is asked for as often as it is cheap.
 */
export const summaryQuery = (id: string, isLive: boolean) =>
  queryOptions({
    queryKey: ['job-summary', id],
    queryFn: async ({ signal }) => {
      const start = performance.now();
      const summary = await api.get('/v1/jobs/{id}/summary', { params: { id }, signal });
      if (tookMs.size > 100) tookMs.clear();
      tookMs.set(id, performance.now() - start);
      return summary;
    },
    refetchInterval: isLive ? () => Math.max(LEAST_PAUSE_MS, (tookMs.get(id) ?? 0) * PAUSE_FACTOR) : false,
    staleTime: isLive ? LEAST_PAUSE_MS : 60_000,
  });

export const exportsQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['exports', 'job', jobId],
    queryFn: ({ signal }) =>
      api.get('/v1/jobs/{id}/exports', { params: { id: jobId }, query: { limit: 100 }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ status }) => status === 'pending' || status === 'running') ? 1_000 : false,
  });

/** Jobs that start on the same host, to compare with. */
export const siblingsQuery = (host: string) =>
  queryOptions({
    queryKey: ['jobs', 'siblings', host],
    queryFn: ({ signal }) =>
      api.get('/v1/jobs', { query: { ...(host && { domain: host }), limit: 100 }, signal }),
    staleTime: 30_000,
  });
