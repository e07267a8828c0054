import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../../api/api-error.ts';
import { api } from '../../../api/client.ts';
import type { Attempt, Data, Page, Scrape } from '../../../api/types.ts';

export type { Attempt };

/** A page that was fetched, and how. */
export interface Run {
  readonly jobId: string;
  readonly page: Page;
  readonly attempts: readonly Attempt[];
  readonly credits: number;
  /** When the server learned of the URL; null for a result that is shown again from the store. */
  readonly totalMs: number | null;
}

export const runOfScrape = (scrape: Scrape): Run => ({
  jobId: scrape.id,
  page: scrape,
  attempts: scrape.trace.attempts,
  credits: scrape.trace.credits,
  totalMs: scrape.trace.timings.totalMs,
});

const MICRO = 1_000_000;

/** The result of a job that has run before, for an address that names it. */
export const storedRunQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['playground', 'run', jobId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Run> => {
      const { items } = await api.get('/v1/jobs/{id}/results', {
        params: { id: jobId },
        query: { limit: 1 },
        signal,
      });
      const page = items[0];
      if (page === undefined) {
        throw new ApiError({
          status: 404,
          code: 'NOT_FOUND',
          message: 'This job has no page: it failed before one arrived, or its pages have expired.',
        });
      }
      const why = await api.get('/v1/jobs/{id}/why', {
        params: { id: jobId },
        query: { url: page.url },
        signal,
      });
      const attempts = why.entry?.attempts ?? [];
      const micro = attempts.reduce((sum, attempt) => sum + (attempt.microcredits ?? 0), 0);
      return { jobId, page, attempts, credits: micro / MICRO, totalMs: null };
    },
  });

export const whyQuery = (jobId: string, url: string) =>
  queryOptions({
    queryKey: ['playground', 'why', jobId, url],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }): Promise<Data<'explainJobUrl'>> =>
      api.get('/v1/jobs/{id}/why', { params: { id: jobId }, query: { url }, signal }),
  });
