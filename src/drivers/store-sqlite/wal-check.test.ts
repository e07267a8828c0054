import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { openSqliteDatabase, type SqliteDatabase } from './database.ts';
import { inspectSqlite } from './migrate.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { requireIntactLog } from './wal-check.ts';

const WRITER = fileURLToPath(new URL('./wal-writer.fixture.ts', import.meta.url));
const FRAME_BYTES = 24 + 4_096;
const HEADER_BYTES = 32;
const COMMITS = 20;

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-wal-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function open(path: string): SqliteDatabase {
  const database = openSqliteDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

/** The files as a crash leaves them: the connection that wrote them has not closed the database. */
function crashed(commits = COMMITS, write?: (database: SqliteDatabase) => void): string {
  const [live, path] = [join(folder(), 'live.db'), join(folder(), 'scrapifie.db')];
  const database = open(live);
  database.exec('CREATE TABLE a (n INTEGER PRIMARY KEY, x TEXT)');
  for (let n = 0; n < commits; n += 1) database.run('INSERT INTO a (x) VALUES (?)', 'x'.repeat(9_000));
  write?.(database);
  copyFileSync(live, path);
  copyFileSync(`${live}-wal`, `${path}-wal`);
  return path;
}

function harm(path: string, change: (log: Buffer) => Buffer | undefined): void {
  const log = readFileSync(`${path}-wal`);
  writeFileSync(`${path}-wal`, change(log) ?? log);
}

const flip = (log: Buffer, at: number): void => void log.writeUInt8((log[at] ?? 0) ^ 0x01, at);
const framesOf = (log: Buffer): number => Math.floor((log.length - HEADER_BYTES) / FRAME_BYTES);
const frameAt = (index: number): number => HEADER_BYTES + index * FRAME_BYTES;
const commitsFrom = (log: Buffer): readonly number[] =>
  Array.from({ length: framesOf(log) }, (_, index) => index).filter(
    (index) => log.readUInt32BE(frameAt(index) + 4) !== 0,
  );

function codeOf(path: string): string {
  try {
    requireIntactLog(path);
    return 'sound';
  } catch (error) {
    return isScrapifieError(error) ? error.code : String(error);
  }
}

const rowsIn = (path: string): number => Number(open(path).get('SELECT count(*) AS n FROM a')?.n);

describe('a log with one damaged byte, before committed changes, is refused', () => {
  it.each<[string, (log: Buffer) => number]>([
    ['in the contents of the first frame', () => frameAt(0) + 24 + 17],
    ['in the page number of a frame', () => frameAt(5) + 3],
    ['in the size of the database of a commit', (log) => frameAt(commitsFrom(log)[3] ?? 0) + 7],
    ['in the salts of a frame', () => frameAt(6) + 9],
    ['in the checksum of a frame', () => frameAt(7) + 20],
    ['in the middle', (log) => frameAt(framesOf(log) >> 1) + 2_000],
    ['in the last transaction, before its last frame', (log) => frameAt(framesOf(log) - 2) + 24 + 4_000],
    ['in the magic number of the header', () => 1],
    ['in the page size of the header', () => 10],
    ['in the salts of the header', () => 18],
    ['in the other salt of the header', () => 22],
    ['in the checksum of the header', () => 30],
  ])('%s', (_, place) => {
    const path = crashed();
    expect(codeOf(path)).toBe('sound');
    harm(path, (log) => void flip(log, place(log)));
    const before = [readFileSync(path), readFileSync(`${path}-wal`)];
    expect(codeOf(path)).toBe('DATABASE_CORRUPT');
    expect(() => openSqliteDatabase(path)).toThrow(`${path}-wal`);
    expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual(before);
  });

  it('and so is a stretch of them, when so many commits follow that one of them was synced', () => {
    const path = crashed(200);
    harm(path, (log) => void log.fill(0xff, frameAt(8) + 100, frameAt(11)));
    expect(codeOf(path)).toBe('DATABASE_CORRUPT');
  });

  it('and so is a zeroed stretch, with the commits of a second behind it', () => {
    const path = crashed(40);
    harm(path, (log) => void log.fill(0, frameAt(8), frameAt(14)));
    expect(codeOf(path)).toBe('DATABASE_CORRUPT');
  });

  it('also through the thread of the store', async () => {
    const path = crashed();
    harm(path, (log) => void flip(log, frameAt(4) + 100));
    await expect(createSqliteStore({ path })).rejects.toMatchObject({ code: 'DATABASE_CORRUPT' });
  });
});

describe('a log that a crash or a power failure leaves is opened', () => {
  it('cut off at any place: with the transactions before', () => {
    const source = crashed();
    const size = statSync(`${source}-wal`).size;
    for (const cut of [0, 7, 31, 40, 56, 5_000, size >> 1, size - FRAME_BYTES, size - 4_000, size - 1]) {
      const path = join(folder(), 'cut.db');
      copyFileSync(source, path);
      writeFileSync(`${path}-wal`, readFileSync(`${source}-wal`).subarray(0, cut));
      expect([cut, codeOf(path)]).toEqual([cut, 'sound']);
    }
  });

  it('with a last transaction of which blocks are missing, in any order', () => {
    const source = crashed();
    const log = readFileSync(`${source}-wal`);
    const [before = 0, last = 0] = commitsFrom(log).slice(-2);
    for (let block = Math.ceil(frameAt(before + 1) / 4_096); block * 4_096 < frameAt(last); block += 1) {
      harm(source, () => {
        const torn = Buffer.from(log);
        torn.fill(0, block * 4_096, (block + 1) * 4_096);
        return torn;
      });
      expect([block, codeOf(source)]).toEqual([block, 'sound']);
    }
    expect(rowsIn(source)).toBe(COMMITS - 1);
  });

  it('with a hole that a power failure may have left, and it is told what is dropped', async () => {
    const path = crashed();
    const commits = commitsFrom(readFileSync(`${path}-wal`));
    const from = (commits.at(-4) ?? 0) + 1;
    harm(path, (log) => void log.fill(0, frameAt(from), frameAt(from + 2)));
    expect(requireIntactLog(path)).toEqual({ commits: 3, frames: (commits.at(-1) ?? 0) - from + 1 });
    expect((await inspectSqlite(path)).ignored).toContain('3 commits');
    const told: Error[] = [];
    const store = await createSqliteStore({ path, onError: (error) => told.push(error) });
    await store.close();
    expect(told.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${path}-wal ended in 3 commits`),
    ]);
    expect(rowsIn(path)).toBe(COMMITS - 3);
    expect(requireIntactLog(path)).toBeNull();
  });

  it('with a damaged last frame, which looks the same', () => {
    const path = crashed();
    harm(path, (log) => void flip(log, log.length - 1));
    expect(rowsIn(path)).toBe(COMMITS - 1);
  });

  it('with frames of an earlier generation behind the newer ones', () => {
    const path = crashed(COMMITS, (database) => {
      database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      database.run('INSERT INTO a (x) VALUES (?)', 'newer');
    });
    expect(commitsFrom(readFileSync(`${path}-wal`)).length).toBeGreaterThan(COMMITS - 5);
    expect(codeOf(path)).toBe('sound');
    expect(rowsIn(path)).toBe(COMMITS + 1);
  });

  it('with frames of a transaction that was too large for the cache and rolled back', () => {
    const path = crashed(3, (database) => {
      database.exec('PRAGMA cache_size = 10; BEGIN');
      for (let n = 0; n < 50; n += 1) database.run('INSERT INTO a (x) VALUES (?)', 'y'.repeat(9_000));
      database.exec('ROLLBACK');
      database.run('INSERT INTO a (x) VALUES (?)', 'newer');
    });
    const log = readFileSync(`${path}-wal`);
    expect(framesOf(log)).toBeGreaterThan((commitsFrom(log).at(-1) ?? 0) + 20);
    expect(codeOf(path)).toBe('sound');
    expect(rowsIn(path)).toBe(4);
  });

  it('after the process was killed in the middle of writing, with every commit that it told of', async () => {
    const path = join(folder(), 'scrapifie.db');
    for (let round = 0; round < 4; round += 1) {
      const writer = spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void writer.kill('SIGKILL'));
      let told = '';
      writer.stdout.on('data', (text: Buffer) => {
        told += text.toString();
        if (told.split('\n').length > 12 + round * 7) writer.kill('SIGKILL');
      });
      await new Promise((resolve) => writer.once('close', resolve));
      const rows = Number(told.trim().split('\n').at(-1));
      expect(existsSync(`${path}-wal`)).toBe(true);
      const copy = join(folder(), 'copy.db');
      copyFileSync(path, copy);
      copyFileSync(`${path}-wal`, `${copy}-wal`);
      expect(rowsIn(copy)).toBeGreaterThanOrEqual(rows);
      expect(rowsIn(copy) % 50).toBe(0);
    }
  });
});
