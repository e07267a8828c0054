import type { NewSighting, NewSnapshot, SnapshotStore } from '../../core/ports/snapshot-store.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import {
  KNOWN_CONTENT_COLUMNS,
  knownContentOf,
  LISTED_CURSOR,
  SIGHTED_PAGE_COLUMNS,
  SIGHTING_COLUMNS,
  sightedPageOf,
  sightingOf,
  snapshotCursorOf,
  snapshotOf,
} from '../store-rows/snapshot-rows.ts';
import type { PostgresDatabase, Query } from './database.ts';
import { jsonParameter } from './parameters.ts';
import { movePostgresReader } from './readers.ts';

const has = (word: string) => `position('${word}'::bytea IN record) > 0`;

const SNAPSHOT_ROW = `id text, account_id text, url_key text, url text, hash text, text_hash text, facts_hash text,
  final_url text, status_code int, content_type text, charset text, content_hash text, bytes bigint, title text,
  price double precision, currency text, availability text, record jsonb, screenshot jsonb, job_id text, task_id bigint,
  is_private smallint`;

const snapshotRow = (snapshot: NewSnapshot) => ({
  id: snapshot.id,
  account_id: snapshot.accountId,
  url_key: snapshot.urlKey,
  url: snapshot.url,
  hash: snapshot.hash,
  text_hash: snapshot.textHash,
  facts_hash: snapshot.factsHash,
  final_url: snapshot.finalUrl,
  status_code: snapshot.statusCode,
  content_type: snapshot.contentType,
  charset: snapshot.charset,
  content_hash: snapshot.contentHash,
  bytes: snapshot.bytes,
  title: snapshot.title,
  price: snapshot.price,
  currency: snapshot.currency,
  availability: snapshot.availability,
  record: snapshot.record,
  screenshot: snapshot.screenshot,
  job_id: snapshot.jobId,
  task_id: snapshot.taskId,
  is_private: snapshot.isPrivate ? 1 : 0,
});

const sightingRow = (sighting: NewSighting, ord: number) => ({
  ord,
  snapshot_id: sighting.snapshotId,
  account_id: sighting.accountId,
  url_key: sighting.urlKey,
  job_id: sighting.jobId,
  task_id: sighting.taskId,
  seen_at: sighting.seenAt,
  etag: sighting.etag,
  last_modified: sighting.lastModified,
});

/** Rows of one snapshot are changed together: an UPDATE joins each row once. */
async function insertSightings(query: Query, sightings: readonly NewSighting[]): Promise<void> {
  await query(
    `WITH seen AS MATERIALIZED (
       SELECT * FROM json_to_recordset($1) AS g (ord int, snapshot_id text, account_id text, url_key text,
         job_id text, task_id bigint, seen_at bigint, etag text, last_modified text)
     ), counted AS (
       SELECT snapshot_id, count(*) AS times, min(seen_at) AS first_at, max(seen_at) AS last_at,
         (array_agg(etag ORDER BY ord DESC))[1] AS etag,
         (array_agg(last_modified ORDER BY ord DESC))[1] AS last_modified
       FROM seen GROUP BY snapshot_id
     ), changed AS (
       UPDATE snapshots s SET times_seen = s.times_seen + c.times,
         first_seen_at = least(s.first_seen_at, c.first_at), last_seen_at = greatest(s.last_seen_at, c.last_at),
         etag = c.etag, last_modified = c.last_modified
       FROM counted c WHERE s.id = c.snapshot_id RETURNING s.id, s.seq, s.account_id
     )
     INSERT INTO page_sightings (account_id, url_key, snapshot_seq, job_id, task_id, seen_at)
     SELECT g.account_id, g.url_key, s.seq, g.job_id, g.task_id, g.seen_at
     FROM seen g JOIN changed s ON s.id = g.snapshot_id AND s.account_id = g.account_id
     JOIN accounts a ON a.id = g.account_id AND a.deleting_at IS NULL ORDER BY g.ord`,
    [jsonParameter(sightings.map(sightingRow))],
  );
}

