import { lstatSync, type Stats } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCK_FILE, lockFolder } from '../drivers/store-sqlite/folder-lock.ts';

/** A process that has just made its lock file has not yet locked it. */
const LEAST_AGE_MS = 60_000;

/**
 * Removes the data folders in `parent` whose names begin with `prefix` and whose process has ended without removing
 * them. Only folders of this user with a lock file that no process holds; symbolic links are not followed. A folder that
 * cannot be removed stays.
 */
export async function removeAbandonedFolders(parent: string, prefix: string, now: number): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const folder = join(parent, name);
    if (!name.startsWith(prefix) || !isCandidate(folder, now)) continue;
    try {
      const unlock = lockFolder(folder);
      try {
        await rm(folder, { recursive: true, force: true });
      } finally {
        unlock();
      }
    } catch {
      // Another process works there, or removes it at this moment.
    }
  }
}

function isCandidate(folder: string, now: number): boolean {
  const [made, lock] = [statOf(folder), statOf(join(folder, LOCK_FILE))];
  if (made === undefined || lock === undefined || !made.isDirectory() || !lock.isFile()) return false;
  const isOwn = process.getuid === undefined || made.uid === process.getuid();
  return isOwn && now - lock.mtimeMs >= LEAST_AGE_MS;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
