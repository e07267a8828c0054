import type { ContentHash } from '../../core/model/ids.ts';
import { blobsOfRecord } from '../../core/model/page-record.ts';
import type { ReferenceStore } from '../../core/ports/retention-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import { EXPIRED_COLUMNS, keptPartsOf, MAY_BE_RENDERED } from '../store-rows/expiry.ts';
import { cursorOf } from '../store-rows/rows.ts';
import { change, type Methods, read } from './methods.ts';
import { blobsOfSnapshot } from './snapshots.ts';
import { CLOCK, either, eitherText, oneOf, raw, sql } from './sql.ts';
import { all, changed, get, run, type Steps } from './steps.ts';

/** How many bytes a record has that may refer to blobs which have not expired; 0 for every other. */
const RECORD_BYTES = sql`CASE WHEN ${either(raw('min'), raw('least'))}(e.bodies, e.artifacts) > p.seq THEN 0
    WHEN ${eitherText(MAY_BE_RENDERED)} THEN octet_length(record) ELSE 0 END`;
/** Records may be large: so many bytes of them are in memory at once, and one record more. */
const RECORD_BYTES_AT_ONCE = 8_388_608;

interface PageRecordSize {
  readonly seq: number;
  readonly bytes: number;
  readonly kept: ReturnType<typeof keptPartsOf>;
}

export const referenceStore: Methods<ReferenceStore> = {
  listReferences: read(function* ({ cursor, limit }) {
    const [, ofSnapshots] = SNAPSHOT_CURSOR.exec(cursor ?? '') ?? [];
    if (ofSnapshots !== undefined) return yield* listSnapshotReferences(Number(ofSnapshots), limit);
    const rows = yield* all(
      sql`SELECT p.seq, content_hash, ${raw(EXPIRED_COLUMNS)}, ${RECORD_BYTES} AS record_bytes
        FROM pages p LEFT JOIN job_expiry e ON e.job_seq = p.job_seq
        WHERE p.seq > ${cursorOf(cursor, 0)} ORDER BY p.seq LIMIT ${limit}`,
    );
    const bodies = rows.flatMap((row) =>
      row.content_hash === null || !keptPartsOf(row).includes('bodies')
        ? []
        : [String(row.content_hash) as ContentHash],
    );
    const records = rows
      .map((row) => ({ seq: Number(row.seq), bytes: Number(row.record_bytes), kept: keptPartsOf(row) }))
      .filter(({ bytes }) => bytes > 0);
    const items = [...bodies, ...(yield* referencesOfRecords(records))];
    const last = rows.at(-1);
    if (rows.length >= limit && last !== undefined) return { items, nextCursor: String(last.seq) };
    const snapshot = yield* get(sql`SELECT 1 FROM snapshots LIMIT 1`);
    return { items, nextCursor: snapshot === undefined ? null : 's0' };
  }),

  leaseWork: change(
    (name, owner, leaseMs) =>
      changed(
        sql`INSERT INTO work_leases (name, owner, until) VALUES (${name}, ${owner}, ${CLOCK} + ${leaseMs})
          ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
          WHERE work_leases.owner = excluded.owner OR work_leases.until <= ${CLOCK}`,
      ),
    { isUnsynced: true },
  ),

  endWork: change(
    function* (name, owner) {
      yield* run(sql`DELETE FROM work_leases WHERE name = ${name} AND owner = ${owner}`);
    },
    { isUnsynced: true },
  ),
};

/** References come from pages first, then from snapshots: the cursor of the second part begins with a letter. */
const SNAPSHOT_CURSOR = /^s(\d{1,15})$/;

function* listSnapshotReferences(after: number, limit: number): Steps<ListPage<ContentHash>> {
  const rows = yield* all(
    sql`SELECT seq, content_hash, screenshot FROM snapshots WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`,
  );
  const last = rows.at(-1);
  return {
    items: rows.flatMap(blobsOfSnapshot),
    nextCursor: rows.length < limit || last === undefined ? null : `s${last.seq}`,
  };
}

/** What the records of these pages refer to; a page that was replaced meanwhile comes again later. */
function* referencesOfRecords(pages: readonly PageRecordSize[]): Steps<ContentHash[]> {
  const found: ContentHash[] = [];
  const keptOf = new Map(pages.map(({ seq, kept }) => [seq, kept]));
  for (let at = 0; at < pages.length; ) {
    const seqs: number[] = [];
    for (let bytes = 0; at < pages.length && bytes < RECORD_BYTES_AT_ONCE; at += 1) {
      seqs.push(pages[at]?.seq ?? 0);
      bytes += pages[at]?.bytes ?? 0;
    }
    for (const { seq, record } of yield* all(
      sql`SELECT seq, record FROM pages WHERE seq ${oneOf(seqs, 'bigint')}`,
    )) {
      if (record !== null) found.push(...blobsOfRecord(record as Uint8Array, keptOf.get(Number(seq)) ?? []));
    }
  }
  return found;
}
