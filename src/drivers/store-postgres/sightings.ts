import type { NewSighting, NewSnapshot, SnapshotStore } from '../../core/ports/snapshot-store.ts';
import { moveReader } from '../store-sql/readers.ts';
import type { SharedSnapshotStore } from '../store-sql/snapshots.ts';
import { KNOWN_CONTENT_COLUMNS, knownContentOf } from '../store-sql/snapshots.ts';
import type { PostgresDatabase, Query } from './database.ts';
import { jsonParameter } from './parameters.ts';
import { runPostgres } from './sql-methods.ts';

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

/** What runs for each page of a crawl; the rest of the port is shared with the other database. */
export function createPostgresSightingStore(
  database: PostgresDatabase,
): Omit<SnapshotStore, keyof SharedSnapshotStore> {
  return {
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
      database.transaction(async (query, run) => {
        const isMoved = await runPostgres(moveReader('snapshots', { after, next }), { query, run });
        if (!isMoved) return false;
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
  };
}

/** Until the first sighting of the snapshot says when it was. */
const FAR_FUTURE = Number.MAX_SAFE_INTEGER;
