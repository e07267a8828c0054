import { describe, expect, it } from 'vitest';
import type { JobKind } from '../../../core/model/job-kinds.ts';
import type { Task } from '../../../core/model/task.ts';
import type { RobotsEntry } from '../../../core/ports/host-store.ts';
import { createRobotsCache, type Robots } from '../../robots/robots-cache.ts';
import { jobOf, runningOf, T0, taskOf } from '../process/claimed-task.fixture.ts';
import { noRouteEnd, proxyRouteEnd, robotsEnd, siteEnd } from './task-admission.ts';

const ORIGIN = 'http://site.test';

/** Robots as a store that has them fresh makes them. */
async function robotsOf(changes: Partial<RobotsEntry>): Promise<Robots> {
  const entry: RobotsEntry = {
    origin: ORIGIN,
    status: 'ok',
    body: '',
    fetchedAt: T0,
    expiresAt: T0 + 60_000,
    reason: 'HTTP 200',
    interruptions: 0,
    failures: 0,
    ...changes,
  };
  const cache = createRobotsCache({
    store: { getRobots: async () => entry, putRobots: async () => {} },
    engine: {
      name: 'http',
      fetch: () => Promise.reject(new Error('Nobody should ask.')),
      close: async () => {},
    },
    now: () => T0,
  });
  const { robots } = await cache.lookUp(ORIGIN);
  if (robots === null) throw new Error('The entry is not fresh.');
  return robots;
}

const unreachable = (reason: string) => robotsOf({ status: 'unreachable', reason });

function endOf(robots: Robots, kind: JobKind, task: Partial<Task> = {}, now = T0) {
  const { atUrl, ...rest } = taskOf(task);
  return robotsEnd({ ...rest, atUrl }, jobOf({ kind }), robots, new URL(atUrl), now);
}

describe('a robots.txt that was read', () => {
  it('lets through what it does not forbid', async () => {
    const robots = await robotsOf({ body: 'User-agent: *\nDisallow: /private' });
    expect(endOf(robots, 'crawl')).toBeNull();
  });

  it('denies what it forbids, and names the line', async () => {
    const robots = await robotsOf({ body: 'User-agent: *\nDisallow: /page' });
    expect(endOf(robots, 'scrape')).toEqual({
      state: 'denied',
      rule: 'robots: disallow: /page (line 2)',
    });
  });

  it('is asked about the query too', async () => {
    const robots = await robotsOf({ body: 'User-agent: *\nDisallow: /*?sort=' });
    expect(endOf(robots, 'crawl', { url: `${ORIGIN}/list?sort=up` })).toMatchObject({ state: 'denied' });
    expect(endOf(robots, 'crawl', { url: `${ORIGIN}/list` })).toBeNull();
  });

  it('allows everything when there is none', async () => {
    expect(endOf(await robotsOf({ status: 'absent', reason: 'HTTP 404' }), 'crawl')).toBeNull();
  });
});

describe('a robots.txt that cannot be read', () => {
  it.each(['batch', 'crawl', 'map'] as const)(
    'makes a task of a %s wait until it is tried again',
    async (kind) => {
      expect(endOf(await unreachable('CONNECT_FAILED'), kind)).toEqual({
        state: 'waiting',
        readyAt: T0 + 60_000,
        rule: 'robots.unreachable: CONNECT_FAILED',
      });
    },
  );

  it('fails a single scrape at once, with what went wrong on the network', async () => {
    expect(endOf(await unreachable('DNS_FAILED'), 'scrape')).toEqual({
      state: 'failed',
      rule: 'robots.unreachable: DNS_FAILED',
      errorCode: 'DNS_FAILED',
    });
  });

  it('is ROBOTS_UNREACHABLE where the host answered, but not with the file', async () => {
    expect(endOf(await unreachable('HTTP 503'), 'scrape')).toMatchObject({ errorCode: 'ROBOTS_UNREACHABLE' });
  });

  it('is ROBOTS_UNREACHABLE where a redirect of the file failed', async () => {
    expect(endOf(await unreachable('redirected, then ADDRESS_REFUSED'), 'scrape')).toEqual({
      state: 'failed',
      rule: 'robots.unreachable: redirected, then ADDRESS_REFUSED',
      errorCode: 'ROBOTS_UNREACHABLE',
    });
  });

  it('fails the check of a monitor at once where nobody listens', async () => {
    const job = jobOf({ kind: 'batch' });
    const check = { ...job, options: { ...job.options, monitorId: 'a' } };
    const endOfCheck = (robots: Robots) => robotsEnd(taskOf({}), check, robots, new URL(ORIGIN), T0);
    expect(endOfCheck(await unreachable('CONNECT_FAILED'))).toMatchObject({ state: 'failed' });
    expect(endOfCheck(await unreachable('HTTP 503'))).toMatchObject({ state: 'waiting' });
  });

  it('fails at once what waiting cannot help', async () => {
    expect(endOf(await unreachable('ADDRESS_REFUSED'), 'crawl')).toMatchObject({
      state: 'failed',
      errorCode: 'ADDRESS_REFUSED',
    });
  });

  it('fails a task that a redirect led here: where it came from has answered already', async () => {
    expect(endOf(await unreachable('HTTP 500'), 'crawl', { hops: 1 })).toMatchObject({ state: 'failed' });
  });

  it('is waited for only for seconds where the host has no address or refuses connections', async () => {
    for (const reason of ['DNS_FAILED', 'CONNECT_FAILED']) {
      const robots = await unreachable(reason);
      expect(endOf(robots, 'crawl', {}, T0 + 5_999)).toMatchObject({ state: 'waiting' });
      expect(endOf(robots, 'crawl', {}, T0 + 6_000)).toMatchObject({ state: 'failed', errorCode: reason });
    }
  });

  it('is not waited for without end', async () => {
    const robots = await unreachable('HTTP 500');
    expect(endOf(robots, 'crawl', {}, T0 + 179_999)).toMatchObject({ state: 'waiting' });
    expect(endOf(robots, 'crawl', {}, T0 + 180_000)).toMatchObject({ state: 'failed' });
  });
});

