import { type AuditEntry, NO_HASH } from '../../core/model/audit-chain.ts';
import type { AuditStore } from '../../core/ports/audit-store.ts';
import { auditOf, cursorOf, sliceOf } from '../store-rows/rows.ts';
import type { PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** Entries of one statement. It holds the head of the chain for as long as it takes. */
const MOST_ENTRIES = 500;

interface Batch {
  readonly entries: AuditEntry[];
  readonly written: Promise<void>;
}

/**
 * Appends are one statement each, under the lock of one row (`audit_head`). A process has one of them under way at a
 * time: entries that come meanwhile go together in the next one, so that a burst of entries takes neither the
 * connections that the crawl needs nor one turn at the lock for each.
 */
export function createPostgresAuditStore(database: PostgresDatabase): AuditStore {
  let last: Promise<unknown> = Promise.resolve();
  let next: Batch | null = null;

  function openBatch(): Batch {
    const entries: AuditEntry[] = [];
    const written = last.then(async () => {
      if (next?.entries === entries) next = null;
      await database.query('SELECT append_audit($1)', [jsonParameter(entries.map(asRow))]);
    });
    last = written.catch(() => undefined);
    return { entries, written };
  }

  return {
    async audit(entries) {
      const written: Promise<void>[] = [];
      for (const entry of entries) {
        if (next === null || next.entries.length >= MOST_ENTRIES) next = openBatch();
        next.entries.push(entry);
        if (written.at(-1) !== next.written) written.push(next.written);
      }
      await Promise.all(written);
    },

    async listAudit({ action, actor, target, since, until, order = 'newest', cursor, limit }) {
      const [compare, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC'];
      const rows = await database.query(
        `SELECT * FROM audit_log
         WHERE ($1::text IS NULL OR action = $1) AND ($2::text IS NULL OR actor = $2)
           AND ($3::text IS NULL OR target = $3) AND ($4::bigint IS NULL OR at >= $4)
           AND ($5::bigint IS NULL OR at < $5) AND seq ${compare} $6
         ORDER BY seq ${direction} LIMIT $7`,
        [
          action ?? null,
          actor ?? null,
          target ?? null,
          since ?? null,
          until ?? null,
          cursorOf(cursor, order === 'newest' ? Number.MAX_SAFE_INTEGER : 0),
          limit + 1,
        ],
      );
      return sliceOf(rows, limit, 'seq', auditOf);
    },

    async auditHead() {
      const [row] = await database.query('SELECT seq, hash FROM audit_head');
      return row === undefined ? { seq: 0, hash: NO_HASH } : { seq: Number(row.seq), hash: String(row.hash) };
    },
  };
}

/** Details as text: it is hashed as it stands, and a JSON column would write it otherwise. */
const asRow = ({ details, ...entry }: AuditEntry) => ({ ...entry, details: jsonParameter(details) });
