import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { maxInWindow } from '../site/max-in-window.ts';
import { byPath, openWorld, QUICK_POLICY, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    site: { pages: 20 },
    policy: (site) => {
      const ignored = new URL(site.urlOf('robots-503', '/')).hostname;
      return `${QUICK_POLICY}domains: { "${ignored}": { consent: [robots], robots: ignore } }\n`;
    },
  });
});
afterAll(() => world.close());

/** Fetches these paths of a host in one batch; what became of each. */
async function batch(host: string, paths: readonly string[]): Promise<Record<string, string | null>> {
  const job = await world.batchNow({ urls: paths.map((path) => world.site.urlOf(host, path)) });
  const ledger = byPath(await world.ledger(job));
  return Object.fromEntries(
    paths.map((path) => {
      const entry = ledger.get(path);
      return [path, entry?.errorCode ?? (entry?.state === 'denied' ? 'denied' : (entry?.state ?? null))];
    }),
  );
}
const pathsOf = (host: string) => world.paths(world.site.urlOf(host, '/'));

test('what robots.txt disallows is denied with the rule, and never asked for', async () => {
  const ends = await batch('robots-some', [
    '/private/closed',
    '/private/open',
    '/content/secret',
    '/a.pdf',
    '/big/1',
  ]);
  expect(ends).toEqual({
    '/private/closed': 'denied',
    '/private/open': 'done',
    '/content/secret': 'denied',
    '/a.pdf': 'denied',
    '/big/1': 'done',
  });
  expect(pathsOf('robots-some').sort()).toEqual(['/big/1', '/private/open']);
  const url = world.site.urlOf('robots-some', '/private/closed');
  await expect(world.scrapeNow({ url })).rejects.toMatchObject({ code: 'ROBOTS_DISALLOWED' });
  expect(world.site.countOf(world.site.urlOf('robots-some', '/robots.txt'))).toBe(1);
});

test('a site that keeps this crawler out has nothing fetched, and the job says so', async () => {
  const start = world.site.urlOf('robots-all', '/big/');
  const job = await world.crawlNow({ urls: [start], sitemap: 'skip' });
  expect(job.status).toBe('failed');
  expect(job.counters).toMatchObject({ pages: 0, denied: 1, failed: 0 });
  expect((await world.ledger(job))[0]?.rule).toMatch(/^robots: /);
  expect(pathsOf('robots-all')).toEqual([]);
});

describe('a robots.txt', () => {
  test.each(['robots-404', 'robots-403', 'robots-empty', 'robots-html', 'robots-redirect-loop'])(
    'that has no rules allows everything: %s',
    async (host) => {
      expect(await batch(host, ['/private/x'])).toEqual({ '/private/x': 'done' });
    },
  );

  test.each([
    'robots-redirect',
    'robots-redirect-host',
    'robots-huge',
    'robots-bom',
    'robots-binary',
    'robots-gzip',
  ])('that is odd is understood: %s', async (host) => {
    expect(await batch(host, ['/private/x', '/big/1'])).toEqual({ '/private/x': 'denied', '/big/1': 'done' });
    expect(pathsOf(host)).not.toContain('/private/x');
  });

  test.each([
    ['robots-500', 'ROBOTS_UNREACHABLE'],
    ['robots-429', 'ROBOTS_UNREACHABLE'],
    ['robots-reset', 'CONNECTION_RESET'],
  ])('that cannot be read forbids everything for now: %s', async (host, code) => {
    const url = world.site.urlOf(host, '/big/1');
    await expect(world.scrapeNow({ url })).rejects.toMatchObject({ code });
    expect(pathsOf(host)).toEqual([]);
  });

  test('that never ends is cut, and what it said by then holds', async () => {
    expect(await batch('robots-endless', ['/private/x'])).not.toEqual({ '/private/x': 'done' });
    expect(pathsOf('robots-endless')).not.toContain('/private/x');
  });

  test('that cannot be read makes a larger job wait, not fail', async () => {
    const job = await world.batch({ urls: [world.site.urlOf('robots-500', '/big/2')] });
    await vi.waitFor(
      async () => {
        const [entry] = await world.ledger(job);
        expect(entry).toMatchObject({ state: 'waiting' });
        expect(entry?.rule).toMatch(/^robots\.unreachable: HTTP 500/);
      },
      { timeout: 20_000 },
    );
    expect((await world.look(job)).finishedAt).toBeNull();
    await world.platform.jobs.cancel(job.id, world.account);
    expect(pathsOf('robots-500')).toEqual([]);
  });
});

test('a crawl delay is kept between any two requests, robots.txt included, one at a time', async () => {
  const urls = [1, 2, 3].map((page) => world.site.urlOf('robots-delay', `/big/${page}`));
  const job = await world.batchNow({ urls });
  expect(job.counters.pages).toBe(3);
  const heard = world.heard(urls[0] ?? '');
  expect(heard).toHaveLength(4);
  expect(maxInWindow(heard, 1_000)).toBe(1);
  expect(Math.max(...heard.map(({ inFlight }) => inFlight))).toBe(1);
});

test('ignoring robots.txt takes the operator’s consent for that host', async () => {
  const options = { obeyRobots: false };
  const refused = world.scrapeNow({ url: `${world.site.hostUrl(1)}/big/1`, ...options });
  await expect(refused).rejects.toMatchObject({ code: 'CONSENT_REQUIRED' });
  const result = await world.scrapeNow({ url: world.site.urlOf('robots-503', '/big/1'), ...options });
  expect(result.statusCode).toBe(200);
  expect(world.heard(world.site.urlOf('robots-503', '/')).map(({ path }) => path)).toEqual(['/big/1']);
});

test('a robots.txt that never comes does not keep the platform from closing', async () => {
  const own = await openWorld({ site: { pages: 1 }, settings: { drainMs: 200 } });
  const url = own.site.urlOf('robots-hang', '/big/');
  const job = await own.batch({ urls: [url] });
  await vi.waitFor(() => expect(own.heard(url)).toHaveLength(1), { timeout: 20_000 });
  const again = await own.reopen();
  // The platform itself ended the request, so the host is not to blame: the file is requested again.
  await vi.waitFor(() => expect(own.heard(url)).toHaveLength(2), { timeout: 20_000 });
  expect(await again.look(job)).toMatchObject({ finishedAt: null, counters: { open: 1, failed: 0 } });
  await again.close();
  await own.site.close();
});
