import { isRenderedRecord } from '../../core/model/page-record.ts';
import type {
  NewSighting,
  NewSnapshot,
  PageRecordRow,
  SnapshotStore,
} from '../../core/ports/snapshot-store.ts';
import { moveReader } from '../store-sql/readers.ts';
import type { SharedSnapshotStore } from '../store-sql/snapshots.ts';
import { KNOWN_CONTENT_COLUMNS, knownContentOf } from '../store-sql/snapshots.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './sql-methods.ts';
import { runSqlite } from './sql-methods.ts';

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

/** What runs for each page of a crawl; the rest of the port is shared with the other database. */
export function createSqliteSightingStore(
  database: SqliteDatabase,
  now: () => number,
): Synchronous<Omit<SnapshotStore, keyof SharedSnapshotStore>> {
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
      if (!runSqlite(moveReader('snapshots', { after, next }), database, now)) return false;
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
  };
}
