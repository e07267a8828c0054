import type { AuditEntry, AuditHead, AuditRecord } from '../model/audit-chain.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: the audit log. Entries are only ever added. No method changes or deletes one, and the database
 * itself refuses both. Each entry has the hash of the one before (`auditHash`), so that an entry that was changed, taken
 * out or put in between is noticed when the hashes are recomputed.
 */
export interface AuditStore {
  /**
   * Adds entries in this order. However many processes write at once, there is one chain: numbers without gaps, and no
   * two entries after the same one. Writers wait for each other and for nothing else; in particular, no writer of the
   * crawl waits for them. U+0000 and halves of surrogate pairs become replacement characters.
   */
  audit(entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first, unless `order` says otherwise. */
  listAudit(query: AuditQuery): Promise<ListPage<AuditRecord>>;
  /** The last entry as the store remembers it apart from the log, so that entries missing at the end are noticed. */
  auditHead(): Promise<AuditHead>;
}

/** Conditions that are left out select nothing away. */
export interface AuditQuery {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  /** Entries of this time or later. */
  readonly since?: number | undefined;
  /** Entries before this time. */
  readonly until?: number | undefined;
  readonly order?: 'newest' | 'oldest' | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

const PAGE_SIZE = 500;

/** Every entry that the query selects, oldest first, read page by page. */
export async function* eachAudit(
  store: Pick<AuditStore, 'listAudit'>,
  query: Omit<AuditQuery, 'order' | 'cursor' | 'limit'> = {},
): AsyncGenerator<AuditRecord> {
  let cursor: string | undefined;
  do {
    const slice = await store.listAudit({ ...query, order: 'oldest', cursor, limit: PAGE_SIZE });
    yield* slice.items;
    cursor = slice.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
