import { type AuditHead, auditHash, NO_HASH } from '../../core/model/audit-chain.ts';
import type { AuditStore } from '../../core/ports/audit-store.ts';
import { auditOf, cursorOf, sliceOf } from '../store-rows/rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

const SELECTED = `FROM audit_log
  WHERE action = coalesce(?, action) AND actor = coalesce(?, actor) AND target = coalesce(?, target)
    AND at >= coalesce(?, at) AND at < coalesce(?, at + 1)`;

export function createSqliteAuditStore(database: SqliteDatabase): Synchronous<AuditStore> {
  function auditHead(): AuditHead {
    const row = database.get('SELECT seq, hash FROM audit_head');
    return row === undefined ? { seq: 0, hash: NO_HASH } : { seq: Number(row.seq), hash: String(row.hash) };
  }

  return {
    audit(entries) {
      if (entries.length === 0) return;
      let head = auditHead();
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

    listAudit({ action, actor, target, since, until, order = 'newest', cursor, limit }) {
      const conditions = [action, actor, target, since, until].map((each) => each ?? null);
      const rows = database.all(
        order === 'newest'
          ? `SELECT * ${SELECTED} AND seq < ? ORDER BY seq DESC LIMIT ?`
          : `SELECT * ${SELECTED} AND seq > ? ORDER BY seq LIMIT ?`,
        ...conditions,
        cursorOf(cursor, order === 'newest' ? Number.MAX_SAFE_INTEGER : 0),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', auditOf);
    },

    auditHead,
  };
}

/** The text must be read back as it was hashed, and SQLite ends some texts at U+0000. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
