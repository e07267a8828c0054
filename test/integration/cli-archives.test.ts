import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckedRecord, readWarc } from '../archives/warc-check.ts';
import { type Site, startSite } from '../site/site.ts';
import {
  endCommands,
  readPages,
  readReport,
  runCommand,
  startCommand,
  temporaryFolder,
  untilPages,
} from './cli-command.ts';

const PAGES = 150;
const folder = temporaryFolder();
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: PAGES, log: 'counts' });
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

/** Ways to one content: redirects, links of all kinds, sitemaps, charsets, pages that are not to be kept. */
const VARIED = ['/', '/links/*', '/redirects/*', '/charsets/*', '/encodings/*', '/sitemaps/*'];
const FORMATS = ['--format', 'metadata,links,markdown,text'];
/** Where two URLs lead to one page, the first to arrive has it. */
const IN_ORDER = ['--concurrency', '1'];
const scopeOf = (paths: readonly string[]) => paths.flatMap((path) => ['--include', path]);

/** Everything that is known of the pages but times, by URL. Which of two equal pages is the copy is a matter of time. */
function resultsOf(out: string): Record<string, unknown> {
  const entries = readPages(out).map((page) => {
    const { fetchedAt: _at, duplicateOf: _of, ...rest } = page as unknown as Record<string, unknown>;
    return [page.url, withoutCookieTimes(rest)] as const;
  });
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A cookie for a while ends later in a later crawl. */
const withoutCookieTimes = (page: Record<string, unknown>) =>
  JSON.parse(
    JSON.stringify(page, (name, value: unknown) => (name === 'expiresAt' ? undefined : value)),
  ) as unknown;

const pageFacts = (records: readonly CheckedRecord[]) =>
  records
    .filter(({ type }) => type === 'metadata')
    .map(({ payload }) => JSON.parse(String(payload)) as { url: string; isPage: boolean });

/** Two crawls of about a hundred pages, some of which wait for their time limit. */
const LIMIT_MS = 120_000;

describe('crawl --warc', () => {
  it(
    'records a crawl that a replay repeats without the site, byte for byte',
    async () => {
      const own = await startSite({ pages: 10, log: 'off' });
      const [out, again, warc] = [
        folder.path('varied'),
        folder.path('replayed'),
        folder.path('varied.warc.gz'),
      ];
      const args = [
        `${own.hostUrl(3)}/`,
        ...scopeOf(VARIED),
        ...FORMATS,
        '--timeout',
        '5s',
        '--json',
        ...IN_ORDER,
      ];
      const first = await runCommand([
        ...['crawl', ...args, '--out', out, '--warc', warc],
        ...['--allow-private', '--rate', 'unlimited'],
      ]);
      await own.close();
      expect(first.exitCode, first.stderr).toBeLessThanOrEqual(3);
      const records = await readWarc(warc);
      const types = new Set(records.map(({ type }) => type));
      for (const type of ['warcinfo', 'request', 'response', 'revisit', 'metadata'])
        expect(types).toContain(type);
      expect(records.some(({ url }) => url?.endsWith('/robots.txt'))).toBe(true);

      const second = await runCommand(['crawl', ...args, '--out', again, '--replay', warc]);
      expect(second.exitCode, second.stderr).toBe(first.exitCode);
      const results = resultsOf(out);
      expect(Object.keys(results).length).toBeGreaterThan(60);
      expect(resultsOf(again)).toEqual(results);
      const counts = ({ pages, failed, skipped, denied, known, status }: Record<string, unknown>) => [
        ...[pages, failed, skipped, denied, known, status],
      ];
      expect(counts(readReport(again))).toEqual(counts(readReport(out)));
    },
    LIMIT_MS,
  );

  it('leaves files that can be read after kill -9, and goes on with no page lost or twice', async () => {
    const [out, dir] = [folder.path('killed'), folder.path('killed-archive')];
    const args = [
      ...['crawl', `${site.hostUrl(4)}/big/`, '--out', out, '--allow-private', '--sitemap', 'skip'],
      ...['--warc', dir, '--warc-size', '100000'],
    ];
    for (const [least, rate] of [
      [20, '150'],
      [60, '150'],
    ] as const) {
      const crawl = startCommand([...args, '--rate', rate, ...(least === 20 ? [] : ['--resume'])]);
      await untilPages(out, least);
      crawl.child.kill('SIGKILL');
      await crawl.ended;
      for (const name of archivesIn(dir)) await readWarc(join(dir, name));
    }
    const last = await runCommand([...['crawl', '--out', out, '--resume', '--json']]);
    expect(last.exitCode, last.stderr).toBe(0);
    const files = archivesIn(dir);
    expect(files.length).toBeGreaterThan(1);
    expect(readdirSync(dir)).toEqual(files);
    const records = (await Promise.all(files.map((name) => readWarc(join(dir, name))))).flat();
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    const recorded = pageFacts(records)
      .filter(({ isPage }) => isPage)
      .map(({ url }) => url);
    expect(recorded.sort()).toEqual(
      readPages(out)
        .map(({ url }) => url)
        .sort(),
    );
    expect(recorded).toHaveLength(PAGES);
  });

  it('writes no header, cookie or body that may hold a log-in', async () => {
    const [out, warc] = [folder.path('secret'), folder.path('secret.warc.gz')];
    const secrets = ['s3cret-token', 's3cret-cookie', 's3cret-key'];
    const { exitCode, stderr } = await runCommand([
      ...['crawl', `${site.hostUrl(5)}/big/1`, '--max-depth', '0', '--out', out, '--warc', warc],
      ...[
        '--allow-private',
        '--header',
        `Authorization: Bearer ${secrets[0]}`,
        '--cookie',
        `id=${secrets[1]}`,
      ],
      ...['--header', `X-Api-Key: ${secrets[2]}`, '--header', 'Accept-Language: de'],
    ]);
    expect(exitCode, stderr).toBe(0);
    const records = await readWarc(warc);
    const text = records.map((each) => JSON.stringify(each) + String(each.payload)).join('\n');
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('accept-language');
  });

  it('refuses a file that is there, and another archive for a crawl that goes on', async () => {
    const taken = folder.path('taken.warc.gz');
    const start = ['crawl', `${site.hostUrl(6)}/big/1`, '--max-depth', '0', '--allow-private'];
    const out = folder.path('taken');
    const first = await runCommand([...start, '--out', out, '--warc', taken]);
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${taken}\n`) });
    const before = readFileSync(taken);
    const other = await runCommand([...start, '--out', folder.path('taken-2'), '--warc', taken]);
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is there already') });
    const moved = await runCommand(['crawl', '--out', out, '--resume', '--warc', folder.path('b.warc.gz')]);
    expect(moved).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(taken) });
    const web = await runCommand(['crawl', '--out', out, '--resume', '--replay', taken]);
    expect(web).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('from the web') });
    expect(readFileSync(taken).equals(before)).toBe(true);
  });
});

describe('--replay', () => {
  it('answers a scrape, and says what is not there', async () => {
    const warc = folder.path('taken.warc.gz');
    expect(existsSync(warc)).toBe(true);
    const url = `${site.hostUrl(6)}/big/1`;
    const before = site.countOf(url);
    const found = await runCommand(['scrape', url, '--format', 'markdown', '--replay', warc]);
    expect(found.exitCode, found.stderr).toBe(0);
    expect(site.countOf(url)).toBe(before);
    const missing = await runCommand(['scrape', `${site.hostUrl(6)}/big/2`, '--replay', warc]);
    expect(missing.stderr).toContain('NOT_IN_ARCHIVE');
    const none = await runCommand(['scrape', url, '--replay', folder.path('none.warc.gz')]);
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('BAD_ARCHIVE') });
  });
});

const archivesIn = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir)
        .filter((name) => name.endsWith('.warc.gz') && !name.startsWith('.'))
        .sort()
    : [];
