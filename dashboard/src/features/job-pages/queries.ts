import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.ts';
import { api, type ListPage } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import type { BlockAsk } from '../../kit/block-source.ts';
import { collectRows } from '../../kit/row-chain.ts';
import type { RowFilter, RowSearch } from './row-search.ts';

export type JobRow = Item<'listJobRows'>;
export type Snapshot = Item<'listPageHistory'>;

/** A family of its own: progress of any job invalidates `jobs`, and these answers are about one job and cost more. */
export const keyOf = (jobId: string, ...rest: readonly unknown[]) => ['job-pages', jobId, ...rest] as const;

export const jobQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['jobs', jobId, 'head'],
    queryFn: ({ signal }) => api.get('/v1/jobs/{id}', { params: { id: jobId }, signal }),
  });

export const loadRows =
  (jobId: string, { filter, sort, order }: RowSearch) =>
  ({ cursor, limit, isReversed, signal }: BlockAsk): Promise<ListPage<JobRow>> => {
    const opposite = order === 'asc' ? 'desc' : 'asc';
    const query = { ...filter, sort, order: isReversed ? opposite : order, limit, ...(cursor && { cursor }) };
    return api.get('/v1/jobs/{id}/rows', { params: { id: jobId }, query, signal });
  };

/** Orders in which every row has a value: these read the same from both ends. */
export const canReverse = ({ sort }: RowSearch): boolean =>
  sort === 'discoveredAt' || sort === 'url' || sort === 'depth';

/** Counting a job of a million URLs takes the server seconds, so a summary is kept longer than other answers. */
export const summaryQuery = (jobId: string, filter: RowFilter) =>
  queryOptions({
    queryKey: keyOf(jobId, 'summary', filter),
    queryFn: ({ signal }) =>
      api.get('/v1/jobs/{id}/summary', { params: { id: jobId }, query: filter, signal }),
    staleTime: 15_000,
    placeholderData: (before) => before,
  });

export const whyQuery = (jobId: string, url: string) =>
  queryOptions({
    queryKey: keyOf(jobId, 'why', url),
    queryFn: ({ signal }) => api.get('/v1/jobs/{id}/why', { params: { id: jobId }, query: { url }, signal }),
    retry: false,
  });

/** The stored page of a URL; null when the job stored none. */
export const resultQuery = (jobId: string, url: string) =>
  queryOptions({
    queryKey: keyOf(jobId, 'result', url),
    queryFn: async ({ signal }) => {
      const found = await api.get('/v1/jobs/{id}/results', { params: { id: jobId }, query: { url }, signal });
      return found.items[0] ?? null;
    },
  });

/** The row of a URL, found by its text; null when the job does not have it. */
export const rowQuery = (jobId: string, url: string) =>
  queryOptions({
    queryKey: keyOf(jobId, 'row', url),
    queryFn: async ({ signal }): Promise<JobRow | null> => {
      const search: RowSearch = {
        filter: { kind: 'any', text: url.slice(0, 500) },
        sort: 'discoveredAt',
        order: 'asc',
      };
      const load = loadRows(jobId, search);
      let cursor: string | undefined;
      for (;;) {
        const { items, nextCursor } = await load({ cursor, limit: 100, isReversed: false, signal });
        const row = items.find((each) => each.url === url);
        if (row !== undefined || nextCursor === null) return row ?? null;
        cursor = nextCursor;
      }
    },
  });

const NEIGHBOUR_ROWS = 200;

/** Rows of a list from a place on, to step from one to the next. */
export const neighboursQuery = (jobId: string, search: RowSearch, cursor: string | undefined) =>
  queryOptions({
    queryKey: keyOf(jobId, 'neighbours', search, cursor),
    queryFn: ({ signal }) => {
      const load = loadRows(jobId, search);
      return collectRows((ask) => load({ ...ask, isReversed: false }), cursor, NEIGHBOUR_ROWS, signal);
    },
    staleTime: 60_000,
  });

/** Versions of a page over all jobs that keep snapshots; the one that was seen last first. */
export const versionsQuery = (url: string) =>
  queryOptions({
    queryKey: ['pages', 'versions', url],
    queryFn: ({ signal }) => api.get('/v1/pages', { query: { url, limit: 100 }, signal }),
  });

export type DiffMode = 'text' | 'fields' | 'visual';

/** How two versions differ; null when they have nothing to compare in this way. */
export const diffQuery = (before: string, after: string, mode: DiffMode) =>
  queryOptions({
    queryKey: ['pages', 'diff', before, after, mode],
    queryFn: async ({ signal }) => {
      try {
        const params = { id: before, other: after };
        return await api.get('/v1/snapshots/{id}/diff/{other}', { params, query: { mode }, signal });
      } catch (cause) {
        if (cause instanceof ApiError && cause.code === 'UNSUPPORTED_OPTION') return null;
        throw cause;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
