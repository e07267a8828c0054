import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const PAGES = 300;
const folder = temporaryFolder();
let site: Site;
let nextHost = 0;
beforeAll(async () => {
  site = await startSite({ pages: PAGES, log: 'counts' });
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

/** A crawl of the large site on a host of its own, into a folder of its own. */
function crawlArgs(name: string, ...more: string[]): { out: string; args: string[]; host: string } {
  const host = site.hostUrl(nextHost++);
  const out = folder.path(name);
  const args = ['crawl', `${host}/big/`, '--out', out, '--allow-private', '--sitemap', 'skip', ...more];
  return { out, args, host };
}

const urlsOf = (out: string) => readPages(out).map(({ url }) => new URL(url).pathname);
const allUrls = Array.from({ length: PAGES }, (_, page) => (page === 0 ? '/big/' : `/big/${page}`)).sort();

describe('crawl', () => {
  it('writes every page and a report, and prints the report last', async () => {
    const { out, args } = crawlArgs('whole', '--rate', 'unlimited', '--json');
    const { exitCode, stdout } = await runCommand(args);
    expect(exitCode).toBe(0);
    expect(urlsOf(out).sort()).toEqual(allUrls);
    const [page] = readPages(out);
    expect(page).toMatchObject({ statusCode: 200, contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(page?.metadata?.title).toBe(page?.title);
    expect(page?.links.length).toBeGreaterThan(10);
    const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(report).toMatchObject({
      pages: PAGES,
      failed: 0,
      status: 'completed',
      stopReason: null,
      left: 0,
      runs: 1,
    });
    expect(report.durationMs).toBeGreaterThan(0);
    expect(readReport(out)).toEqual(report);
  });

  it('names the folder after the host when it is not told', async () => {
    const { host } = crawlArgs('unused');
    const args = [
      'crawl',
      `${host}/big/`,
      '--allow-private',
      '--max-depth',
      '0',
      '--sitemap',
      'skip',
      '--quiet',
    ];
    const { stderr } = await runCommand(args, { cwd: folder.path('.') });
    expect(stderr).toBe('');
    expect(readPages(folder.path(`crawl-${new URL(host).host.replace(':', '-')}`))).toHaveLength(1);
  });

  it('adds bodies and text when asked', async () => {
    const { out, args } = crawlArgs('bodies', '--max-depth', '0', '--format', 'rawHtml,text');
    await runCommand(args);
    expect(readPages(out)[0]?.rawHtml).toMatch(/^<!doctype html>/i);
    expect(readPages(out)[0]?.text).not.toBe('');
  });

  it('has a line with the reason for each URL that failed, and says so by its exit code', async () => {
    const { out, args, host } = crawlArgs('partly', '--max-depth', '0');
    const { exitCode, stdout, stderr } = await runCommand([...args, `${host}/nowhere`]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('Failed with HTTP_ERROR (1).');
    expect(stdout).toContain('partially completed: 1 page, 1 failed');
    const failed = readPages(out).find(({ url }) => url === `${host}/nowhere`);
    expect(failed).toMatchObject({ statusCode: 404, error: { code: 'HTTP_ERROR' } });
  });

  it('has one also for a URL that was refused before it was asked for', async () => {
    const { args } = crawlArgs('address');
    const { exitCode, stderr } = await runCommand(args.filter((arg) => arg !== '--allow-private'));
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/^Failed with ADDRESS_REFUSED \(1\)\.$/m);
    expect(stderr).toMatch(/^ {2}http\S+\/big\/: The address of \S+ is private /m);
  });

  it('does not touch a folder that has a crawl already', async () => {
    const { out, args } = crawlArgs('taken', '--max-depth', '0');
    await runCommand(args);
    const before = readFileSync(join(out, 'pages.ndjson'), 'utf8');
    const { exitCode, stderr } = await runCommand(args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error INVALID_USAGE: .* already has a crawl\. .*--resume/);
    expect(readFileSync(join(out, 'pages.ndjson'), 'utf8')).toBe(before);
  });

  it('writes its pages whole when their file was removed meanwhile', async () => {
    const { out, args } = crawlArgs('removed', '--rate', '20', '--max-pages', '100');
    const running = startCommand(args);
    await untilPages(out, 5);
    rmSync(join(out, 'pages.ndjson'));
    expect((await running.ended).exitCode).toBe(0);
    expect(readPages(out)).toHaveLength(100);
  });

  it('makes nothing when the command is wrong', async () => {
    const out = folder.path('nothing');
    for (const args of [
      ['crawl', 'nonsense'],
      ['crawl', 'https://example.com/', '--engine', 'http', '--scroll'],
      ['crawl', 'https://example.com/', '--proxy', 'nonsense'],
      ['crawl', 'https://example.com/', '--actions', folder.path('no-such.yaml')],
    ]) {
      expect((await runCommand([...args, '--out', out])).exitCode).toBe(2);
    }
    expect(existsSync(out)).toBe(false);
  });

  it('says what is wrong with a folder it cannot use', async () => {
    writeFileSync(folder.path('file'), '');
    for (const out of [folder.path('file'), '/proc/scrapifie']) {
      const { exitCode, stderr } = await runCommand(crawlArgs('unused', '--out', out).args);
      expect(exitCode).toBe(5);
      expect(stderr).toMatch(/^error DATA_DIR_UNUSABLE: /);
    }
  });

  it('crawls what robots.txt forbids only when the person says so', async () => {
    const url = site.urlOf('robots-all', '/big/');
    const args = ['crawl', url, '--allow-private', '--max-depth', '0', '--sitemap', 'skip'];
    const obeyed = await runCommand([...args, '--out', folder.path('obeyed')]);
    expect(obeyed.exitCode).toBe(4);
    expect(readReport(folder.path('obeyed'))).toMatchObject({ pages: 0, denied: 1 });
    const ignored = await runCommand([...args, '--out', folder.path('ignored'), '--no-robots']);
    expect(ignored.exitCode).toBe(0);
    expect(readReport(folder.path('ignored'))).toMatchObject({ pages: 1, denied: 0 });
  });
});

describe('crawl --resume', () => {
  it('goes on after kill -9 to the same pages, none twice and none missing', async () => {
    const { out, args, host } = crawlArgs('killed', '--rate', '120');
    const first = startCommand(args);
    await untilPages(out, 20);
    first.child.kill('SIGKILL');
    await first.ended;
    // What a crash may leave behind.
    writeFileSync(join(out, 'pages.ndjson'), '{"url":"half a li', { flag: 'a' });
    const { exitCode, stderr } = await runCommand([...args, '--resume']);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/Going on in .*: \d+ pages are there/);
    expect(urlsOf(out).sort()).toEqual(allUrls);
    expect(readReport(out)).toMatchObject({ pages: PAGES, failed: 0, status: 'completed', runs: 2 });
    for (const path of allUrls) expect(site.countOf(`${host}${path}`)).toBeLessThanOrEqual(2);
  });

  it('goes on after Ctrl-C, and after its terminal was closed, which both end cleanly with 130', async () => {
    const { out, args, host } = crawlArgs('interrupted', '--rate', '120');
    const first = startCommand(args);
    await untilPages(out, 20);
    first.child.kill('SIGINT');
    const { exitCode, stderr } = await first.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('--resume goes on');
    const report = readReport(out);
    expect(report).toMatchObject({ status: 'running', stopReason: 'interrupted' });
    expect(urlsOf(out)).toHaveLength(Number(report.pages));
    const second = startCommand([...args, '--resume']);
    await untilPages(out, Number(report.pages) + 10);
    second.child.kill('SIGHUP');
    expect((await second.ended).exitCode).toBe(130);
    expect((await runCommand([...args, '--resume'])).exitCode).toBe(0);
    expect(urlsOf(out).sort()).toEqual(allUrls);
    // Pages under way were finished, so none was asked for again.
    for (const path of allUrls) expect(site.countOf(`${host}${path}`)).toBe(1);
  });

  it('goes on with a higher limit, and says when there is nothing to do', async () => {
    const { out, args, host } = crawlArgs('budget', '--rate', 'unlimited');
    const resume = [...args, '--resume', '--max-pages'];
    expect((await runCommand([...args, '--max-pages', '40'])).exitCode).toBe(0);
    expect(readReport(out)).toMatchObject({ pages: 40, stopReason: 'budget.pages' });
    const same = await runCommand([...resume, '40']);
    expect(same.stderr).toContain('a higher --max-pages goes on');
    expect(readReport(out)).toMatchObject({ pages: 40, runs: 1 });
    await runCommand([...resume, '90']);
    expect(readReport(out)).toMatchObject({ pages: 90, runs: 2 });
    await runCommand([...resume, 'none']);
    expect(urlsOf(out).sort()).toEqual(allUrls);
    expect((await runCommand([...resume, 'none'])).stderr).toContain('The crawl has finished');
    expect(urlsOf(out).sort()).toEqual(allUrls);
    for (const path of allUrls) expect(site.countOf(`${host}${path}`)).toBe(1);
  });

  it('takes a changed limit also when the last run was killed before it was reached', async () => {
    const { out, args } = crawlArgs('killed-budget', '--rate', '50');
    const first = startCommand(args);
    await untilPages(out, 10);
    first.child.kill('SIGKILL');
    await first.ended;
    await runCommand([...args, '--resume', '--max-pages', '100']);
    expect(readReport(out)).toMatchObject({ pages: 100, stopReason: 'budget.pages' });
  });

  it('needs no URL, and refuses options that differ from those of the crawl', async () => {
    const { out, args } = crawlArgs(
      'options',
      '--rate',
      'unlimited',
      '--max-pages',
      '5',
      '--exclude',
      '/big/9',
    );
    await runCommand(args);
    // How fast it goes is no part of the crawl, and may change with its limits.
    const changed = ['--max-pages', '9', '--rate', '50'];
    const bare = await runCommand(['crawl', '--out', out, '--resume', '--allow-private', ...changed]);
    expect(bare.exitCode).toBe(0);
    expect(readReport(out)).toMatchObject({ pages: 9 });
    for (const more of [['--include', '/x'], ['--no-robots'], ['--max-depth', '1']]) {
      const { exitCode, stderr } = await runCommand([...args, '--resume', ...more]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(new RegExp(`^error INVALID_USAGE: .*another value for ${more[0]}`));
    }
    const other = await runCommand([
      'crawl',
      `${site.url}/shop/`,
      '--out',
      out,
      '--resume',
      '--allow-private',
    ]);
    expect(other.stderr).toContain('another value for the start URLs');
  });

  it('remembers that private addresses are allowed, so that no URL fails for a flag that is not repeated', async () => {
    const { out, args } = crawlArgs('permitted', '--rate', 'unlimited', '--max-pages', '5');
    await runCommand(args);
    const { exitCode } = await runCommand(['crawl', '--out', out, '--resume', '--max-pages', '9']);
    expect(exitCode).toBe(0);
    expect(readReport(out)).toMatchObject({ pages: 9, failed: 0 });
    expect(readPages(out).filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('begins a crawl where there is none, so that one command serves both', async () => {
    const { out, args } = crawlArgs('fresh', '--max-depth', '0', '--resume');
    const { exitCode, stderr } = await runCommand(args);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('There is no crawl in');
    expect(readPages(out)).toHaveLength(1);
  });

  it('writes one line for a page that was tried again', async () => {
    const { out, host } = crawlArgs('again');
    const urls = [`${host}/nowhere`, `${host}/big/`];
    const args = ['crawl', ...urls, '--out', out, '--allow-private', '--max-depth', '0', '--sitemap', 'skip'];
    expect((await runCommand(args)).exitCode).toBe(3);
    const { jobId } = readReport(out);
    expect((await runCommand(['jobs', 'retry', String(jobId), '--data-dir', out])).exitCode).toBe(0);
    expect((await runCommand([...args, '--resume'])).exitCode).toBe(3);
    expect(readPages(out).map(({ url }) => url)).toHaveLength(2);
    expect(site.countOf(`${host}/nowhere`)).toBe(2);
  });

  it('records in the audit log that a job in a folder was tried again or cancelled', async () => {
    const { out, host } = crawlArgs('audited');
    const args = ['crawl', `${host}/nowhere`, '--out', out, '--allow-private', '--sitemap', 'skip'];
    await runCommand(args);
    const id = String(readReport(out).jobId);
    expect((await runCommand(['jobs', 'retry', id, '--data-dir', out])).exitCode).toBe(0);
    expect((await runCommand(['jobs', 'cancel', id, '--data-dir', out])).exitCode).toBe(0);
    const { stdout } = await runCommand(['audit', 'list', '--data-dir', out, '--json']);
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const ofJob = entries.filter(({ target }) => target === id).map(({ action }) => action);
    expect(ofJob.slice(0, 2)).toEqual(['job.cancel', 'job.retry']);
  });
});

describe('cleanup', () => {
  it('removes the bodies that no page refers to, after it has said which', async () => {
    const { out, args } = crawlArgs('cleaned', '--rate', 'unlimited', '--max-pages', '30');
    await runCommand(args);
    const cleanup = async (...more: string[]) => {
      const { exitCode, stdout } = await runCommand(['cleanup', '--data-dir', out, '--json', ...more]);
      expect(exitCode).toBe(0);
      return JSON.parse(stdout);
    };
    const nothing = { objects: 0, bytes: 0 };
    const before = await cleanup();
    expect(before).toMatchObject({ removed: nothing, expired: nothing });
    const database = new DatabaseSync(join(out, '.scrapifie', 'scrapifie.db'));
    const { count } = database.prepare('SELECT count(DISTINCT content_hash) AS count FROM pages').get() ?? {};
    expect(before.found.objects).toBe(count);
    database.exec('DELETE FROM pages');
    database.close();
    expect(await cleanup('--dry-run')).toEqual({ ...before, removed: before.found });
    const told = await runCommand(['cleanup', '--data-dir', out]);
    expect(told.stdout).toContain(`removed, bodies without references  `);
    expect(told.stdout).toContain(`${count} objects`);
    expect(await cleanup()).toMatchObject({ found: nothing, removed: nothing, expired: nothing });
  });
});

describe('jobs and export', () => {
  it('work on the folder of a crawl', async () => {
    const { out, args } = crawlArgs('exported', '--rate', 'unlimited', '--max-pages', '30');
    await runCommand(args);
    const at = ['--data-dir', out];
    const listed = await runCommand(['jobs', 'list', '--json', ...at]);
    const { id } = JSON.parse(listed.stdout);
    const urls = await runCommand(['jobs', 'urls', id, '--state', 'done', ...at]);
    expect(urls.stdout.trim().split('\n')).toHaveLength(30);
    expect((await runCommand(['jobs', 'errors', id, ...at])).stdout).toBe('');
    const { stdout: shown } = await runCommand(['jobs', 'show', id, ...at]);
    expect(shown).toMatch(/^pages +\d+ pages?, [\d.]+ (?:B|kB)$/m);
    expect(shown).toMatch(/^URLs +\d+ known, \d+ done/m);
    expect(shown).toMatch(/^finished +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, after [\d.]+ s$/m);
    expect(shown).not.toMatch(/browserMs|proxyBytes|_/);
    expect((await runCommand(['jobs', 'show', 'nope', ...at])).stderr).toMatch(/^error NOT_FOUND: /);
    const ndjson = await runCommand(['export', id, ...at]);
    expect(
      ndjson.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).url)
        .sort(),
    ).toEqual(
      readPages(out)
        .map(({ url }) => url)
        .sort(),
    );
    const json = await runCommand(['export', 'latest', '--format', 'json', ...at]);
    expect(JSON.parse(json.stdout)).toHaveLength(30);
    const file = folder.path('pages.csv');
    expect((await runCommand(['export', 'latest', '--format', 'csv', '--out', file, ...at])).exitCode).toBe(
      0,
    );
    expect(readFileSync(file, 'utf8').split('\r\n')).toHaveLength(32);
  });

  it('cancel a crawl that is running, from another process', async () => {
    const { out, args } = crawlArgs('cancelled', '--rate', '60');
    const running = startCommand(args);
    await untilPages(out, 5);
    await runCommand(['jobs', 'cancel', String(readReport(out).jobId), '--data-dir', out]);
    const { exitCode, stderr } = await running.ended;
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/error CANCELLED: /);
    expect((await runCommand([...args, '--resume'])).exitCode).toBe(0);
    expect(urlsOf(out).sort()).toEqual(allUrls);
  });

  it('leaves nothing behind when all of it is refused before the first request, and the folder can be used again', async () => {
    const { out, args } = crawlArgs('refused', '--max-depth', '0', '--rate', 'unlimited');
    const refused = await runCommand(args.filter((arg) => arg !== '--allow-private'));
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain('ADDRESS_REFUSED');
    expect(refused.stderr).toContain('--allow-private');
    expect(existsSync(out)).toBe(false);
    const env = { SCRAPIFIE_BROWSER_PATH: folder.path('no-browser') };
    const wrong = await runCommand([...args, '--engine', 'browser'], { env });
    expect(wrong.exitCode).not.toBe(0);
    expect(existsSync(out)).toBe(false);
    expect((await runCommand(args)).exitCode).toBe(0);
    expect(readPages(out)).toHaveLength(1);
  });

  it('keeps the other files of its folder when it is refused', async () => {
    const { out, args } = crawlArgs('refused-beside', '--max-depth', '0');
    mkdirSync(out);
    writeFileSync(join(out, 'notes.txt'), 'mine');
    await runCommand(args.filter((arg) => arg !== '--allow-private'));
    expect(readdirSync(out)).toEqual(['notes.txt']);
  });
});
