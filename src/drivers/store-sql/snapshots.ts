import type { ErrorCode } from '../../core/errors/registry.ts';
import type { OutcomeKind } from '../../core/model/attempt.ts';
import type { AccountId, ContentHash, JobId, SnapshotId, TaskId, UrlKey } from '../../core/model/ids.ts';
import type { ArtifactRef } from '../../core/model/page.ts';
import type {
  KnownContent,
  SightedPage,
  Sighting,
  Snapshot,
  SnapshotStore,
} from '../../core/ports/snapshot-store.ts';
import { cursorOf, type Row } from '../store-rows/rows.ts';
import { type Methods, read, transaction } from './methods.ts';
import { either, oneOf, raw, sql } from './sql.ts';
import { all, find, list, one, run, slice } from './steps.ts';

const text = (value: unknown) => value as string;
const maybeText = (value: unknown) => value as string | null;
const maybeNumber = (value: unknown) => (value === null ? null : Number(value));
const maybeJson = <T>(value: unknown) => (value === null ? null : (JSON.parse(text(value)) as T));

const SIGHTED_PAGE_COLUMNS = `p.seq, p.task_id, p.url, p.final_url, p.status_code, p.content_type, p.charset,
  p.fetched_at, p.content_hash, p.text_hash, p.bytes, p.title, p.etag, p.last_modified, p.error_code`;

const sightedPageOf = (row: Row): SightedPage => ({
  seq: Number(row.seq),
  taskId: Number(row.task_id) as TaskId,
  url: text(row.url),
  finalUrl: text(row.final_url),
  statusCode: maybeNumber(row.status_code),
  contentType: maybeText(row.content_type),
  charset: maybeText(row.charset),
  fetchedAt: Number(row.fetched_at),
  contentHash: maybeText(row.content_hash) as ContentHash | null,
  textHash: maybeText(row.text_hash),
  bytes: Number(row.bytes),
  title: maybeText(row.title),
  etag: maybeText(row.etag),
  lastModified: maybeText(row.last_modified),
  errorCode: maybeText(row.error_code) as ErrorCode | null,
  outcome: maybeText(row.outcome) as OutcomeKind | null,
});

export const KNOWN_CONTENT_COLUMNS = `s.id, s.url_key, s.hash, s.text_hash, s.facts_hash, s.title, s.content_hash,
  s.content_type, s.charset, s.final_url, s.is_private`;

export const knownContentOf = (row: Row): KnownContent => ({
  id: text(row.id) as SnapshotId,
  urlKey: text(row.url_key) as UrlKey,
  hash: text(row.hash),
  textHash: text(row.text_hash),
  factsHash: maybeText(row.facts_hash),
  title: maybeText(row.title),
  contentHash: text(row.content_hash) as ContentHash,
  contentType: maybeText(row.content_type),
  charset: maybeText(row.charset),
  finalUrl: text(row.final_url),
  isPrivate: Boolean(row.is_private),
});

const snapshotOf = (row: Row): Snapshot => ({
  id: text(row.id) as SnapshotId,
  accountId: text(row.account_id) as AccountId,
  url: text(row.url),
  urlKey: text(row.url_key) as UrlKey,
  hash: text(row.hash),
  firstSeenAt: Number(row.first_seen_at),
  lastSeenAt: Number(row.last_seen_at),
  timesSeen: Number(row.times_seen),
  finalUrl: text(row.final_url),
  statusCode: maybeNumber(row.status_code),
  contentType: maybeText(row.content_type),
  charset: maybeText(row.charset),
  contentHash: text(row.content_hash) as ContentHash,
  bytes: Number(row.bytes),
  etag: maybeText(row.etag),
  lastModified: maybeText(row.last_modified),
  title: maybeText(row.title),
  price: maybeNumber(row.price),
  currency: maybeText(row.currency),
  availability: maybeText(row.availability),
  record: maybeJson<Readonly<Record<string, unknown>>>(row.record),
  screenshot: maybeJson<ArtifactRef>(row.screenshot),
  jobId: text(row.job_id) as JobId,
  taskId: Number(row.task_id) as TaskId,
  isPrivate: Boolean(row.is_private),
});

/** Columns of a sighting and its snapshot. */
const SIGHTING_COLUMNS = `g.seq, g.account_id, g.url_key, g.job_id, g.task_id, g.seen_at, s.id, s.url, s.hash`;

const sightingOf = (row: Row): Sighting => ({
  accountId: text(row.account_id) as AccountId,
  urlKey: text(row.url_key) as UrlKey,
  url: text(row.url),
  snapshotId: text(row.id) as SnapshotId,
  hash: text(row.hash),
  jobId: text(row.job_id) as JobId,
  taskId: Number(row.task_id) as TaskId,
  seenAt: Number(row.seen_at),
});

/** Bytes of the snapshots of the account `a`. */
export const SNAPSHOT_BYTES = `coalesce((SELECT u.bytes FROM snapshot_usage u WHERE u.account_id = a.id), 0)`;

/** Contents are listed by when they were last seen, those of one millisecond by their number. */
const LISTED_CURSOR = "last_seen_at || '-' || seq AS list_cursor";

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

/** The blobs that a snapshot keeps. */
export function blobsOfSnapshot(row: Row): ContentHash[] {
  const screenshot = maybeJson<ArtifactRef>(row.screenshot);
  return [text(row.content_hash) as ContentHash, ...(screenshot === null ? [] : [screenshot.contentHash])];
}

/** When the last content of the slice before was last seen, and its number. */
function snapshotCursorOf(cursor: string | undefined): readonly [lastSeenAt: number, seq: number] {
  if (cursor === undefined) return [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const [lastSeenAt = '', seq = '', ...more] = cursor.split('-');
  // A part too many makes the number one that there is not.
  return [cursorOf(lastSeenAt, 0), cursorOf([seq, ...more].join('-'), 0)];
}
