import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder } from './private-files.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-folder-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('a folder is made with those above it, and one that is there is fine', () => {
  const path = join(dir, 'a/b/c');
  makeFolder(path);
  makeFolder(path);
  expect(existsSync(path)).toBe(true);
});

it('what cannot be made is refused, and does not take for ever', () => {
  writeFileSync(join(dir, 'file'), '');
  for (const path of [join(dir, 'file'), join(dir, 'file/below'), '/proc/scrapifie/data']) {
    expect(() => makeFolder(path)).toThrow(expect.objectContaining({ code: 'DATA_DIR_UNUSABLE' }));
  }
});
