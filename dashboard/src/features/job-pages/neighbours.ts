import { skipToken, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { type JobRow, neighboursQuery } from './queries.ts';
import { rowParams, useRowSearch } from './row-search.ts';

const route = getRouteApi('/signed-in/jobs/$id/url');

/**
 * Steps to the page before and behind this one, in the list from which it was opened. The address holds where that list
 * begins, so the steps work for everybody who has the address. Null where the list ends, or without a list.
 */
export function useNeighbours(jobId: string): {
  readonly previous: (() => void) | null;
  readonly next: (() => void) | null;
} {
  const { u: url, at, n: place } = route.useSearch();
  const [search] = useRowSearch();
  const navigate = route.useNavigate();
  const options = neighboursQuery(jobId, search, at);
  const first = useQuery({ ...options, enabled: place !== undefined });
  const cursor = first.data?.nextCursor ?? null;
  const second = useQuery({
    ...neighboursQuery(jobId, search, cursor ?? undefined),
    ...((cursor === null || place === undefined || place + 1 < (first.data?.items.length ?? 0)) && {
      queryFn: skipToken,
    }),
  });

  const go = useCallback(
    (row: JobRow, to: { readonly at: string | undefined; readonly n: number }) =>
      void navigate({
        search: (old) =>
          ({ ...rowParams(search), view: old.view, u: row.url, p: Number(row.page), ...to }) as never,
        replace: true,
        resetScroll: false,
      }),
    [navigate, search],
  );
  const size = first.data?.items.length ?? 0;
  const rowAt = (index: number): JobRow | undefined =>
    index < size ? first.data?.items[index] : second.data?.items[index - size];
  // The list may have changed meanwhile: steps are for the place where this page stands.
  if (place === undefined || rowAt(place)?.url !== url) return { previous: null, next: null };
  const before = place > 0 ? rowAt(place - 1) : undefined;
  const after = rowAt(place + 1);
  // Far enough into the second part, the list begins there, so that it can be followed for ever.
  const isFar = cursor !== null && place + 1 >= size + size / 2;
  return {
    previous: before === undefined ? null : () => go(before, { at, n: place - 1 }),
    next:
      after === undefined
        ? null
        : () => go(after, isFar ? { at: cursor, n: place + 1 - size } : { at, n: place + 1 }),
  };
}
