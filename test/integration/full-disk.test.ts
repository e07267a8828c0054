import { execFileSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { ContentHash } from '../../src/core/model/ids.ts';
import { type Site, startSite } from '../site/site.ts';
import { openApiWorld } from './api-world.ts';
import { openScraper, QUICK_POLICY } from './world.ts';

const PAGES = 300;
const DISK_BYTES = 48 * 1_048_576;
const FREE_BYTES = 900_000;
const LIMIT_MS = 60_000;
const WAIT = { timeout: 30_000, interval: 100 };

/** A disk that can be filled without harm; null where this machine does not let us have one. */
function mountDisk(dir: string): string | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', dir], { stdio: 'pipe' });
    return dir;
  } catch {
    return null;
  }
}

let dir: string;
let disk: string | null;
let site: Site;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-disk-'));
  disk = mountDisk(dir);
  site = await startSite({ pages: PAGES });
});
afterAll(async () => {
  if (disk !== null) execFileSync('umount', [disk], { stdio: 'pipe' });
  await rm(dir, { recursive: true, force: true });
  await site.close();
});

test(
  'a full disk stops the crawl and loses nothing, and with space the crawl goes on',
  async ({ skip }) => {
    if (disk === null) return skip('a small disk of its own needs the right to mount one');
    const scraper = await openScraper({ dataDir: disk, policy: QUICK_POLICY });
    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = statfsSync(disk);
    await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - FREE_BYTES)));
    const job = await scraper.crawl({ urls: [`${site.hostUrl(1)}/big/`], sitemap: 'skip' });
    await vi.waitFor(() => expect(scraper.warnings.join('')).toContain('DISK_FULL'), WAIT);
    // New work is refused with the reason; none of it is half there.
    await vi.waitFor(async () => {
      const urls = Array.from({ length: 5_000 }, (_, at) => `http://a${at}.example/${'x'.repeat(200)}`);
      await expect(scraper.batch({ urls })).rejects.toMatchObject({ code: 'DISK_FULL' });
    }, WAIT);
    const listed = await scraper.platform.jobs.list({ accountId: scraper.account, limit: 10 });
    expect(listed.items.map(({ id }) => id)).toEqual([job.id]);
    const stopped = await scraper.look(job);
    expect(stopped.finishedAt).toBeNull();
    expect(stopped.counters.failed).toBe(0);

    await rm(ballast);
    const ended = await scraper.ended(job);
    expect(ended).toMatchObject({ status: 'completed', counters: { pages: PAGES, known: PAGES, failed: 0 } });
    // Pages that could not be stored were held, not fetched again.
    const fetched = site.log.map(({ path }) => path).filter((path) => path !== '/robots.txt');
    expect(fetched.length).toBe(new Set(fetched).size);
    const pages = await scraper.pages(job);
    expect(new Set(pages.map(({ url }) => url)).size).toBe(PAGES);
    for (const { contentHash } of pages) {
      expect(await scraper.platform.blobs.has(contentHash as ContentHash)).toBe(true);
    }
    await scraper.platform.close();
    // And the folder is as good as any other afterwards.
    const again = await openScraper({ dataDir: disk, policy: QUICK_POLICY });
    expect((await again.look(job)).counters).toEqual(ended.counters);
    await again.platform.close();
  },
  LIMIT_MS,
);

test(
  'on a full disk jobs can be cancelled and deleted, with space that was kept for it',
  async ({ skip }) => {
    if (disk === null) return skip('a small disk of its own needs the right to mount one');
    const dataDir = join(disk, 'reserved');
    await mkdir(dataDir, { recursive: true });
    const scraper = await openScraper({ dataDir, policy: QUICK_POLICY, isStarted: false, place: null });
    const { jobs } = scraper.platform;
    const reserve = join(dataDir, 'scrapifie.reserve');
    await vi.waitFor(() => expect(existsSync(reserve)).toBe(true), WAIT);
    const job = await scraper.batch({ urls: ['http://unwanted.example/'] });
    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = statfsSync(disk);
    await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - FREE_BYTES)));
    await expect(async () => {
      for (let at = 0; ; at += 1) {
        const urls = Array.from({ length: 5_000 }, (_, n) => `http://a${n}.example/${at}/${'x'.repeat(200)}`);
        await scraper.batch({ urls });
      }
    }).rejects.toMatchObject({ code: 'DISK_FULL' });
    // Down to the last page, by what is written even then.
    const entry = { at: 0, actor: 'a test', action: 'job.start', target: 'none' } as const;
    for (const chars of [20_000, 1]) {
      await expect(async () => {
        for (;;) await scraper.platform.store.audit([{ ...entry, details: { filler: 'x'.repeat(chars) } }]);
      }).rejects.toMatchObject({ code: 'DISK_FULL' });
    }
    await rename(reserve, `${reserve}.kept`);
    await expect(jobs.cancel(job.id, scraper.account)).rejects.toMatchObject({ code: 'DISK_FULL' });
    await rename(`${reserve}.kept`, reserve);
    expect(await jobs.cancel(job.id, scraper.account)).toMatchObject({ status: 'cancelled' });
    expect(existsSync(reserve)).toBe(false);
    await jobs.delete(job.id, scraper.account);
    await expect(scraper.look(job)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await rm(ballast);
    await vi.waitFor(() => scraper.batch({ urls: ['http://wanted.example/'] }), WAIT);
    await vi.waitFor(() => expect(existsSync(reserve)).toBe(true), WAIT);
    await scraper.platform.close();
    expect(existsSync(reserve)).toBe(false);
  },
  LIMIT_MS,
);

