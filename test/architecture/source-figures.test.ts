import { describe, expect, it } from 'vitest';
import { longFunctionsOf, measureSources } from '../../scripts/source-figures.ts';
import { folderChanges } from '../../scripts/url-way.ts';
import { readSources } from './sources.ts';

const figures = measureSources();

describe('the figures of the sources', () => {
  it('count the files that ship', () => {
    expect(figures.files).toBe(readSources().length);
    expect(figures.topFolders).toContain('crawl');
    expect(figures.topFolders.length).toBeLessThanOrEqual(12);
  });

  it('count how often the way of a URL changes its top folder', () => {
    expect(figures.wayChanges.topFolders).toBeLessThanOrEqual(30);
    expect(figures.wayChanges.rooms).toBeLessThanOrEqual(60);
    expect(folderChanges(['src/a/b/x.ts', 'src/a/c/y.ts', 'src/a/z.ts', 'src/d/e.ts'], 1)).toBe(1);
    expect(folderChanges(['src/a/b/x.ts', 'src/a/c/y.ts', 'src/a/z.ts', 'src/d/e.ts'], 2)).toBe(3);
  });

  it('find functions of more than 200 lines by their names', () => {
    const body = '\n  call();'.repeat(220);
    const text = `const made = () => {${body}\n};\nfunction small() {}\nclass A { act() {${body}\n} }\n`;
    expect(longFunctionsOf({ path: 'a.ts', text })).toEqual([
      { path: 'a.ts', name: 'made', lines: 222 },
      { path: 'a.ts', name: 'act', lines: 222 },
    ]);
  });

  it.each([
    ['page option', 4],
    ['export format', 2],
    ['job kind', 12],
  ] as const)('say that one more %s is edited in %d files at most', (what, most) => {
    const paths = figures.naming[what];
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.length, paths.join('\n')).toBeLessThanOrEqual(most);
  });
});
