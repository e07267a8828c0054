import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Up to this size the whole file is read through, which takes a fraction of a second. */
const READ_THROUGH_BYTES = 67_108_864;

/**
 * Throws DATABASE_CORRUPT for a damaged file before anything is written to it. Damage within a large file is only
 * met when the crawl comes across it, and reported the same way then.
 */
export function requireSound(database: DatabaseSync, path: string): void {
  const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
  // Pages that are not in the file may be in the log beside it.
  const hasLog = sizeOf(`${path}-wal`) > 0;
  if (!hasLog && sizeOf(path) < pages * pageBytes) throw damaged(path, 'its end is missing');
  if (pages * pageBytes > READ_THROUGH_BYTES) return;
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (verdict !== 'ok') throw damaged(path, verdict.replaceAll(/\s+/g, ' '));
}

/**
 * Throws DATABASE_CORRUPT for a file that is empty or missing beside the log or the other files of an installation,
 * before SQLite removes the log and makes a new database.
 */
export function requireDatabase(path: string, traces: readonly string[]): void {
  if (path === ':memory:' || sizeOf(path) > 0) return;
  const log = `${path}-wal`;
  const remains = sizeOf(log) > 0 ? [log, ...traces] : traces;
  if (remains.length > 0) throw lost(path, remains);
}

/** Refuses a file without tables: the changes that made them were in a log that is gone. */
export function requireSchema(database: DatabaseSync, path: string, traces: readonly string[]): void {
  if (traces.length === 0) return;
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_master').get() as {
    tables: number;
  };
  if (tables === 0) throw lost(path, [path, ...traces]);
}

function lost(path: string, remains: readonly string[]): ScrapifieError {
  return new ScrapifieError(
    'DATABASE_CORRUPT',
    `The database ${path} is missing or empty, but other files of its installation are there. Restore it from a backup together with ${path}-wal. To begin anew, move these away first: ${remains.join(', ')}.`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function damaged(path: string, how: string): ScrapifieError {
  return new ScrapifieError('DATABASE_CORRUPT', `The database ${path} is damaged: ${how}.`);
}
