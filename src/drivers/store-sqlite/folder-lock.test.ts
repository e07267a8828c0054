import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { isFolderLocked, lockFolder } from './folder-lock.ts';

const HOLDER = fileURLToPath(new URL('./folder-lock.fixture.ts', import.meta.url));

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-lock-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Locks the folder, if that works, and gives it back; else the code. */
function tryLock(dir: string): string {
  try {
    lockFolder(dir)();
    return 'locked';
  } catch (error) {
    return isScrapifieError(error) ? error.code : String(error);
  }
}

async function holder(dir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLDER, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    child.stdout?.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`The holder ended with ${code}.`)));
  });
  return child;
}

const killed = (child: ChildProcess) =>
  new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGKILL');
  });

describe('the lock on a data folder', () => {
  it('is had once, also within one process', () => {
    const dir = folder();
    const unlock = lockFolder(dir);
    expect(tryLock(dir)).toBe('DATA_DIR_LOCKED');
    expect(isFolderLocked(dir)).toBe(true);
    unlock();
    expect(isFolderLocked(dir)).toBe(false);
    expect(tryLock(dir)).toBe('locked');
  });

  it('does not concern other folders', () => {
    const unlock = lockFolder(folder());
    expect(tryLock(folder())).toBe('locked');
    unlock();
  });

  it('of another process is respected, and free the moment that process is killed', async () => {
    const dir = folder();
    const child = await holder(dir);
    expect(tryLock(dir)).toBe('DATA_DIR_LOCKED');
    expect(isFolderLocked(dir)).toBe(true);
    await killed(child);
    expect(isFolderLocked(dir)).toBe(false);
    expect(tryLock(dir)).toBe('locked');
  });

  it('names the folder when it is refused', () => {
    const dir = folder();
    const unlock = lockFolder(dir);
    expect(() => lockFolder(dir)).toThrow(dir);
    unlock();
  });

  it('is looked for without making its file', () => {
    const dir = folder();
    expect(isFolderLocked(dir)).toBe(false);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('cannot be had in a folder that is not there', () => {
    expect(tryLock(join(folder(), 'missing'))).toBe('DATA_DIR_UNUSABLE');
  });

  it('cannot be had where the lock file is something else', () => {
    const dir = folder();
    writeFileSync(join(dir, 'scrapifie.lock'), 'x'.repeat(4_096));
    expect(tryLock(dir)).toBe('DATA_DIR_UNUSABLE');
  });
});
