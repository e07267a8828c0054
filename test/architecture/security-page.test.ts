import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const fileOf = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const read = (path: string): string => readFileSync(fileOf(path), 'utf8');
const page = read('docs/security.md');
const TEST_FILE = /`((?:src|test)\/[\w./-]+\.test\.ts)`/g;

const rows = page
  .slice(page.indexOf('## OWASP ASVS'))
  .split('\n')
  .filter((line) => /^\| V\d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, ids = '', , state = '', why = '']) => ({ ids, state, why }));

describe('docs/security.md', () => {
  it('names only tests that exist', () => {
    const named = [...page.matchAll(TEST_FILE)].map(([, file = '']) => file);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((file) => !existsSync(fileOf(file)))).toEqual([]);
  });

  it.each(rows)('$ids is met with a test, or says why not', ({ state, why }) => {
    expect(['met', 'not met', 'n/a']).toContain(state);
    if (state === 'met') expect(why).toMatch(TEST_FILE);
    else expect(why).not.toBe('');
  });

  it('has every chapter of ASVS', () => {
    const chapters = new Set(rows.flatMap(({ ids }) => ids.match(/\bV\d+/g) ?? []));
    expect([...chapters].sort()).toEqual(Array.from({ length: 14 }, (_, n) => `V${n + 1}`).sort());
  });

  it('is read by those who look for it', () => {
    expect(read('README.md')).toContain('docs/security.md');
  });

  it('unused code fails make lint', () => {
    expect(read('Makefile')).toMatch(/^lint:[\s\S]*?knip/m);
  });
});
