import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFile } from '../../config/private-files.ts';
import type { PackPosition, Packs } from './packs.ts';

/**
 * Where each body lies. It can always be made again from the packs, and is when it is missing or damaged. Writers
 * in other threads and processes share it; SQLite keeps them apart.
 */
export interface PackIndex {
  find(hash: Buffer): PackPosition | null;
  /** False when the pack is not in the index any more: a compaction removed it, and the body must be written to another pack. */
  point(hash: Buffer, place: PackPosition): boolean;
  addPack(pack: string): void;
  /** Forgets a pack and whatever still points into it. */
  dropPack(pack: string): void;
  /** Forgets the body, unless it lies elsewhere by now; returns where it lay. */
  forget(hash: Buffer, place?: PackPosition): PackPosition | null;
  /** Forgets the body unless its stamp has changed; false when it has, or the body is gone. */
  forgetStamped(hash: Buffer, stampedAt: number): boolean;
  /** When the body was put last, or made young again; null when it is not there. */
  stampOf(hash: Buffer): number | null;
  /** Makes the body young: its stamp becomes `now`, or one more than it was, so that it always changes. */
  stamp(hash: Buffer, now: number): void;
  /** In the order in which they lie. */
  livePlaces(pack: string, limit: number): { key: Buffer; place: PackPosition }[];
  /** Bytes of the bodies in a pack that are still pointed at, before compression. */
  liveBytes(pack: string): number;
  packs(): string[];
  /** By hash. */
  stampedAfter(hash: Buffer, limit: number): { key: Buffer; size: number; stampedAt: number }[];
  /** Gives the space of forgotten bodies back to the disk, when it is most of a file that is soon written anew. */
  shrink(): void;
  /** Within one transaction; calls within calls join it. */
  inOneGo<T>(work: () => T): T;
  close(): void;
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
/** SQLite's results for a file that is damaged, or no database at all. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

export function openPackIndex(packs: Packs, isSynced: boolean, now: () => number = Date.now): PackIndex {
  const path = join(packs.dir, 'index.db');
  const isNew = !existsSync(path);
  try {
    return open(path, packs, isSynced, isNew, now);
  } catch (error) {
    if (!DAMAGED.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)) throw error;
    renameSync(path, `${path}.damaged`);
    for (const rest of ['-wal', '-shm']) rmSync(path + rest, { force: true });
    return open(path, packs, isSynced, true, now);
  }
}

function addStampColumn(database: DatabaseSync): void {
  if (database.prepare(HAS_STAMP).get() !== undefined) return;
  try {
    database.exec(STAMP_COLUMN);
  } catch (error) {
    // Another thread may have been first.
    if (database.prepare(HAS_STAMP).get() === undefined) throw error;
  }
}

function open(path: string, packs: Packs, isSynced: boolean, isNew: boolean, now: () => number): PackIndex {
  makePrivateFile(path);
  const database = new DatabaseSync(path, { timeout: 10_000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${isSynced ? 'FULL' : 'OFF'};
    PRAGMA cache_size = -4096;
    PRAGMA wal_autocheckpoint = 4000;
    ${SCHEMA}
  `);
  addStampColumn(database);
  const find = database.prepare(
    'SELECT p.name, b.offset, b.length, b.start, b.size FROM blobs b JOIN packs p ON p.id = b.pack WHERE b.hash = ?',
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

  const index: PackIndex = {
    find(hash) {
      const row = find.get(hash);
      return row === undefined ? null : placeOf(row);
    },
    point: (hash, { pack, offset, length, start, size }) =>
      Number(point.run(hash, offset, length, start, size, now(), pack).changes) > 0,
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
    packs: () => packNames.all().map((row) => String(row.name)),
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
        if (database.isTransaction) database.exec('ROLLBACK');
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
  if (isNew) index.inOneGo(() => rebuild(index, packs));
  return index;
}

function placeOf(row: Record<string, unknown>): PackPosition {
  return {
    pack: String(row.name),
    offset: Number(row.offset),
    length: Number(row.length),
    start: Number(row.start),
    size: Number(row.size),
  };
}

function rebuild(index: PackIndex, packs: Packs): void {
  for (const pack of packs.names()) {
    index.addPack(pack);
    for (const { key, place } of packs.scan(pack)) index.point(key, place);
  }
}
