import type { ContentHash } from '../../core/model/ids.ts';
import { blobsOfRecord } from '../../core/model/page-record.ts';
import type { ReferenceStore } from '../../core/ports/retention-store.ts';
import { EXPIRED_COLUMNS, keptPartsOf } from '../store-rows/expiry.ts';
import { cursorOf } from '../store-rows/rows.ts';
import { blobsOfSnapshot, SNAPSHOT_CURSOR } from '../store-rows/snapshot-rows.ts';
import { MAY_BE_RENDERED } from '../store-sql/page-conditions.ts';
import type { PostgresDatabase } from './database.ts';

const RECORD_BYTES = `CASE WHEN least(e.bodies, e.artifacts) > p.seq THEN 0 WHEN ${MAY_BE_RENDERED.postgres}
    THEN octet_length(record) ELSE 0 END`;
const RECORD_BYTES_AT_ONCE = 8_388_608;

interface PageRecordSize {
  readonly seq: number;
  readonly bytes: number;
  readonly kept: ReturnType<typeof keptPartsOf>;
}

export function createPostgresReferenceStore(
  database: Pick<PostgresDatabase, 'query'>,
): Pick<ReferenceStore, 'listReferences'> {
  /** What the records of these pages refer to; a page that was replaced meanwhile comes again later. */
  async function ofRecords(pages: readonly PageRecordSize[]): Promise<ContentHash[]> {
    const found: ContentHash[] = [];
    const keptOf = new Map(pages.map(({ seq, kept }) => [seq, kept]));
    for (let at = 0; at < pages.length; ) {
      const seqs: number[] = [];
      for (let bytes = 0; at < pages.length && bytes < RECORD_BYTES_AT_ONCE; at += 1) {
        seqs.push(pages[at]?.seq ?? 0);
        bytes += pages[at]?.bytes ?? 0;
      }
      const rows = await database.query('SELECT seq, record FROM pages WHERE seq = ANY ($1::bigint[])', [
        seqs,
      ]);
      for (const { seq, record } of rows) {
        if (record !== null)
          found.push(...blobsOfRecord(record as Uint8Array, keptOf.get(Number(seq)) ?? []));
      }
    }
    return found;
  }

  async function snapshotReferences(after: number, limit: number) {
    const rows = await database.query(
      'SELECT seq, content_hash, screenshot FROM snapshots WHERE seq > $1 ORDER BY seq LIMIT $2',
      [after, limit],
    );
    const last = rows.at(-1);
    return {
      items: rows.flatMap(blobsOfSnapshot),
      nextCursor: rows.length < limit || last === undefined ? null : `s${last.seq}`,
    };
  }

  return {
    async listReferences({ cursor, limit }) {
      const [, ofSnapshots] = SNAPSHOT_CURSOR.exec(cursor ?? '') ?? [];
      if (ofSnapshots !== undefined) return snapshotReferences(Number(ofSnapshots), limit);
      const rows = await database.query(
        `SELECT p.seq, content_hash, ${EXPIRED_COLUMNS}, ${RECORD_BYTES} AS record_bytes
         FROM pages p LEFT JOIN job_expiry e ON e.job_seq = p.job_seq WHERE p.seq > $1 ORDER BY p.seq LIMIT $2`,
        [cursorOf(cursor, 0), limit],
      );
      const bodies = rows.flatMap((row) =>
        row.content_hash === null || !keptPartsOf(row).includes('bodies')
          ? []
          : [String(row.content_hash) as ContentHash],
      );
      const records = rows
        .map((row) => ({ seq: Number(row.seq), bytes: Number(row.record_bytes), kept: keptPartsOf(row) }))
        .filter(({ bytes }) => bytes > 0);
      const items = [...bodies, ...(await ofRecords(records))];
      const last = rows.at(-1);
      if (rows.length >= limit && last !== undefined) return { items, nextCursor: String(last.seq) };
      const hasSnapshots = (await database.query('SELECT 1 FROM snapshots LIMIT 1')).length > 0;
      return { items, nextCursor: hasSnapshots ? 's0' : null };
    },
  };
}
