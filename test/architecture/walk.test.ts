import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8');
const walk = /<!-- the files of a URL -->([\s\S]*?)<!-- end -->/.exec(page)?.[1] ?? '';
const files = [...walk.matchAll(/`(src\/[\w./-]+)`/g)].map(([, path = '']) => path);
/** Paths in backticks anywhere on the page: below src, or below a folder of it. */
const named = [...page.matchAll(/`((?:src\/)?[a-z-]+\/[\w./-]+\.ts)`/g)].map(([, path = '']) => path);

describe('docs/architecture.md', () => {
  it('walks one URL through all steps, and names the files it passes', () => {
    expect(walk.match(/^\d+\. /gm)).toHaveLength(10);
    expect(files.length).toBeGreaterThan(30);
  });

  it('names only files that exist', () => {
    const exists = (path: string) =>
      existsSync(new URL(path, root)) || existsSync(new URL(`src/${path}`, root));
    expect([...files, ...named].filter((path) => !exists(path))).toEqual([]);
  });
});