describe('a site task', () => {
  const site = taskOf({ kind: 'site', url: `${ORIGIN}/`, depth: 0 });

  it('leads to the sitemaps that robots.txt names', async () => {
    const body = `Sitemap: ${ORIGIN}/s1.xml\nSitemap: http://cdn.test/s2.xml`;
    const { end, discovered } = siteEnd(site, await robotsOf({ body }), await runningOf());
    expect(end).toEqual({ state: 'skipped', rule: 'site.sitemaps:2' });
    expect(discovered).toMatchObject([
      { kind: 'sitemap', url: `${ORIGIN}/s1.xml`, depth: 1, foundBy: 'robots', foundOn: 7, state: 'ready' },
      { kind: 'sitemap', url: 'http://cdn.test/s2.xml', hostKey: 'cdn.test', state: 'ready' },
    ]);
  });

  it('guesses the usual place when none is named', async () => {
    const { end, discovered } = siteEnd(site, await robotsOf({ status: 'absent' }), await runningOf());
    expect(end).toEqual({ state: 'skipped', rule: 'site.no-sitemap-declared' });
    expect(discovered).toMatchObject([{ url: `${ORIGIN}/sitemap.xml`, state: 'ready' }]);
  });

  it('keeps sitemaps out that the job excludes, and says by which rule', async () => {
    const running = await runningOf({ scope: { exclude: ['/s1.xml'] } });
    const { discovered } = siteEnd(site, await robotsOf({ body: `Sitemap: ${ORIGIN}/s1.xml` }), running);
    expect(discovered).toMatchObject([{ state: 'skipped', rule: 'scope.exclude:/s1.xml' }]);
  });

  it('follows a thousand sitemaps at most', async () => {
    const body = Array.from({ length: 1_500 }, (_, n) => `Sitemap: ${ORIGIN}/${n}.xml`).join('\n');
    const { end, discovered } = siteEnd(site, await robotsOf({ body }), await runningOf());
    expect(discovered).toHaveLength(1_000);
    expect(end).toMatchObject({ rule: 'site.sitemaps:1500' });
  });
});

describe('a site task of a job whose patterns are expensive', () => {
  it('judges the sitemaps of one file within one budget, and says which of them it could not judge', async () => {
    const exclude = ['(?:[ab]*a){50}[ab]{100}x'];
    const long = (n: number) => `Sitemap: ${ORIGIN}/${'ab'.repeat(200)}${n}.xml`;
    const body = Array.from({ length: 800 }, (_, n) => long(n)).join('\n');
    const site = taskOf({ kind: 'site', url: `${ORIGIN}/`, depth: 0 });
    const { discovered = [] } = siteEnd(
      site,
      await robotsOf({ body }),
      await runningOf({ scope: { exclude } }),
    );
    expect(discovered).toHaveLength(800);
    expect(discovered[0]).toMatchObject({ state: 'ready' });
    const last = discovered.filter(({ rule }) => rule === 'scope.pattern-cost');
    expect(last.length).toBeGreaterThan(700);
    expect(discovered.at(-1)).toMatchObject({ state: 'skipped', rule: 'scope.pattern-cost' });
  });
});

describe("a robots.txt that the job's own proxy does not lead to", () => {
  it('fails a scrape, for which somebody waits', () => {
    expect(proxyRouteEnd(taskOf({}), jobOf({ kind: 'scrape' }), 'PROXY_FAILED', T0)).toMatchObject({
      state: 'failed',
      errorCode: 'PROXY_FAILED',
    });
  });

  it('is asked for again by a crawl, for a while', () => {
    const job = jobOf({ kind: 'crawl' });
    expect(proxyRouteEnd(taskOf({}), job, 'PROXY_FAILED', job.createdAt)).toMatchObject({ state: 'waiting' });
    expect(proxyRouteEnd(taskOf({}), job, 'PROXY_FAILED', job.createdAt + 3_600_000)).toMatchObject({
      state: 'failed',
    });
  });
});

describe('a robots.txt for which no proxy of the installation can be used', () => {
  const error = { code: 'NO_HEALTHY_PROXY', message: 'No residential proxy is set up.' } as const;
  const rule = 'robots.no-way-out: NO_HEALTHY_PROXY';

  it('is waited for until a proxy may be used, by a scrape as well', () => {
    for (const kind of ['scrape', 'crawl'] as const) {
      const refusal = noRouteEnd(taskOf(), jobOf({ kind }), error, T0 + 5_000, T0);
      expect(refusal).toEqual({ end: { state: 'waiting', readyAt: T0 + 5_000, rule } });
    }
  });

  it('fails the task at once, with the reason, when no such proxy is set up', () => {
    expect(noRouteEnd(taskOf(), jobOf({ kind: 'crawl' }), error, null, T0)).toEqual({
      end: { state: 'failed', rule, errorCode: 'NO_HEALTHY_PROXY' },
      failure: error,
    });
  });

  it('is not waited for without end', () => {
    const later = T0 + 200_000;
    expect(noRouteEnd(taskOf(), jobOf({ kind: 'crawl' }), error, later + 5_000, later)).toMatchObject({
      end: { state: 'failed' },
    });
  });
});
