import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFile } from '../../core/config/private-files.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

export const LOCK_FILE = 'scrapifie.lock';

/** A database that nothing refers to is closed by the garbage collector, and the lock would be gone with it. */
const held = new Set<DatabaseSync>();

/**
 * Makes sure that one process at a time works in a data folder. The lock is SQLite's own lock on a file, which the
 * system gives back however the process ends; a file with a process id in it would outlive a crash.
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, LOCK_FILE);
  let database: DatabaseSync | null = null;
  try {
    makePrivateFile(file);
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (isBusy(error)) {
      throw new ScrapifieError('DATA_DIR_LOCKED', `Another Scrapifie process works in ${folder}.`, {
        cause: error,
      });
    }
    throw new ScrapifieError('DATA_DIR_UNUSABLE', `The folder ${folder} cannot be locked.`, { cause: error });
  }
  const lock = database;
  held.add(lock);
  return () => {
    held.delete(lock);
    lock.close();
  };
}

/** Whether a process works in the folder now. Changes nothing there. */
export function isFolderLocked(folder: string): boolean {
  const file = join(folder, LOCK_FILE);
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

/** SQLITE_BUSY, whatever its finer code says. */
const isBusy = (error: unknown) => ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;
