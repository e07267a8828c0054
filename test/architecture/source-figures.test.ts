import { describe, expect, it } from 'vitest';
import { longFunctionsOf, measureSources } from '../../scripts/source-figures.ts';
import { readSources } from './sources.ts';

const figures = measureSources();

describe('the figures of the sources', () => {
  it('count the files that ship', () => {
    expect(figures.files).toBe(readSources().length);
    expect(figures.topFolders).toContain('crawl');
    expect(figures.topFolders.length).toBeLessThanOrEqual(12);
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
  ] as const)('say that one more %s is edited in %d files at most', (what, most) => {
    const paths = figures.naming[what];
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.length, paths.join('\n')).toBeLessThanOrEqual(most);
  });
});
