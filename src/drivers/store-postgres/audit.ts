import type { AuditEntry, AuditStore } from '../../core/ports/audit-store.ts';
import { auditViewStore } from '../store-sql/audit-views.ts';
import type { PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';
import { postgresMethods } from './sql-methods.ts';

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
    ...postgresMethods(auditViewStore, database),

    async audit(entries) {
      const written: Promise<void>[] = [];
      for (const entry of entries) {
        if (next === null || next.entries.length >= MOST_ENTRIES) next = openBatch();
        next.entries.push(entry);
        if (written.at(-1) !== next.written) written.push(next.written);
      }
      await Promise.all(written);
    },
  };
}

/** Details as text: it is hashed as it stands, and a JSON column would write it otherwise. */
const asRow = ({ details, ...entry }: AuditEntry) => ({ ...entry, details: jsonParameter(details) });
