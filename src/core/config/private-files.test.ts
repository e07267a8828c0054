import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, makePrivateFile, tightenFolder } from './private-files.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-private-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
let folders = 0;

/** A data folder as earlier versions left it: every user of the machine may read it. */
function openFolder(): string {
  folders += 1;
  const folder = join(dir, `data-${folders}`);
  mkdirSync(join(folder, 'blobs'), { recursive: true });
  for (const name of ['scrapifie.db', 'scrapifie.db-wal', 'vault.key', 'blobs/index.db']) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o644);
  }
  for (const path of [folder, join(folder, 'blobs')]) chmodSync(path, 0o755);
  return folder;
}

describe('files of the data folder', () => {
  it('are for one user from the start', () => {
    const folder = join(dir, 'above', 'new');
    makeFolder(folder);
    expect(modeOf(folder)).toBe('700');
    makePrivateFile(join(folder, 'scrapifie.db'));
    expect(modeOf(join(folder, 'scrapifie.db'))).toBe('600');
  });

  it('lose the rights of other users when they are found with them', () => {
    const folder = openFolder();
    expect(tightenFolder(folder)).toEqual([]);
    expect([folder, join(folder, 'blobs')].map(modeOf)).toEqual(['700', '700']);
    const files = ['scrapifie.db', 'scrapifie.db-wal', 'vault.key', 'blobs/index.db'];
    expect(files.map((name) => modeOf(join(folder, name)))).toEqual(files.map(() => '600'));
  });

  it('are tightened in a folder with other files, which stays as it is and is named', () => {
    const folder = openFolder();
    writeFileSync(join(folder, 'letters.txt'), '');
    chmodSync(join(folder, 'letters.txt'), 0o644);
    expect(tightenFolder(folder)).toEqual([expect.stringContaining(folder)]);
    expect(modeOf(folder)).toBe('755');
    expect(modeOf(join(folder, 'letters.txt'))).toBe('644');
    expect(modeOf(join(folder, 'scrapifie.db'))).toBe('600');
  });
});
