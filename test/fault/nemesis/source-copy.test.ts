import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linkEntries } from './source-copy.ts';

test('what empties the packages of a copy leaves those of the project', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-copy-'));
  try {
    const [tools, copy] = [join(dir, 'tools'), join(dir, 'copy')];
    await mkdir(join(tools, 'node_modules/a'), { recursive: true });
    await writeFile(join(tools, 'node_modules/a/index.js'), 'one');
    await linkEntries(tools, copy);
    expect(await readFile(join(copy, 'node_modules/a/index.js'), 'utf8')).toBe('one');
    for (const name of await readdir(join(copy, 'node_modules'))) {
      await rm(join(copy, 'node_modules', name), { recursive: true });
    }
    expect(existsSync(join(copy, 'node_modules/a'))).toBe(false);
    expect(await readFile(join(tools, 'node_modules/a/index.js'), 'utf8')).toBe('one');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
