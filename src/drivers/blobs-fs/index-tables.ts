import { DatabaseSync } from 'node:sqlite';
import { makePrivateFile } from '../../core/config/private-files.ts';
import { fileAt, ImpossibleValue, type OpenFile } from '../derived-file/derived-file.ts';
import type { PackIndex } from './pack-index.ts';
import { isPackName, type PackPosition } from './packs.ts';

/** One connection to the file of the index, as SQLite has it: damage ends in whatever error SQLite finds for it. */
export interface IndexTables extends Omit<PackIndex, 'mend'>, OpenFile {
  /** Points at the body, unless the index knows a place for it. */
  pointAbsent(hash: Buffer, place: PackPosition): void;
  /** Where the last body of the pack ends that the index knows; 0 when it knows none. */
  endOf(pack: string): number;
  /** What SQLite's check of the whole file finds; null when it finds nothing. */
  damage(): string | null;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS packs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS blobs (
    hash BLOB PRIMARY KEY, pack INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS blobs_pack ON blobs (pack);
`;
/** Indexes of earlier versions do not have it, and programs of such a version leave it at 0. */
const STAMP_COLUMN = 'ALTER TABLE blobs ADD COLUMN stamped_at INTEGER NOT NULL DEFAULT 0';
const HAS_STAMP = `SELECT 1 FROM pragma_table_info('blobs') WHERE name = 'stamped_at'`;
/** An index of this many pages is written anew in a moment; writers wait meanwhile. */
const MOST_SHRUNK_PAGES = 25_000;
const LEAST_FREE_PAGES = 64;

function addStampColumn(database: DatabaseSync): void {
  if (database.prepare(HAS_STAMP).get() !== undefined) return;
  try {
    database.exec(STAMP_COLUMN);
  } catch (error) {
    // Another thread may have been first.
    if (database.prepare(HAS_STAMP).get() === undefined) throw error;
  }
}

export interface IndexTablesOptions {
  /** False for a file that is being made and that no other thread opens: it has no log that would lie beside it. */
  readonly hasLog: boolean;
  readonly now: () => number;
}

export function openIndexTables(path: string, { hasLog, now }: IndexTablesOptions): IndexTables {
  makePrivateFile(path);
  const database = new DatabaseSync(path, { timeout: 10_000 });
  try {
    // Not synced with each commit, since the packs bring back what a power failure takes; synced before each checkpoint,
    // since a checkpoint that was torn would be damage.
    database.exec(`
      PRAGMA journal_mode = ${hasLog ? 'WAL' : 'DELETE'};
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -4096;
      PRAGMA wal_autocheckpoint = 4000;
      ${SCHEMA}
    `);
    addStampColumn(database);
    return tablesOf(database, fileAt(path), now);
  } catch (error) {
    database.close();
    throw error;
  }
}

function tablesOf(database: DatabaseSync, file: string | null, now: () => number): IndexTables {
  const find = database.prepare(
    'SELECT p.name, b.offset, b.length, b.start, b.size FROM blobs b LEFT JOIN packs p ON p.id = b.pack WHERE b.hash = ?',
  );
  const point = database.prepare(
    `INSERT INTO blobs (hash, pack, offset, length, start, size, stamped_at)
     SELECT ?, id, ?, ?, ?, ?, ? FROM packs WHERE name = ?
     ON CONFLICT (hash) DO UPDATE SET pack = excluded.pack, offset = excluded.offset, length = excluded.length,
       start = excluded.start, size = excluded.size`,
  );
  const stampOf = database.prepare('SELECT stamped_at FROM blobs WHERE hash = ?');
  const stamp = database.prepare('UPDATE blobs SET stamped_at = max(?, stamped_at + 1) WHERE hash = ?');
  const stampUnstamped = database.prepare(
    'UPDATE blobs SET stamped_at = ? WHERE hash = ? AND stamped_at = 0',
  );
  const forgetStamped = database.prepare('DELETE FROM blobs WHERE hash = ? AND stamped_at = ?');
  const liveBytes = database.prepare(
    'SELECT coalesce(sum(b.size), 0) AS bytes FROM blobs b JOIN packs p ON p.id = b.pack WHERE p.name = ?',
  );
  const packNames = database.prepare('SELECT name FROM packs ORDER BY id');
  const addPack = database.prepare('INSERT OR IGNORE INTO packs (name) VALUES (?)');
  const dropBlobs = database.prepare('DELETE FROM blobs WHERE pack = (SELECT id FROM packs WHERE name = ?)');
  const dropPack = database.prepare('DELETE FROM packs WHERE name = ?');
  const forget = database.prepare('DELETE FROM blobs WHERE hash = ?');
  const live = database.prepare(
    `SELECT b.hash, p.name, b.offset, b.length, b.start, b.size FROM blobs b JOIN packs p ON p.id = b.pack
     WHERE p.name = ? ORDER BY b.offset LIMIT ?`,
  );
  const after = database.prepare(
    'SELECT hash, size, stamped_at FROM blobs WHERE hash > ? ORDER BY hash LIMIT ?',
  );

  const pointAbsent = database.prepare(
    `INSERT OR IGNORE INTO blobs (hash, pack, offset, length, start, size, stamped_at)
     SELECT ?, id, ?, ?, ?, ?, ? FROM packs WHERE name = ?`,
  );
  const end = database.prepare(
    `SELECT coalesce(max(b.offset + b.length), 0) AS bytes FROM packs p JOIN blobs b ON b.pack = p.id WHERE p.name = ?`,
  );

  const index: IndexTables = {
    file,
    find(hash) {
      const row = find.get(hash);
      return row === undefined ? null : placeOf(row);
    },
    point: (hash, { pack, offset, length, start, size }) =>
      Number(point.run(hash, offset, length, start, size, now(), pack).changes) > 0,
    pointAbsent: (hash, { pack, offset, length, start, size }) =>
      void pointAbsent.run(hash, offset, length, start, size, now(), pack),
    endOf: (pack) => Number(end.get(pack)?.bytes ?? 0),
    damage() {
      const verdict = String(database.prepare('PRAGMA integrity_check(1)').get()?.integrity_check);
      return verdict === 'ok' ? null : verdict.replaceAll(/\s+/g, ' ');
    },
    addPack: (pack) => void addPack.run(pack),
    dropPack(pack) {
      dropBlobs.run(pack);
      dropPack.run(pack);
    },
    forget: (hash, place) =>
      index.inOneGo(() => {
        const found = index.find(hash);
        const isThere = place === undefined || (found?.pack === place.pack && found.offset === place.offset);
        if (found === null || !isThere) return null;
        forget.run(hash);
        return found;
      }),
    forgetStamped: (hash, stampedAt) => Number(forgetStamped.run(hash, stampedAt).changes) > 0,
    stampOf(hash) {
      const row = stampOf.get(hash);
      return row === undefined ? null : Number(row.stamped_at);
    },
    stamp: (hash, at) => void stamp.run(at, hash),
    liveBytes: (pack) => Number(liveBytes.get(pack)?.bytes ?? 0),
    packs: () => packNames.all().map((row) => packNameOf(row)),
    livePlaces: (pack, limit) =>
      live.all(pack, limit).map((row) => ({
        key: Buffer.from(row.hash as Uint8Array),
        place: placeOf(row),
      })),
    stampedAfter: (hash, limit) =>
      after.all(hash, limit).map((row) => {
        const key = Buffer.from(row.hash as Uint8Array);
        const size = Number(row.size);
        if (Number(row.stamped_at) > 0) return { key, size, stampedAt: Number(row.stamped_at) };
        // Its age is not known: it counts from now.
        const at = now();
        stampUnstamped.run(at, key);
        return { key, size, stampedAt: at };
      }),
    inOneGo(work) {
      if (database.isTransaction) return work();
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        try {
          if (database.isTransaction) database.exec('ROLLBACK');
        } catch {
          // In a damaged file a rollback can fail as well; what is told is why there is one.
        }
        throw error;
      }
    },
    shrink() {
      const count = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
      const free = count('freelist_count');
      const used = count('page_count') - free;
      if (free < LEAST_FREE_PAGES || free < used || used > MOST_SHRUNK_PAGES) return;
      database.exec('VACUUM');
    },
    close: () => database.close(),
  };
  return index;
}

function packNameOf(row: Record<string, unknown>): string {
  const name = String(row.name);
  if (!isPackName(name)) throw new ImpossibleValue('a name that no pack has');
  return name;
}

function placeOf(row: Record<string, unknown>): PackPosition {
  const numbers = [row.offset, row.length, row.start, row.size].map(Number);
  if (numbers.some((each) => !Number.isSafeInteger(each) || each < 0)) {
    throw new ImpossibleValue('a place that no body has');
  }
  const [offset = 0, length = 0, start = 0, size = 0] = numbers;
  return { pack: packNameOf(row), offset, length, start, size };
}
