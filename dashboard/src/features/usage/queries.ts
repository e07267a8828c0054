import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';

export type UsageRow = Item<'listUsage'>;
export const GROUPS = ['engine', 'host', 'key', 'job'] as const;
export type Group = (typeof GROUPS)[number];
export const DAYS = [7, 30, 90, 365] as const;

const DAY_MS = 86_400_000;

/** The first day of a time of so many days that ends today, as `2026-11-18`. */
export const firstDay = (days: number): string =>
  new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);

export const usageQuery = (by: 'day' | Group, days: number) =>
  queryOptions({
    queryKey: ['usage', by, days],
    queryFn: ({ signal }) =>
      api.get('/v1/usage', { query: { by, from: firstDay(days), limit: by === 'day' ? 366 : 100 }, signal }),
    refetchInterval: 60_000,
  });

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => api.get('/v1/account', { signal }),
});

/** One value for each day, zero where nothing was used. */
export function eachDay(rows: readonly UsageRow[], days: number, pick: (row: UsageRow) => number) {
  const byDay = new Map(rows.map((row) => [row.value.slice(0, 10), pick(row)]));
  const start = Date.parse(`${firstDay(days)}T00:00:00Z`);
  const x = Array.from({ length: days }, (_, index) => (start + index * DAY_MS) / 1000);
  return { x, values: x.map((second) => byDay.get(new Date(second * 1000).toISOString().slice(0, 10)) ?? 0) };
}
