import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endCommands,
  originOf,
  readPages,
  readReport,
  runCommand,
  startCommand,
  temporaryFolder,
} from './cli-command.ts';
import { type GuardedSite, PASSWORD, PRIVATE_PAGES, startGuardedSite, USER } from './guarded-site.ts';

const LIMIT_MS = 120_000;
const KEY = 'a-key-that-is-long-enough';
const folder = temporaryFolder();
let site: GuardedSite;
let api: string;

beforeAll(async () => {
  site = await startGuardedSite();
  const server = startCommand(
    ['serve', '--port', '0', '--allow-private', '--data-dir', folder.path('server')],
    {
      cwd: folder.path('.'),
      env: { SCRAPIFIE_API_KEY: KEY, SCRAPIFIE_CONTACT: 'mailto:me@example.com' },
    },
  );
  api = await originOf(server);
}, LIMIT_MS);
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
}, LIMIT_MS);

const remote = (args: readonly string[], input?: string) =>
  runCommand([...args, '--api', api], {
    cwd: folder.path('.'),
    env: { SCRAPIFIE_API_KEY: KEY },
    ...(input === undefined ? {} : { input }),
  });
const local = (args: readonly string[]) => runCommand(args, { cwd: folder.path('.') });

describe('the command line with a server', () => {
  it(
    'stores credentials, logs in, crawls what is behind it and exports it',
    async () => {
      const set = ['credentials', 'set', 'mine', '--kind', 'login', '--host', site.host, '--username', USER];
      expect(await remote(set, PASSWORD)).toMatchObject({ exitCode: 0, stderr: '' });
      const done = await remote([
        'login',
        `${site.origin}/login`,
        '--session',
        'me',
        '--credentials',
        'mine',
      ]);
      expect(done).toMatchObject({ exitCode: 0, stderr: '' });
      const crawled = await remote([
        ...['crawl', `${site.origin}/private/`, '--session', 'me', '--sitemap', 'skip'],
        ...['--out', 'there', '--json', '--quiet', '--format', 'metadata,text'],
      ]);
      expect(crawled).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(crawled.stdout)).toMatchObject({ status: 'completed', pages: PRIVATE_PAGES });
      expect(readReport(folder.path('there'))).toMatchObject({ pages: PRIVATE_PAGES, runs: 1 });
      const pages = readPages(folder.path('there'));
      expect(pages.map(({ title }) => title)).toContain('Secret /private/5');
      expect(pages[0]?.text).toContain('Some words of this page.');

      const jobs = (await remote(['jobs', 'list', '--json'])).stdout.trim().split('\n');
      expect(JSON.parse(jobs[0] ?? '')).toMatchObject({ kind: 'crawl', progress: { pages: PRIVATE_PAGES } });
      expect((await remote(['jobs', 'show', 'latest'])).stdout).toMatch(/^status +completed$/m);
      const watched = (await remote(['jobs', 'watch', 'latest'])).stdout;
      expect(watched.match(/^200 /gm)).toHaveLength(PRIVATE_PAGES);
      expect(watched.endsWith('The job has ended: completed.\n')).toBe(true);
      const inFolder = await local(['jobs', 'watch', 'latest', '--data-dir', folder.path('server')]);
      expect(inFolder).toMatchObject({ stdout: watched, exitCode: 0 });
      expect(
        (await remote(['jobs', 'urls', 'latest', '--state', 'done'])).stdout.trim().split('\n'),
      ).toHaveLength(PRIVATE_PAGES);
      const again = await remote(['reextract', 'latest', '--format', 'metadata', '--quiet']);
      expect(again.stdout.trim().split('\n')).toHaveLength(PRIVATE_PAGES);
      const csv = await remote(['export', 'latest', '--format', 'csv', '--text', '--out', 'pages.csv']);
      expect(csv).toMatchObject({ exitCode: 0, stderr: '' });
      const rows = readFileSync(folder.path('pages.csv'), 'utf8').split('\r\n');
      expect(rows[0]).toMatch(/,text$/);
      expect(rows[1]).toContain('Some words of this page.');
      expect((await remote(['sessions', 'show', 'me'])).stdout).toContain('visitor');
      // A command beside the server uses the sessions of its folder.
      const scrape = ['scrape', `${site.origin}/private/2`, '--session', 'me', '--allow-private'];
      const beside = await local([...scrape, '--data-dir', folder.path('server')]);
      expect(JSON.parse(beside.stdout)).toMatchObject({ title: 'Secret /private/2' });
      expect((await remote(['sessions', 'delete', 'me'])).stdout).toBe('Session me is deleted.\n');
    },
    LIMIT_MS,
  );

  it(
    'reads the audit log, policies, files and why of the server',
    async () => {
      await remote(['scrape', `${site.origin}/`, '--format', 'markdown']);
      const why = await remote(['why', `${site.origin}/`]);
      expect(why.stdout).toMatch(/^done in the scrape \S+ \(completed\)$/m);
      const audit = await remote(['audit', 'list', '--limit', '5', '--json']);
      expect(audit).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(audit.stdout.split('\n')[0] ?? '')).toMatchObject({ seq: expect.any(Number) });
      const verified = await remote(['audit', 'verify']);
      expect(verified.stdout).toMatch(/^\d+ entries are right\. The last one: \d+:[0-9a-f]{64}$/m);
      const policy = await remote(['policy', 'show', 'shop.example', '--json']);
      expect(JSON.parse(policy.stdout)).toMatchObject({ host: 'shop.example', file: api, denied: null });
      writeFileSync(
        folder.path('hat.html'),
        '<title>Hat</title><main><h1>Hat</h1><p>A hat of red wool for cold days.</p></main>',
      );
      const file = ['extract', 'hat.html', '--url', 'https://shop.example/', '--format', 'markdown'];
      expect(await remote(file)).toMatchObject({
        exitCode: 0,
        stdout: '# Hat\n\nA hat of red wool for cold days.\n',
      });
    },
    LIMIT_MS,
  );

  it('prints the same for a page and a map as without one', async () => {
    for (const args of [
      ['scrape', `${site.origin}/`, '--format', 'markdown'],
      ['map', `${site.origin}/`, '--titles'],
      ['map', `${site.origin}/`, '--include', '/private/*'],
      ['map', `${site.origin}/`, '--search', 'members'],
    ]) {
      const [near, far] = [await local([...args, '--allow-private']), await remote(args)];
      expect(far, args.join(' ')).toEqual(near);
      expect(far.exitCode).toBe(0);
    }
    const { stdout } = await remote(['map', `${site.origin}/`, '--include', '/private/*']);
    expect(stdout).toBe(`${site.origin}/private/\n`);
  });

  it('ends with the codes of the same errors', async () => {
    const missing = await remote(['jobs', 'show', '01976f0a-0000-7000-8000-000000000000']);
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringMatching(/^error NOT_FOUND: /)]);
    const closed = await runCommand(['jobs', 'list', '--api', 'http://127.0.0.1:9']);
    expect([closed.exitCode, closed.stderr]).toEqual([5, expect.stringMatching(/^error API_UNREACHABLE: /)]);
    const wrong = await runCommand(['jobs', 'list', '--api', api, '--api-key', 'another-long-key-of-mine']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/^error UNAUTHENTICATED: /)]);
    const rate = await remote(['crawl', `${site.origin}/`, '--rate', '5', '--out', 'never']);
    expect([rate.exitCode, rate.stderr]).toEqual([
      2,
      expect.stringContaining('--rate cannot be asked of a server'),
    ]);
    expect(existsSync(folder.path('never'))).toBe(false);
  });

  it('is meant by SCRAPIFIE_API_URL too, and not where a folder is named', async () => {
    const env = { SCRAPIFIE_API_URL: api, SCRAPIFIE_API_KEY: KEY };
    expect((await runCommand(['jobs', 'list'], { env })).stdout).toContain('KIND');
    const named = await runCommand(['jobs', 'list', '--data-dir', folder.path('nothing')], { env });
    expect(named.stderr).toContain('DATA_DIR_UNUSABLE');
  });
});
