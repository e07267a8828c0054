import { z } from 'zod';
import type { ListPage } from '../../core/ports/store.ts';
import { urlPart } from '../../lib/url-part.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';

/** Which list a cursor belongs to: a cursor of another list is refused rather than misread. */
export type ListName =
  | 'jobs'
  | 'results'
  | 'errors'
  | 'urls'
  | 'rows'
  | 'tree'
  | 'log'
  | 'notifications'
  | 'domains'
  | 'owner-requests'
  | 'sessions'
  | 'credentials'
  | 'audit'
  | 'webhooks'
  | 'deliveries'
  | 'accounts'
  | 'schedules'
  | 'monitors'
  | 'monitor-changes'
  | 'runs'
  | 'credit-entries'
  | 'changes'
  | 'usage'
  | 'exports'
  | 'snapshots'
  | 'sightings'
  | 'search';

/** Where a resource itself can be asked for. */
export const selfSchema = z.object({ self: z.string() }).meta({ id: 'SelfLink' });

/** `links` of the resource with these parts in its path. */
export const selfLinks = (...parts: readonly string[]) => ({
  self: `/v1/${parts.map(urlPart).join('/')}`,
});

export const pagingFields = {
  cursor: z.string().max(512).optional().describe('`nextCursor` of the page before.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Items per page at most.'),
};

export function wrapCursor(list: ListName, cursor: string): string {
  return Buffer.from(`${list}:${cursor}`).toString('base64url');
}

/** The store's own cursor. Throws VALIDATION_FAILED for what this list did not give out. */
export function unwrapCursor(list: ListName, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const inner = text.slice(list.length + 1);
  if (inner === '' || wrapCursor(list, inner) !== cursor) throw foreignCursor();
  return inner;
}

/** For a cursor that this list did not give out. */
export const foreignCursor = () =>
  invalidRequest([{ field: 'cursor', message: 'Not a cursor of this list.' }]);

export interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export function listAnswer<S, T>(list: ListName, slice: ListPage<S>, view: (item: S) => T): ListAnswer<T> {
  return {
    items: slice.items.map(view),
    nextCursor: slice.nextCursor === null ? null : wrapCursor(list, slice.nextCursor),
  };
}

export const listSchema = (item: z.ZodType) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('Where the next page begins; null at the end.'),
  });
