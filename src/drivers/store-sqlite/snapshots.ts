import { isRenderedRecord } from '../../core/model/page-record.ts';
import type {
  NewSighting,
  NewSnapshot,
  PageRecordRow,
  SnapshotStore,
} from '../../core/ports/snapshot-store.ts';
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
import type { SqliteDatabase } from './database.ts';
import { moveSqliteReader } from './readers.ts';
import type { Synchronous } from './synchronous.ts';

/** Words of which a record that is not compressed has one, if it may tell anything of a snapshot. */
const TELLING = ['"extracted":', 'price', 'vailability'].map((word) => Buffer.from(word));

/** Looked for here: SQLite compares byte by byte, which costs as much as a fifth of the crawl on pages with much text. */
function mayTell(record: Uint8Array): boolean {
  if (record[0] !== OPENING_BRACE) return true;
  const json = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  return isRenderedRecord(json) || TELLING.some((word) => json.includes(word));
}

const OPENING_BRACE = 0x7b;
/** Records that are in memory at once while they are looked through. */
const RECORDS_AT_ONCE = 100;

const json = (value: unknown) => (value === null ? null : JSON.stringify(value));

export function createSqliteSnapshotStore(database: SqliteDatabase): Synchronous<SnapshotStore> {
  /** The number of the snapshot with its first sighting; null when there is one of this id, or the page is gone. */
  function insertSnapshot(snapshot: NewSnapshot, first: NewSighting): number | null {
    const { id, accountId, urlKey, url, hash, textHash, factsHash } = snapshot;
    const row = database.get(
      `INSERT INTO snapshots (id, account_id, url_key, url, hash, text_hash, facts_hash, first_seen_at, last_seen_at,
         times_seen, final_url, status_code, content_type, charset, content_hash, bytes, title, price, currency,
         availability, record, screenshot, job_id, task_id, is_private, etag, last_modified)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, content_hash, ?, ?, ?, ?, ?, ?, ?, ?, task_id, ?, ?, ?
       FROM pages WHERE content_hash = ? AND task_id = ? ON CONFLICT (id) DO NOTHING RETURNING seq`,
      ...[id, accountId, urlKey, url, hash, textHash, factsHash, first.seenAt, first.seenAt],
      ...[snapshot.finalUrl, snapshot.statusCode, snapshot.contentType, snapshot.charset],
      ...[snapshot.bytes, snapshot.title, snapshot.price, snapshot.currency],
      ...[snapshot.availability, json(snapshot.record), json(snapshot.screenshot)],
      ...[snapshot.jobId, snapshot.isPrivate ? 1 : 0, first.etag, first.lastModified],
      ...[snapshot.contentHash, snapshot.taskId],
    );
    return row === undefined ? null : Number(row.seq);
  }

  /** The number of the snapshot, which was seen once more; null when there is none. */
  function seeAgain({ snapshotId, accountId, seenAt, etag, lastModified }: NewSighting): number | null {
    const row = database.get(
      'SELECT seq FROM snapshots WHERE id = ? AND account_id = ?',
      snapshotId,
      accountId,
    );
    if (row === undefined) return null;
    // By its number: RETURNING would build a table for the one row.
    database.run(
      `UPDATE snapshots SET times_seen = times_seen + 1, first_seen_at = min(first_seen_at, ?1),
         last_seen_at = max(last_seen_at, ?1), etag = ?2, last_modified = ?3 WHERE seq = ?4`,
      ...[seenAt, etag, lastModified, Number(row.seq)],
    );
    return Number(row.seq);
  }

  function insertSighting({ accountId, urlKey, jobId, taskId, seenAt }: NewSighting, snapshot: number): void {
    database.run(
      `INSERT INTO page_sightings (account_id, url_key, snapshot_seq, job_id, task_id, seen_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      ...[accountId, urlKey, snapshot, jobId, taskId, seenAt],
    );
  }

  return {
    listSightedPages(jobId, pageSeqs) {
      const rows = database.all(
        `SELECT ${SIGHTED_PAGE_COLUMNS}, json_extract(t.trace, '$[#-1].outcome') AS outcome
         FROM pages p JOIN tasks t ON t.id = p.task_id LEFT JOIN job_expiry e ON e.job_seq = p.job_seq
         WHERE p.seq IN (SELECT value FROM json_each(?)) AND p.job_seq = (SELECT seq FROM jobs WHERE id = ?)
           AND t.kind = 'page' AND coalesce(e.bodies, 0) <= p.seq ORDER BY p.seq`,
        JSON.stringify(pageSeqs),
        jobId,
      );
      return rows.map(sightedPageOf);
    },

    listSnapshotRecords(pageSeqs) {
      const telling: PageRecordRow[] = [];
      const inOrder = pageSeqs.toSorted((a, b) => a - b);
      for (let at = 0; at < inOrder.length; at += RECORDS_AT_ONCE) {
        const rows = database.all(
          `SELECT seq, record FROM pages WHERE seq IN (SELECT value FROM json_each(?)) AND record IS NOT NULL
           ORDER BY seq`,
          JSON.stringify(inOrder.slice(at, at + RECORDS_AT_ONCE)),
        );
        for (const row of rows) {
          const record = row.record as Uint8Array;
          if (mayTell(record)) telling.push({ seq: Number(row.seq), record });
        }
      }
      return telling;
    },

    findContents({ accountId, contents }) {
      // Contents are looked up one by one, each by the index: a join might go through all snapshots of the account.
      return contents.flatMap(({ urlKey, textHash }) =>
        database
          .all(
            `SELECT ${KNOWN_CONTENT_COLUMNS} FROM snapshots s
             WHERE s.account_id = ? AND s.url_key = ? AND s.text_hash = ?`,
            ...[accountId, urlKey, textHash],
          )
          .map(knownContentOf),
      );
    },

    addSightings({ after, next, snapshots, sightings, facts }) {
      if (!moveSqliteReader(database, 'snapshots', { after, next })) return false;
      const accounts = new Map<string, boolean>();
      const isThere = (account: string): boolean => {
        const known = accounts.get(account);
        if (known !== undefined) return known;
        const found = database.get('SELECT 1 FROM accounts WHERE id = ? AND deleting_at IS NULL', account);
        accounts.set(account, found !== undefined);
        return found !== undefined;
      };
      const added = new Map(snapshots.map((each) => [each.id, each]));
      for (const each of sightings) {
        if (!isThere(each.accountId)) continue;
        const fresh = added.get(each.snapshotId);
        added.delete(each.snapshotId);
        const seq = (fresh === undefined ? null : insertSnapshot(fresh, each)) ?? seeAgain(each);
        if (seq !== null) insertSighting(each, seq);
      }
      for (const { id, factsHash } of facts) {
        database.run('UPDATE snapshots SET facts_hash = ? WHERE id = ?', factsHash, id);
      }
      return true;
    },

    getSnapshot(account, id) {
      const row = database.get('SELECT * FROM snapshots WHERE account_id = ? AND id = ?', account, id);
      return row === undefined ? null : snapshotOf(row);
    },

    listSnapshots({ accountId, urlKey, hasPrivate, cursor, limit }) {
      const rows = database.all(
        `SELECT *, ${LISTED_CURSOR} FROM snapshots
         WHERE account_id = ? AND url_key = ? AND is_private <= ? AND (last_seen_at, seq) < (?, ?)
         ORDER BY last_seen_at DESC, seq DESC LIMIT ?`,
        ...[accountId, urlKey, hasPrivate ? 1 : 0, ...snapshotCursorOf(cursor), limit + 1],
      );
      return sliceOf(rows, limit, 'list_cursor', snapshotOf);
    },

    listSightings({ accountId, hasPrivate, cursor, limit, ...which }) {
      const isOfJob = 'jobId' in which;
      const rows = isOfJob
        ? database.all(
            `SELECT ${SIGHTING_COLUMNS} FROM page_sightings g JOIN snapshots s ON s.seq = g.snapshot_seq
             WHERE g.job_id = ? AND g.account_id = ? AND g.seq > ? AND s.is_private <= ? ORDER BY g.seq LIMIT ?`,
            ...[which.jobId, accountId, cursorOf(cursor, 0), hasPrivate ? 1 : 0, limit + 1],
          )
        : database.all(
            `SELECT ${SIGHTING_COLUMNS} FROM page_sightings g JOIN snapshots s ON s.seq = g.snapshot_seq
             WHERE g.account_id = ? AND g.url_key = ? AND g.seq < ? AND s.is_private <= ?
             ORDER BY g.seq DESC LIMIT ?`,
            ...[accountId, which.urlKey, cursorOf(cursor, Number.MAX_SAFE_INTEGER)],
            ...[hasPrivate ? 1 : 0, limit + 1],
          );
      return sliceOf(rows, limit, 'seq', sightingOf);
    },

    expireSnapshots({ accountId, lastSeenBefore, limit, isDryRun = false }) {
      const rows = database.all(
        'SELECT seq, bytes FROM snapshots WHERE account_id = ? AND last_seen_at < ? LIMIT ?',
        ...[accountId, lastSeenBefore, isDryRun ? Number.MAX_SAFE_INTEGER : limit],
      );
      let isMore = false;
      if (!isDryRun) {
        for (const { seq } of rows) database.run('DELETE FROM snapshots WHERE seq = ?', Number(seq));
        const unseen = database.run(
          `DELETE FROM page_sightings WHERE seq IN (
             SELECT seq FROM page_sightings WHERE account_id = ? AND seen_at < ? LIMIT ?
           )`,
          ...[accountId, lastSeenBefore, limit],
        );
        isMore = rows.length === limit || unseen === limit;
      }
      const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
      return { snapshots: rows.length, bytes, isMore };
    },
  };
}