test(
  'while the disk is full every way to make work refuses it with what health says, and schedules wait',
  async ({ skip }) => {
    if (disk === null) return skip('a small disk of its own needs the right to mount one');
    const dataDir = join(disk, 'refusing');
    await mkdir(dataDir, { recursive: true });
    const world = await openApiWorld({ settings: { dataDir, minScheduleSeconds: 1 } });
    onTestFinished(world.close);
    const url = world.site.hostUrl(1);
    const codeOf = async (path: string, body: unknown) => {
      const { status, body: answer } = await world.post(path, body);
      return { path, status, code: answer.error?.code };
    };
    const ready = async () => JSON.stringify((await world.call({ url: '/readyz' })).body);
    const job = await world.batchNow({
      urls: [`${url}/`, 'http://127.0.0.9:1/'],
      options: { maxAttempts: 1 },
    });
    const request = { kind: 'batch', urls: [`${url}/`] };
    const made = await world.post('/v1/schedules', { name: 'daily', cron: '0 4 * * *', job: request });
    expect(made.body.error).toBeUndefined();
    const schedule = String(made.body.data?.id);
    const often = await world.post('/v1/schedules', { name: 'often', every: '1s', job: request });
    const runsOf = async () => {
      const runs = await world.call({ url: `/v1/schedules/${often.body.data?.id}/runs?limit=100` });
      return (runs.body.data?.items ?? []) as { status: string; at: string }[];
    };
    await vi.waitFor(async () => expect((await runsOf()).length).toBeGreaterThan(0), WAIT);

    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = statfsSync(disk);
    await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(() => undefined);
    await vi.waitFor(async () => expect(await ready()).toContain('DISK_FULL'), WAIT);
    const ways: [string, unknown][] = [
      ['/v1/scrape', { url: `${url}/` }],
      ['/v1/batch', { urls: [`${url}/`] }],
      ['/v1/crawl', { urls: [`${url}/`] }],
      ['/v1/map', { url: `${url}/` }],
      ['/v2/scrape', { url: `${url}/` }],
      ['/v2/batch/scrape', { urls: [`${url}/`] }],
      ['/v2/crawl', { url: `${url}/` }],
      ['/v2/map', { url: `${url}/` }],
      [`/v1/jobs/${job.id}/retry`, {}],
      [`/v1/jobs/${job.id}/exports`, { type: 'links', format: 'csv' }],
      [`/v1/schedules/${schedule}/run`, {}],
    ];
    for (const [path, body] of ways) {
      const { body: answer } = await world.post(path, body);
      expect({ path, said: JSON.stringify(answer) }).toEqual({
        path,
        said: expect.stringMatching(/DISK_FULL|no space|No space/),
      });
    }
    expect((await codeOf('/v1/crawl', { urls: [`${url}/`] })).status).toBe(503);
    const tool = { name: 'scrape', arguments: { url: `${url}/` } };
    const answer = await world.send({
      method: 'POST',
      url: '/mcp',
      headers: { accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool },
    });
    expect(answer.body).toContain('DISK_FULL');
    const exports = await world.call({ url: `/v1/jobs/${job.id}/exports` });
    expect(exports.body.data?.items).toEqual([]);

    const freedAt = Date.now();
    await rm(ballast);
    await vi.waitFor(async () => expect(await ready()).not.toContain('DISK_FULL'), WAIT);
    expect((await codeOf('/v1/batch', { urls: [`${url}/`] })).status).toBe(202);
    expect((await codeOf(`/v1/schedules/${schedule}/run`, {})).status).toBeLessThan(300);
    await vi.waitFor(async () => {
      const later = (await runsOf()).filter(({ at }) => Date.parse(at) > freedAt);
      expect(later.map(({ status }) => status)).toContain('started');
    }, WAIT);
    expect((await runsOf()).map(({ status }) => status)).not.toContain('refused');
  },
  LIMIT_MS,
);
