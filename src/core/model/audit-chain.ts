import { hash } from 'node:crypto';
import type { AuditAction } from './audit-actions.ts';

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
