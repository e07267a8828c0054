import type { SnapshotStore } from '../../core/ports/snapshot-store.ts';
import { cursorOf } from '../store-rows/rows.ts';
import {
  LISTED_CURSOR,
  SIGHTED_PAGE_COLUMNS,
  SIGHTING_COLUMNS,
  sightedPageOf,
  sightingOf,
  snapshotCursorOf,
  snapshotOf,
} from '../store-rows/snapshot-rows.ts';
import { type Methods, read, transaction } from './methods.ts';
import { either, oneOf, raw, sql } from './sql.ts';
import { all, find, list, one, run, slice } from './steps.ts';

/** What runs beside a crawl for each of its pages is tuned for each database. */
export type SharedSnapshotStore = Omit<
  SnapshotStore,
  'listSnapshotRecords' | 'findContents' | 'addSightings'
>;

const LAST_OUTCOME = either(sql`json_extract(t.trace, '$[#-1].outcome')`, sql`t.trace -> -1 ->> 'outcome'`);

export const snapshotStore: Methods<SharedSnapshotStore> = {
  listSightedPages: read((jobId, pageSeqs) =>
    list(
      sql`SELECT ${raw(SIGHTED_PAGE_COLUMNS)}, ${LAST_OUTCOME} AS outcome
        FROM pages p JOIN tasks t ON t.id = p.task_id LEFT JOIN job_expiry e ON e.job_seq = p.job_seq
        WHERE p.seq ${oneOf(pageSeqs, 'bigint')} AND p.job_seq = (SELECT seq FROM jobs WHERE id = ${jobId})
          AND t.kind = 'page' AND coalesce(e.bodies, 0) <= p.seq ORDER BY p.seq`,
      sightedPageOf,
    ),
  ),

  getSnapshot: read((account, id) =>
    find(sql`SELECT * FROM snapshots WHERE account_id = ${account} AND id = ${id}`, snapshotOf),
  ),

  listSnapshots: read(({ accountId, urlKey, hasPrivate, cursor, limit }) => {
    const [lastSeenAt, seq] = snapshotCursorOf(cursor);
    return slice(
      sql`SELECT *, ${raw(LISTED_CURSOR)} FROM snapshots
        WHERE account_id = ${accountId} AND url_key = ${urlKey} AND is_private <= ${hasPrivate ? 1 : 0}
          AND (last_seen_at, seq) < (${lastSeenAt}, ${seq})
        ORDER BY last_seen_at DESC, seq DESC LIMIT ${limit + 1}`,
      limit,
      snapshotOf,
      'list_cursor',
    );
  }),

  listSightings: read(({ accountId, hasPrivate, cursor, limit, ...which }) => {
    const place =
      'jobId' in which
        ? sql`g.job_id = ${which.jobId} AND g.seq > ${cursorOf(cursor, 0)}`
        : sql`g.url_key = ${which.urlKey} AND g.seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}`;
    return slice(
      sql`SELECT ${raw(SIGHTING_COLUMNS)} FROM page_sightings g JOIN snapshots s ON s.seq = g.snapshot_seq
        WHERE g.account_id = ${accountId} AND ${place} AND s.is_private <= ${hasPrivate ? 1 : 0}
        ORDER BY g.seq ${raw('jobId' in which ? 'ASC' : 'DESC')} LIMIT ${limit + 1}`,
      limit,
      sightingOf,
    );
  }),

  expireSnapshots: transaction(function* ({ accountId, lastSeenBefore, limit, isDryRun = false }) {
    const before = Math.floor(lastSeenBefore);
    const old = sql`FROM snapshots WHERE account_id = ${accountId} AND last_seen_at < ${before}`;
    if (isDryRun) {
      return yield* one(
        sql`SELECT count(*) AS snapshots, coalesce(sum(bytes), 0) AS bytes ${old}`,
        ({ snapshots, bytes }) => ({ snapshots: Number(snapshots), bytes: Number(bytes), isMore: false }),
      );
    }
    const gone = yield* all(
      sql`DELETE FROM snapshots WHERE seq IN (SELECT seq ${old} LIMIT ${limit}) RETURNING bytes`,
    );
    const unseen = yield* run(
      sql`DELETE FROM page_sightings WHERE seq IN (
        SELECT seq FROM page_sightings WHERE account_id = ${accountId} AND seen_at < ${before} LIMIT ${limit}
      )`,
    );
    return {
      snapshots: gone.length,
      bytes: gone.reduce((sum, row) => sum + Number(row.bytes), 0),
      isMore: gone.length === limit || unseen === limit,
    };
  }),
};
