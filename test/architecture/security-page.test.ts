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

  it('lists every action that the program writes to the audit log', () => {
    const sources = [
      'src/api/api.ts',
      'src/api/access/failed-logins.ts',
      'src/api/routes/audit.ts',
      'src/api/routes/credentials.ts',
      'src/api/routes/domains.ts',
      'src/api/routes/job-pages.ts',
      'src/api/routes/jobs.ts',
      'src/api/routes/keys.ts',
      'src/api/access/accounts.ts',
      'src/api/routes/sessions.ts',
      'src/cli/crawl/crawl-start.ts',
      'src/cli/backend/fetcher.ts',
      'src/cli/commands/keys.ts',
      'src/cli/commands/serve-audit.ts',
      'src/attempts/use-audit.ts',
      'src/jobs/start-entries.ts',
    ];
    const actions = new Set(
      sources.flatMap((file) =>
        [...read(file).matchAll(/(?:action: |recorded\(request, |record\()'(\w+\.[\w-]+)'/g)].map(
          ([, each]) => each,
        ),
      ),
    );
    expect(actions.size).toBeGreaterThan(12);
    for (const action of actions) expect(page).toContain(`\`${action}\``);
  });

  it('is read by those who look for it', () => {
    expect(read('README.md')).toContain('docs/security.md');
  });

  it('unused code fails make lint', () => {
    expect(read('Makefile')).toMatch(/^lint:[\s\S]*?knip/m);
  });
});
