import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';

export type Key = Item<'listKeys'>;
export type Scope = Key['scopes'][number];

export const keysQuery = (account?: string) =>
  queryOptions({
    queryKey: ['keys', account ?? null],
    queryFn: ({ signal }) =>
      api.get('/v1/keys', { query: { ...(account !== undefined && { account }) }, signal }),
  });

/** What each scope allows, in the order in which they are offered. */
export const SCOPES: readonly (readonly [Scope, string])[] = [
  ['scrape', 'Fetch pages and start jobs'],
  ['jobs:read', 'Read jobs, pages, snapshots and search'],
  ['jobs:write', 'Cancel, resume, retry and delete jobs'],
  ['exports', 'Create and download exports'],
  ['schedules', 'Schedules and monitors'],
  ['webhooks', 'Webhooks and their deliveries'],
  ['credentials:read', 'See names of credentials and sessions'],
  ['credentials', 'Store credentials and log in'],
  ['admin', 'Everything, for all accounts'],
];
