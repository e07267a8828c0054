import { type AuditStore, auditHash } from '../../core/ports/audit-store.ts';
import { auditViewStore } from '../store-sql/audit-views.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './sql-methods.ts';
import { sqliteMethods } from './sql-methods.ts';

export function createSqliteAuditStore(database: SqliteDatabase): Synchronous<AuditStore> {
  const views = sqliteMethods(auditViewStore, database, () => 0);

  return {
    ...views,

    audit(entries) {
      if (entries.length === 0) return;
      let head = views.auditHead();
      for (const { details, ...given } of entries) {
        const entry = {
          at: given.at,
          actor: storable(given.actor),
          action: storable(given.action),
          target: storable(given.target),
        };
        const detailsJson = JSON.stringify(details);
        const seq = head.seq + 1;
        const hash = auditHash(head.hash, seq, entry, detailsJson);
        database.run(
          `INSERT INTO audit_log (seq, at, actor, action, target, details, previous_hash, hash)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          seq,
          entry.at,
          entry.actor,
          entry.action,
          entry.target,
          detailsJson,
          head.hash,
          hash,
        );
        head = { seq, hash };
      }
      database.run('UPDATE audit_head SET seq = ?, hash = ?', head.seq, head.hash);
    },
  };
}

/** The text must be read back as it was hashed, and SQLite ends some texts at U+0000. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
