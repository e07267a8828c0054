import type { ContentHash } from '../../core/model/ids.ts';
import { blobsOfRecord } from '../../core/model/page-record.ts';
import type { ReferenceStore } from '../../core/ports/retention-store.ts';
import { EXPIRED_COLUMNS, keptPartsOf } from '../store-rows/expiry.ts';
import { cursorOf } from '../store-rows/rows.ts';
import { blobsOfSnapshot, SNAPSHOT_CURSOR } from '../store-rows/snapshot-rows.ts';
import { MAY_BE_RENDERED } from '../store-sql/page-conditions.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

const RENDERED_RECORD = `CASE WHEN ${MAY_BE_RENDERED.sqlite} THEN record END`;

export function createSqliteReferenceStore(
  database: SqliteDatabase,
): Synchronous<Pick<ReferenceStore, 'listReferences'>> {
  function snapshotReferences(after: number, limit: number) {
    const rows = database.all(
      'SELECT seq, content_hash, screenshot FROM snapshots WHERE seq > ? ORDER BY seq LIMIT ?',
      after,
      limit,
    );
    const last = rows.at(-1);
    return {
      items: rows.flatMap(blobsOfSnapshot),
      nextCursor: rows.length < limit || last === undefined ? null : `s${last.seq}`,
    };
  }

  return {
    listReferences({ cursor, limit }) {
      const [, ofSnapshots] = SNAPSHOT_CURSOR.exec(cursor ?? '') ?? [];
      if (ofSnapshots !== undefined) return snapshotReferences(Number(ofSnapshots), limit);
      const items: ContentHash[] = [];
      let last = cursorOf(cursor, 0);
      let looked = 0;
      // Pages are read one by one: records may be large, and only one is held at a time.
      for (; looked < limit; looked += 1) {
        const row = database.get(
          `SELECT p.seq, content_hash, ${EXPIRED_COLUMNS},
             CASE WHEN min(e.bodies, e.artifacts) > p.seq THEN NULL ELSE ${RENDERED_RECORD} END AS record
           FROM pages p LEFT JOIN job_expiry e ON e.job_seq = p.job_seq WHERE p.seq > ? ORDER BY p.seq LIMIT 1`,
          last,
        );
        if (row === undefined) {
          const hasSnapshots = database.get('SELECT 1 FROM snapshots LIMIT 1') !== undefined;
          return { items, nextCursor: hasSnapshots ? 's0' : null };
        }
        last = Number(row.seq);
        const kept = keptPartsOf(row);
        if (row.content_hash !== null && kept.includes('bodies')) {
          items.push(String(row.content_hash) as ContentHash);
        }
        if (row.record !== null) items.push(...blobsOfRecord(row.record as Uint8Array, kept));
      }
      return { items, nextCursor: String(last) };
    },
  };
}