export function createPostgresSnapshotStore(database: PostgresDatabase): SnapshotStore {
  return {
    async listSightedPages(jobId, pageSeqs) {
      const rows = await database.query(
        `SELECT ${SIGHTED_PAGE_COLUMNS}, t.trace -> -1 ->> 'outcome' AS outcome
         FROM pages p JOIN tasks t ON t.id = p.task_id LEFT JOIN job_expiry e ON e.job_seq = p.job_seq
         WHERE p.seq = ANY ($1::bigint[]) AND p.job_seq = (SELECT seq FROM jobs WHERE id = $2)
           AND t.kind = 'page' AND coalesce(e.bodies, 0) <= p.seq ORDER BY p.seq`,
        [pageSeqs, jobId],
      );
      return rows.map(sightedPageOf);
    },

    async listSnapshotRecords(pageSeqs) {
      const rows = await database.query(
        `SELECT seq, record FROM pages WHERE seq = ANY ($1::bigint[]) AND record IS NOT NULL
           AND (substring(record FROM 1 FOR 1) <> '{'::bytea OR substring(record FROM 1 FOR 12) = '{"rendered":'::bytea
             OR ${has('"extracted":')} OR ${has('price')} OR ${has('vailability')}) ORDER BY seq`,
        [pageSeqs],
      );
      return rows.map((row) => ({ seq: Number(row.seq), record: row.record as Uint8Array }));
    },

    async findContents({ accountId, contents }) {
      const rows = await database.query(
        // Each by the index: a join might go through all snapshots of the account.
        `SELECT s.* FROM unnest($2::text[], $3::text[]) AS c (url_key, text_hash) CROSS JOIN LATERAL (
           SELECT ${KNOWN_CONTENT_COLUMNS} FROM snapshots s
           WHERE s.account_id = $1 AND s.url_key = c.url_key AND s.text_hash = c.text_hash OFFSET 0
         ) s`,
        [accountId, contents.map(({ urlKey }) => urlKey), contents.map(({ textHash }) => textHash)],
      );
      return rows.map(knownContentOf);
    },

    addSightings: ({ after, next, snapshots, sightings, facts }) =>
      database.transaction(async (query) => {
        if (!(await movePostgresReader(query, 'snapshots', { after, next }))) return false;
        if (snapshots.length > 0) {
          const names = SNAPSHOT_ROW.split(',').map((column) => column.trim().split(' ', 1)[0]);
          await query(
            `INSERT INTO snapshots (${names.join(', ')}, first_seen_at, last_seen_at, times_seen)
             SELECT ${names.map((name) => `n.${name}`).join(', ')}, ${FAR_FUTURE}, 0, 0
             FROM json_to_recordset($1) AS n (${SNAPSHOT_ROW})
             JOIN accounts a ON a.id = n.account_id AND a.deleting_at IS NULL
             JOIN pages p ON p.task_id = n.task_id AND p.content_hash = n.content_hash
             ON CONFLICT (id) DO NOTHING`,
            [jsonParameter(snapshots.map(snapshotRow))],
          );
        }
        if (sightings.length > 0) await insertSightings(query, sightings);
        if (facts.length > 0) {
          await query(
            `UPDATE snapshots s SET facts_hash = f.hash FROM unnest($1::text[], $2::text[]) AS f (id, hash)
             WHERE s.id = f.id`,
            [facts.map(({ id }) => id), facts.map(({ factsHash }) => factsHash)],
          );
        }
        return true;
      }),

    async getSnapshot(account, id) {
      const [row] = await database.query('SELECT * FROM snapshots WHERE account_id = $1 AND id = $2', [
        account,
        id,
      ]);
      return row === undefined ? null : snapshotOf(row);
    },

    async listSnapshots({ accountId, urlKey, hasPrivate, cursor, limit }) {
      const rows = await database.query(
        `SELECT *, ${LISTED_CURSOR} FROM snapshots
         WHERE account_id = $1 AND url_key = $2 AND is_private <= $3 AND (last_seen_at, seq) < ($4::bigint, $5::bigint)
         ORDER BY last_seen_at DESC, seq DESC LIMIT $6`,
        [accountId, urlKey, hasPrivate ? 1 : 0, ...snapshotCursorOf(cursor), limit + 1],
      );
      return sliceOf(rows, limit, 'list_cursor', snapshotOf);
    },

    async listSightings({ accountId, hasPrivate, cursor, limit, ...which }) {
      const isOfJob = 'jobId' in which;
      const [column, value] = isOfJob ? ['job_id', which.jobId] : ['url_key', which.urlKey];
      const rows = await database.query(
        `SELECT ${SIGHTING_COLUMNS} FROM page_sightings g JOIN snapshots s ON s.seq = g.snapshot_seq
         WHERE g.account_id = $1 AND g.${column} = $2 AND g.seq ${isOfJob ? '>' : '<'} $3 AND s.is_private <= $4
         ORDER BY g.seq ${isOfJob ? '' : 'DESC'} LIMIT $5`,
        [
          accountId,
          value,
          cursorOf(cursor, isOfJob ? 0 : Number.MAX_SAFE_INTEGER),
          hasPrivate ? 1 : 0,
          limit + 1,
        ],
      );
      return sliceOf(rows, limit, 'seq', sightingOf);
    },

    async expireSnapshots({ accountId, lastSeenBefore, limit, isDryRun = false }) {
      if (isDryRun) {
        const [row] = await database.query(
          `SELECT count(*) AS snapshots, coalesce(sum(bytes), 0)::bigint AS bytes FROM snapshots
           WHERE account_id = $1 AND last_seen_at < $2`,
          [accountId, Math.floor(lastSeenBefore)],
        );
        return { snapshots: Number(row?.snapshots), bytes: Number(row?.bytes), isMore: false };
      }
      const [row] = await database.query(
        `WITH gone AS (
           DELETE FROM snapshots WHERE seq IN (
             SELECT seq FROM snapshots WHERE account_id = $1 AND last_seen_at < $2 LIMIT $3
           ) RETURNING bytes
         ), unseen AS (
           DELETE FROM page_sightings WHERE seq IN (
             SELECT seq FROM page_sightings WHERE account_id = $1 AND seen_at < $2 LIMIT $3
           ) RETURNING seq
         )
         SELECT (SELECT count(*) FROM gone) AS snapshots, (SELECT coalesce(sum(bytes), 0)::bigint FROM gone) AS bytes,
           (SELECT count(*) FROM unseen) AS sightings`,
        [accountId, Math.floor(lastSeenBefore), limit],
      );
      const snapshots = Number(row?.snapshots);
      return {
        snapshots,
        bytes: Number(row?.bytes),
        isMore: snapshots === limit || Number(row?.sightings) === limit,
      };
    },
  };
}

/** Until the first sighting of the snapshot says when it was. */
const FAR_FUTURE = Number.MAX_SAFE_INTEGER;
