import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { TASK_STATES } from '../../api/choices.ts';
import type { QueryAt } from '../../api/types.ts';

type RowsQuery = QueryAt<'/v1/jobs/{id}/rows', 'get'>;
export type RowOrder = NonNullable<RowsQuery['sort']>;
/** What the list is narrowed to; the names are those of the API. */
export type RowFilter = Pick<
  RowsQuery,
  'kind' | 'state' | 'text' | 'reason' | 'engine' | 'contentType' | 'statusClass' | 'host' | 'depth'
>;

/** Filter and order of a list of URLs, as they stand in the address. */
export interface RowSearch {
  readonly filter: RowFilter;
  readonly sort: RowOrder;
  readonly order: 'asc' | 'desc';
}

export const STATES = TASK_STATES;
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', '1xx', 'none'] as const;
export const KINDS = ['page', 'sitemap', 'site', 'any'] as const;
const ORDERS: readonly RowOrder[] = [
  'discoveredAt',
  'url',
  'title',
  'statusCode',
  'finishedAt',
  'bytes',
  'durationMs',
  'depth',
];

const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((each) => each === value);

/** The address may hold `q=404`, which the router reads as a number. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value) || undefined
    : undefined;

const depthOf = (value: unknown): number | undefined => {
  const depth = value === undefined || value === '' ? Number.NaN : Number(value);
  return Number.isInteger(depth) && depth >= 0 ? depth : undefined;
};

type Raw = Readonly<Record<string, unknown>>;

/** What of an address is no filter is left out, so a wrong one shows the whole list and not a failure. */
export function readRowSearch(raw: Raw): RowSearch {
  const found = {
    kind: oneOf(KINDS, raw.kind),
    state: oneOf(STATES, raw.state),
    text: textOf(raw.q)?.slice(0, 500),
    reason: textOf(raw.reason)?.slice(0, 500),
    engine: textOf(raw.engine)?.slice(0, 100),
    contentType: textOf(raw.type)?.slice(0, 200),
    statusClass: oneOf(STATUS_CLASSES, raw.status),
    host: textOf(raw.host)?.slice(0, 300),
    depth: depthOf(raw.depth),
  };
  const filter = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return {
    filter,
    sort: oneOf(ORDERS, raw.sort) ?? 'discoveredAt',
    order: raw.order === 'desc' ? 'desc' : 'asc',
  };
}

/** The same as parameters of an address; what is the default is left out. */
export const rowParams = ({ filter, sort, order }: RowSearch): Record<string, unknown> => ({
  kind: filter.kind,
  state: filter.state,
  q: filter.text,
  reason: filter.reason,
  engine: filter.engine,
  type: filter.contentType,
  status: filter.statusClass,
  host: filter.host,
  depth: filter.depth,
  sort: sort === 'discoveredAt' ? undefined : sort,
  order: order === 'asc' ? undefined : order,
});

/** All parameters of the address, whichever page shows the component, and a way to change some of them. */
export function useAddress(): [Raw, (patch: Raw, isStep?: boolean) => void] {
  const raw = useSearch({ strict: false }) as Raw;
  const navigate = useNavigate();
  const change = useCallback(
    (patch: Raw, isStep = false) =>
      void navigate({
        to: '.',
        search: ((old: Raw) => ({ ...old, ...patch })) as never,
        replace: !isStep,
        resetScroll: false,
      }),
    [navigate],
  );
  return [raw, change];
}

export function useRowSearch(): [RowSearch, (next: RowSearch) => void] {
  const [raw, change] = useAddress();
  // The same filter keeps its identity, whatever else of the address changes.
  const key = JSON.stringify(readRowSearch(raw));
  const search = useMemo(() => JSON.parse(key) as RowSearch, [key]);
  return [search, useCallback((next: RowSearch) => change(rowParams(next)), [change])];
}
