import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ScrapifieError } from '../errors/scrapifie-error.ts';

/** Readable by the user that the program runs as, and by no other. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
const FOR_OTHERS = 0o077;
const STICKY = 0o1000;

/** What this program puts into a data folder. */
const OWN_NAMES =
  /^(?:scrapifie\.(?:db|lock|reserve)(?:-wal|-shm|-journal)?|search\.db(?:\.lock|\.damaged)?(?:-wal|-shm|-journal)?|vault\.key(?:\.[0-9a-f]{12})?|api-key|sign-in-link|blobs|transit|lake|lake-cache|crawl\.log)$/;

/**
 * Makes the file with private rights unless it is there: programs such as SQLite make files that all users may read, and
 * give the files beside it the same rights. Errors are ignored here: opening the file will report them.
 */
export function makePrivateFile(path: string): void {
  // SQLite's name for a database without a file.
  if (path === ':memory:') return;
  try {
    // An existing file is not opened: closing it would end a lock that this process holds on it.
    closeSync(openSync(path, 'wx', PRIVATE_FILE));
  } catch {
    // The program that uses the file reports the problem, see above.
  }
}

/**
 * Takes the rights of other users away from a data folder and from the files that this program has in it, as far as they
 * belong to the user that it runs as. A folder that holds other things is not changed. Returns what other users can
 * still reach, and why.
 */
export function tightenFolder(folder: string): readonly string[] {
  const names = namesIn(folder);
  const own = names.filter((name) => OWN_NAMES.test(name)).map((name) => join(folder, name));
  const bodies = own.filter((path) => /[\\/](?:blobs|transit)$/.test(path));
  const files = bodies.flatMap((path) => namesIn(path).map((name) => join(path, name)));
  const problems = [...own, ...files].flatMap(tighten);
  const { mode } = statSync(folder);
  const isShared = own.length < names.length || (mode & STICKY) !== 0;
  if (!isShared) return [...problems, ...tighten(folder)];
  return (mode & FOR_OTHERS) === 0
    ? problems
    : [...problems, `${folder} holds other files too, so its rights were left as they are`];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function tighten(path: string): readonly string[] {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || (stat.mode & FOR_OTHERS) === 0) return [];
    const isOurs = process.getuid === undefined || stat.uid === process.getuid();
    if (!isOurs) return [`${path} belongs to another user`];
    chmodSync(path, stat.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE);
    return [];
  } catch (error) {
    return [`${path}: ${(error as Error).message}`];
  }
}

/**
 * Makes a folder, for this user alone, and those above it; one that is there is fine. Throws DATA_DIR_UNUSABLE. One folder at a time,
 * because Node.js' own recursive way never returns where the system makes no folders at all, such as /proc.
 */
export function makeFolder(path: string): void {
  try {
    const missing: string[] = [];
    for (let folder = path; !isThere(folder) && dirname(folder) !== folder; folder = dirname(folder)) {
      missing.push(folder);
    }
    for (const folder of missing.reverse()) makeOne(folder, folder === path);
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
  } catch (error) {
    const { message } = error as Error;
    throw new ScrapifieError('DATA_DIR_UNUSABLE', `The folder ${path} cannot be made: ${message}`, {
      cause: error,
    });
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makeOne(folder: string, isPrivate: boolean): void {
  try {
    mkdirSync(folder, isPrivate ? { mode: PRIVATE_FOLDER } : {});
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
