import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entriesWithoutIntegrity, type LockFile, missingEntries } from '../../scripts/lock-file.ts';

const folders = ['.', 'bench', 'dashboard', 'test/openapi', 'test/mcp'].filter((folder) =>
  existsSync(lockOf(folder)),
);

function lockOf(folder: string): URL {
  return new URL(`../../${folder}/package-lock.json`, import.meta.url);
}

describe('package-lock.json', () => {
  it.each(folders)('in %s can be installed on every platform', (folder) => {
    const lock: LockFile = JSON.parse(readFileSync(lockOf(folder), 'utf8'));
    const missing = Object.keys(missingEntries(lock));
    expect(missing, `run: node scripts/complete-lock.ts ${folder}`).toEqual([]);
  });

  it.each(folders)(
    'in %s has the integrity of every package, but for those that are known to lack it',
    (folder) => {
      const lock: LockFile = JSON.parse(readFileSync(lockOf(folder), 'utf8'));
      const known: string[] = JSON.parse(
        readFileSync(new URL('../../scripts/lock-gaps.json', import.meta.url), 'utf8'),
      );
      const without = entriesWithoutIntegrity(lock);
      const shared = without.filter((each) => known.includes(each));
      expect(without, 'run: node scripts/complete-lock.ts').toEqual(folder === '.' ? known : shared);
    },
  );

  it.each(folders)('in %s brings no install script that would have to run', (folder) => {
    const settings = readFileSync(new URL(`../../${folder}/.npmrc`, import.meta.url), 'utf8');
    expect(settings.split('\n')).toContain('ignore-scripts=true');
  });

  it.each(folders)('in %s names no registry', (folder) => {
    expect(readFileSync(lockOf(folder), 'utf8')).not.toContain('"resolved"');
  });

  it('would be found incomplete', () => {
    const optionalDependencies = { 'a-linux-x64': '1.0.0', '@b/c-win32-arm64-msvc': '1.0.0', d: '1.0.0' };
    const lock = { packages: { 'node_modules/a': { dev: true, optionalDependencies } } };
    expect(missingEntries(lock)).toEqual({
      'node_modules/a-linux-x64': {
        ...{ version: '1.0.0', cpu: ['x64'], dev: true, libc: ['glibc'], optional: true, os: ['linux'] },
      },
      'node_modules/@b/c-win32-arm64-msvc': {
        ...{ version: '1.0.0', cpu: ['arm64'], dev: true, optional: true, os: ['win32'] },
      },
    });
  });
});
