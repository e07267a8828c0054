import type { ErrorCode } from '../../core/errors/registry.ts';
import type { OutcomeKind } from '../../core/model/attempt.ts';
import type { AccountId, ContentHash, JobId, SnapshotId, TaskId, UrlKey } from '../../core/model/ids.ts';
import type { ArtifactRef } from '../../core/model/page.ts';
import type { KnownContent, SightedPage, Sighting, Snapshot } from '../../core/ports/snapshot-store.ts';
import { cursorOf, type Row } from './rows.ts';

const text = (value: unknown) => value as string;
const maybeText = (value: unknown) => value as string | null;
const maybeNumber = (value: unknown) => (value === null ? null : Number(value));
const maybeJson = <T>(value: unknown) => (value === null ? null : (JSON.parse(text(value)) as T));

export const SIGHTED_PAGE_COLUMNS = `p.seq, p.task_id, p.url, p.final_url, p.status_code, p.content_type, p.charset,
  p.fetched_at, p.content_hash, p.text_hash, p.bytes, p.title, p.etag, p.last_modified, p.error_code`;

export const sightedPageOf = (row: Row): SightedPage => ({
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

export const snapshotOf = (row: Row): Snapshot => ({
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
export const SIGHTING_COLUMNS = `g.seq, g.account_id, g.url_key, g.job_id, g.task_id, g.seen_at, s.id, s.url, s.hash`;

export const sightingOf = (row: Row): Sighting => ({
  accountId: text(row.account_id) as AccountId,
  urlKey: text(row.url_key) as UrlKey,
  url: text(row.url),
  snapshotId: text(row.id) as SnapshotId,
  hash: text(row.hash),
  jobId: text(row.job_id) as JobId,
  taskId: Number(row.task_id) as TaskId,
  seenAt: Number(row.seen_at),
});

/** The blobs that a snapshot keeps. */
export function blobsOfSnapshot(row: Row): ContentHash[] {
  const screenshot = maybeJson<ArtifactRef>(row.screenshot);
  return [text(row.content_hash) as ContentHash, ...(screenshot === null ? [] : [screenshot.contentHash])];
}

/** References come from pages first, then from snapshots: the cursor of the second part begins with a letter. */
export const SNAPSHOT_CURSOR = /^s(\d{1,15})$/;

/** Bytes of the snapshots of the account `a`. */
export const SNAPSHOT_BYTES = `coalesce((SELECT u.bytes FROM snapshot_usage u WHERE u.account_id = a.id), 0)`;

/** Contents are listed by when they were last seen, those of one millisecond by their number. */
export const LISTED_CURSOR = "last_seen_at || '-' || seq AS list_cursor";

/** When the last content of the slice before was last seen, and its number. */
export function snapshotCursorOf(cursor: string | undefined): readonly [lastSeenAt: number, seq: number] {
  if (cursor === undefined) return [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const [lastSeenAt = '', seq = '', ...more] = cursor.split('-');
  // A part too many makes the number one that there is not.
  return [cursorOf(lastSeenAt, 0), cursorOf([seq, ...more].join('-'), 0)];
}
