import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endCommands, readPages, readReport, runCommand, temporaryFolder } from './cli-command.ts';
import { type GuardedSite, PASSWORD, PRIVATE_PAGES, startGuardedSite, USER } from './guarded-site.ts';

const LIMIT_MS = 120_000;
const folder = temporaryFolder();
const env = { SCRAPIFIE_DATA_DIR: folder.path('data') };
let site: GuardedSite;

const run = (args: readonly string[], input?: string) =>
  runCommand(args, { cwd: folder.path('.'), env, ...(input === undefined ? {} : { input }) });
const crawl = (out: string, ...more: string[]) =>
  run([
    'crawl',
    `${site.origin}/private/`,
    '--out',
    out,
    '--allow-private',
    '--rate',
    'unlimited',
    '--sitemap',
    'skip',
    ...more,
  ]);
const logIn = (...more: string[]) => run(['login', `${site.origin}/login`, '--allow-private', ...more]);

beforeAll(async () => {
  site = await startGuardedSite();
  const set = ['credentials', 'set', 'mine', '--kind', 'login', '--host', site.host, '--username', USER];
  expect(await run(set, `${PASSWORD}\n`)).toMatchObject({ exitCode: 0, stderr: '' });
}, LIMIT_MS);
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

describe('a session of the command line', () => {
  it(
    'is logged in by the form, and is the same for scrape and crawl',
    async () => {
      const done = await logIn('--session', 'me', '--credentials', 'mine');
      expect(done).toMatchObject({ exitCode: 0, stderr: '' });
      expect(done.stdout).toMatch(
        /^Session me is logged in at http:.*\/private\/: its form was sent\. It keeps 1 cookies/,
      );

      const scraped = await run(['scrape', `${site.origin}/private/4`, '--session', 'me', '--allow-private']);
      expect(JSON.parse(scraped.stdout)).toMatchObject({ title: 'Secret /private/4' });

      const crawled = await crawl('open', '--session', 'me');
      expect(crawled.exitCode).toBe(0);
      expect(readPages(folder.path('open')).map(({ title }) => title)).toContain('Secret /private/6');
      expect(readReport(folder.path('open'))).toMatchObject({ pages: PRIVATE_PAGES, status: 'completed' });

      const shown = await run(['sessions', 'show', 'me', '--json']);
      expect(JSON.parse(shown.stdout)).toMatchObject({ credentials: 'mine', cookies: [{ name: 'visitor' }] });
    },
    LIMIT_MS,
  );

  it(
    'is logged in by actions in a browser',
    async () => {
      const steps = [
        { type: 'type', selector: 'input[name=user]', text: '{{username}}' },
        { type: 'type', selector: 'input[name=secret]', text: '{{password}}' },
        { type: 'press', selector: 'input[name=secret]', key: 'Enter' },
        { type: 'wait', selector: 'a[href="/private/1"]' },
      ];
      writeFileSync(folder.path('steps.json'), JSON.stringify(steps));
      expect((await run(['sessions', 'create', 'stepwise', '--credentials', 'mine'])).exitCode).toBe(0);
      const done = await logIn('--session', 'stepwise', '--actions', 'steps.json', '--json');
      expect(done.stderr).toBe('');
      expect(JSON.parse(done.stdout)).toMatchObject({ method: 'actions', session: { name: 'stepwise' } });
      expect((await crawl('stepwise', '--session', 'stepwise')).exitCode).toBe(0);
      expect(readReport(folder.path('stepwise'))).toMatchObject({ pages: PRIVATE_PAGES });
    },
    LIMIT_MS,
  );

  it(
    'that has ended stops the crawl, which says what to do and goes on after the next log-in',
    async () => {
      const walled = `walled-${randomUUID()}`;
      expect((await logIn('--session', 'gone', '--credentials', 'mine')).exitCode).toBe(0);
      site.logOut();
      const stopped = await crawl(walled, '--session', 'gone', '--max-login-walls', '1');
      expect(stopped.exitCode, stopped.stderr).toBe(4);
      expect(stopped.stderr).toContain('Stopped (login-walls)');
      expect(stopped.stderr).toContain(`\n  ${site.origin}/private/\n`);
      expect(stopped.stderr).toContain(`scrapifie login ${site.origin}/private/ --session gone`);
      expect(readReport(folder.path(walled))).toMatchObject({ stopReason: 'login-walls', pages: 0 });
      expect(readPages(folder.path(walled))).toMatchObject([{ error: { code: 'LOGIN_REQUIRED' } }]);

      await logIn('--session', 'gone');
      expect((await crawl(walled, '--resume')).exitCode).toBe(0);
      expect(readReport(folder.path(walled))).toMatchObject({ stopReason: null, pages: PRIVATE_PAGES });
    },
    LIMIT_MS,
  );

  it('is begun by a crawl that names one which is not there, and the crawl says so', async () => {
    const done = await crawl('empty', '--session', 'unknown');
    expect(done.exitCode).toBe(4);
    expect(done.stderr).toContain('There is no session "unknown" yet');
    expect(done.stderr).toContain(`The site asks to log in on these pages:\n  ${site.origin}/private/\n`);
    expect((await run(['sessions', 'list'])).stdout).toContain('unknown');
  });

  it('is told how to log in, or is refused', async () => {
    const nothing = await logIn('--session', 'new');
    expect([nothing.exitCode, nothing.stderr]).toEqual([2, expect.stringContaining('Say how to log in')]);
    const unknown = await logIn('--session', 'new', '--credentials', 'missing');
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('no credentials "missing"'),
    ]);
  });
});
