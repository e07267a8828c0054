import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LOCK_FILE, lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import { removeAbandonedFolders } from './storage.ts';

const HOUR_MS = 3_600_000;

function parent(): string {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-abandoned-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A data folder of a process that was killed: the lock file is there, and no process holds it. */
function dataFolder(path: string): string {
  mkdirSync(join(path, 'blobs'), { recursive: true });
  writeFileSync(join(path, 'vault.key'), 'secret');
  lockFolder(path)();
  return path;
}

it('removes data folders whose process was killed, and no other folder', async () => {
  const dir = parent();
  const abandoned = dataFolder(join(dir, 'once-a'));
  const used = dataFolder(join(dir, 'once-b'));
  const unlock = lockFolder(used);
  const otherName = dataFolder(join(dir, 'server'));
  const unlocked = join(dir, 'once-c');
  mkdirSync(unlocked);
  writeFileSync(join(dir, 'once-d'), 'a file');
  symlinkSync(otherName, join(dir, 'once-e'));
  const linked = join(dir, 'once-f');
  mkdirSync(linked);
  symlinkSync(join(otherName, LOCK_FILE), join(linked, LOCK_FILE));

  await removeAbandonedFolders(dir, 'once-', Date.now() + HOUR_MS);
  expect(existsSync(abandoned)).toBe(false);
  for (const kept of [used, otherName, unlocked, join(dir, 'once-d'), join(dir, 'once-e'), linked]) {
    expect([kept, existsSync(kept)]).toEqual([kept, true]);
  }
  expect(existsSync(join(otherName, 'vault.key'))).toBe(true);
  unlock();
});

it('leaves a folder alone whose lock file was made just now', async () => {
  const dir = parent();
  const fresh = dataFolder(join(dir, 'once-a'));
  await removeAbandonedFolders(dir, 'once-', Date.now());
  expect(existsSync(fresh)).toBe(true);
});

it('does nothing where there is no such folder', async () => {
  await expect(removeAbandonedFolders(join(parent(), 'missing'), 'once-', 0)).resolves.toBeUndefined();
});
