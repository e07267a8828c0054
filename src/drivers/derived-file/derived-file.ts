import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFile } from '../../core/config/private-files.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/**
 * A file of SQLite whose content is made of something else, so that one that is damaged need not stop anything: the call
 * that meets the damage puts a new file in its place and goes on with that. Threads and processes share the file; a call
 * that ends in a file which another one has replaced is made again, so nothing is written to a file that has no name.
 */
export interface DerivedFile<T> {
  /** Must be harmless when it is repeated. Calls within calls are part of the outer one. */
  run<R>(work: (file: T) => R): R;
  close(): void;
}

export interface OpenFile {
  /** `fileAt` its path when it was opened. */
  readonly file: string | null;
  close(): void;
}

export interface DerivedFileOptions<T extends OpenFile> {
  readonly path: string;
  /** What it is, at the beginning of a sentence: "The index of stored bodies". */
  readonly what: string;
  /** From what it is made again: "from the packs beside it". */
  readonly from: string;
  readonly open: () => T;
  /** Makes a new file at the path. */
  readonly make: (path: string) => void;
  /** Whether a file that is not there was there before. */
  readonly isLost: () => boolean;
  /** SQLite's results that mean damage beside a corrupt file and one that is no database. */
  readonly alsoDamage: readonly number[];
  /** Told with DATABASE_CORRUPT when the file was damaged and there is a new one. */
  readonly onRebuilt: (error: ScrapifieError) => void;
}

/** Damage that SQLite does not see: a value that no writer of this program can have stored. */
export class ImpossibleValue extends Error {}

/** SQLite's results for a file that is corrupt, and for one that is no database. */
const DAMAGED = [11, 26];
const SUFFIXES = ['-wal', '-shm', '-journal'];
const REBUILD_WAIT_MS = 600_000;

/** Names the file that has this path now; null when none has. */
export function fileAt(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

export function openDerivedFile<T extends OpenFile>(options: DerivedFileOptions<T>): DerivedFile<T> {
  const { path, what, from, open, make, isLost, alsoDamage, onRebuilt } = options;
  const damaged: ReadonlySet<number> = new Set([...DAMAGED, ...alsoDamage]);
  const isDamage = (error: unknown) => isDamaged(error, damaged);
  /** Null before the first call, and after a connection was given up until the next one is open. */
  let current: T | null = null;
  let depth = 0;
  const isInPlace = ({ file }: T) => fileAt(path) === file;

  const tell = (why: string) =>
    onRebuilt(
      new ScrapifieError(
        'DATABASE_CORRUPT',
        `${what} ${path} was damaged (${why}) and was made again ${from}. A file that was damaged is kept as ${path}.damaged and may be deleted. Look at the disk: files do not change by themselves.`,
      ),
    );
  const beyondRepair = (error: unknown) =>
    new ScrapifieError(
      'DATABASE_CORRUPT',
      `${what} ${path} is damaged (${(error as Error).message}), and was damaged again when it had been made ${from}. Move the folder to another disk and delete ${path}: it is made again at the next start.`,
      { cause: error },
    );

  function replace(): void {
    // Under a name of its own first: a process that ends meanwhile leaves no file that has half of the content.
    const made = `${path}.new`;
    for (const suffix of ['', ...SUFFIXES]) rmSync(made + suffix, { force: true });
    make(made);
    if (existsSync(path)) renameSync(path, `${path}.damaged`);
    for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
    renameSync(made, path);
  }

  /** `damaged` names the file that is not to be opened again; null: any file will do. */
  function openOrMake(damaged: string | null): T {
    const isThere = existsSync(path);
    if (isThere ? damaged !== null && fileAt(path) === damaged : isLost()) replace();
    try {
      return open();
    } catch (error) {
      if (!isDamage(error)) throw error;
      replace();
      tell((error as Error).message);
      return open();
    }
  }

  function opened(): T {
    current ??= lockedBy(path, () => openOrMake(null));
    return current;
  }

  function giveUp(): void {
    try {
      current?.close();
    } catch {
      // Closing copies the log into the file, which damage can prevent.
    }
    current = null;
  }

  return {
    run(work) {
      if (depth > 0) return work(opened());
      for (let rebuilds = 0; ; ) {
        const used = opened();
        let reason = 'another thread or process found it, or it was removed';
        depth += 1;
        try {
          const result = work(used);
          if (isInPlace(used)) return result;
          giveUp();
        } catch (error) {
          if (isInPlace(used) && !isDamage(error)) throw error;
          giveUp();
          if (fileAt(path) === used.file) {
            if (rebuilds > 0) throw beyondRepair(error);
            rebuilds += 1;
            reason = (error as Error).message;
            current = lockedBy(path, () => openOrMake(used.file));
          }
        } finally {
          depth -= 1;
        }
        opened();
        tell(reason);
      }
    },
    close: giveUp,
  };
}

/**
 * One opens or makes the file at a time, in all threads and processes: a log that one connection has begun would be taken
 * for that of a file which another one puts in its place.
 */
function lockedBy<R>(path: string, work: () => R): R {
  // SQLite's name for a database without a file.
  if (path === ':memory:') return work();
  makePrivateFile(`${path}.lock`);
  const lock = new DatabaseSync(`${path}.lock`, { timeout: REBUILD_WAIT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return work();
  } finally {
    lock.close();
  }
}

/** Values that SQLite hands over and JavaScript cannot hold are none that a writer stored either. */
function isDamaged(error: unknown, results: ReadonlySet<number>): boolean {
  if (error instanceof ImpossibleValue) return true;
  const { errcode, code } = error as { errcode?: number; code?: string };
  return errcode === undefined ? code === 'ERR_OUT_OF_RANGE' : results.has(errcode & 0xff);
}
