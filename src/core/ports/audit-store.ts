import { hash } from 'node:crypto';
import type { AuditAction } from '../model/audit-actions.ts';
import type { ListPage } from './store.ts';

/** One thing that happened, as the program reports it. */
export interface AuditEntry {
  readonly at: number;
  /** The id of an API key, an address, an account, or `command line`. */
  readonly actor: string;
  readonly action: AuditAction;
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An entry in its place in the log. */
export interface AuditRecord extends Omit<AuditEntry, 'action'> {
  /** An action of `AUDIT_ACTIONS`, or an action of an earlier version. */
  readonly action: string;
  /** 1 for the first entry; no number is left out. */
  readonly seq: number;
  /** The hash of the entry before; of the first entry, `NO_HASH`. */
  readonly previousHash: string;
  readonly hash: string;
}

/** The last entry: number and hash. An empty log has 0 and `NO_HASH`. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

export const NO_HASH = '0'.repeat(64);

const digest = (text: string): string => hash('sha256', text, 'hex');

/**
 * The hash of an entry: SHA-256 in hex of seven lines, which are the hash of the entry before, number, time, and the
 * SHA-256 of actor, action, target and details. Texts are hashed one by one so that no text can be moved from one field
 * into another. PostgreSQL computes the same in `append_audit`.
 */
export function auditHash(
  previousHash: string,
  seq: number,
  entry: Omit<AuditRecord, 'details' | 'seq' | 'previousHash' | 'hash'>,
  detailsJson: string,
): string {
  const texts = [entry.actor, entry.action, entry.target, detailsJson].map(digest);
  return digest([previousHash, seq, entry.at, ...texts].join('\n'));
}

export interface AuditVerdict {
  /** Entries that were looked at. */
  readonly count: number;
  /** The last entry that follows from the ones before. */
  readonly head: AuditHead;
  /** The first thing that is wrong; null when nothing is. */
  readonly fault: { readonly seq: number; readonly reason: string } | null;
}

/**
 * Recomputes the chain, from the first entry on. `expected` are heads that were read earlier or kept elsewhere: the log
 * must have each of these entries. Stops at the first fault.
 */
export async function verifyAudit(
  records: AsyncIterable<AuditRecord>,
  expected: readonly AuditHead[] = [],
): Promise<AuditVerdict> {
  let head: AuditHead = { seq: 0, hash: NO_HASH };
  const waiting = new Map(expected.filter(({ seq }) => seq > 0).map((each) => [each.seq, each.hash]));
  const verdict = (seq: number, reason: string): AuditVerdict => ({
    count: head.seq,
    head,
    fault: { seq, reason },
  });
  for await (const record of records) {
    const { seq, previousHash } = record;
    if (seq !== head.seq + 1) return verdict(head.seq + 1, 'the entry is missing');
    if (previousHash !== head.hash) return verdict(seq, 'the entry does not follow the one before');
    if (record.hash !== auditHash(previousHash, seq, record, JSON.stringify(record.details))) {
      return verdict(seq, 'the entry was changed');
    }
    head = { seq, hash: record.hash };
    const wanted = waiting.get(seq);
    if (wanted !== undefined && wanted !== record.hash) {
      return verdict(seq, 'another entry was expected here');
    }
    waiting.delete(seq);
  }
  const [lost] = [...waiting.keys()].sort((a, b) => a - b);
  if (lost !== undefined) return verdict(lost, 'the entry is missing at the end of the log');
  return { count: head.seq, head, fault: null };
}

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
