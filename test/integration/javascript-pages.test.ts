import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScrapeResult } from '../../src/capabilities/jobs/results/job-reader.ts';
import { SPA_PATHS } from '../site/pages/javascript/spa.ts';
import { SCRIPTED, type ScriptedCase } from '../site/scripted.ts';
import type { ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';
import { byPath } from './world.ts';

const LIMIT_MS = 90_000;
let world: ApiWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ site: { pages: 40 } });
});
afterAll(() => world.close(), LIMIT_MS);

async function scrape(url: string, more: Record<string, unknown> = {}): Promise<ScrapeResult> {
  const { status, body } = await world.post('/v1/scrape', {
    url,
    formats: ['html', 'links', 'metadata'],
    timeoutMs: 60_000,
    ...more,
  });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as unknown as ScrapeResult;
}

/** Engine, reason and outcome of each attempt, as the trace tells it. */
const story = ({ trace }: ScrapeResult): string[] =>
  trace.attempts.map(({ engine, reason, outcome }) => `${engine} ${reason} ${outcome}`);

const seen = SCRIPTED.filter(({ isHarmful, name }) => isHarmful !== true && name !== 'never-loaded');

/** The trace that is expected of the first visit to a host that is not known yet. */
function firstStory({ plain, actions }: ScriptedCase): (string | RegExp)[] {
  if (actions !== undefined) return [/^browser plan\.needs:\S*actions\S* ok$/];
  if (plain === 'ok') return ['http plan.cheapest ok'];
  const next = plain === 'blocked' ? 'plan.escalate:blocked' : 'plan.render:needs-javascript';
  return [`http plan.cheapest ${plain}`, `browser ${next} ok`];
}

const matching = (stories: readonly (string | RegExp)[]) =>
  stories.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each)));

describe('with `auto`, every page comes as a visitor sees it, by the cheapest way that shows it', () => {
  test.each(seen.map((scripted, at) => ({ ...scripted, at, scripted })))(
    '$path: $note',
    async ({ at, path, shows, actions, plain, scripted }) => {
      const url = world.site.hostUrl(10 + at) + path;
      const more = actions === undefined ? {} : { actions };
      const first = await scrape(url, more);
      expect(first.html).toContain(shows);
      expect(story(first)).toEqual(matching(firstStory(scripted)));
      for (const attempt of first.trace.attempts) {
        expect(attempt).toMatchObject({ proxyTier: null, ms: expect.any(Number), bytes: expect.any(Number) });
      }

      let again = await scrape(url, more);
      // Now and then, and no more than once an hour, the host is asked whether the cheap way works meanwhile.
      if (story(again)[0]?.includes('plan.probe')) again = await scrape(url, more);
      expect(again.html).toContain(shows);
      expect(again.trace.attempts).toHaveLength(1);
      const engine = plain === 'ok' && actions === undefined ? 'http' : 'browser';
      expect(again.trace.attempts[0]).toMatchObject({ engine, outcome: 'ok' });
    },
    LIMIT_MS,
  );
});

describe('plain HTTP is used wherever that is enough', () => {
  test(
    'also beside pages that need a browser',
    async () => {
      const host = world.site.hostUrl(80);
      const shells = ['/js/list', '/js/spa/', '/js/spa/about'];
      const wholes = Array.from({ length: 12 }, (_, page) => `/js/static/${page}`);
      for (const path of [...shells, ...shells]) await scrape(host + path);
      for (const path of wholes) expect(story(await scrape(host + path))).toEqual(['http plan.cheapest ok']);
      for (const path of wholes) expect(world.site.countOf(host + path)).toBe(1);
    },
    LIMIT_MS,
  );

  test(
    'behind a door whose cookie is there',
    async () => {
      const consent = await scrape(`${world.site.hostUrl(81)}/js/cookie-wall`, {
        cookies: { consent: 'yes' },
      });
      expect([consent.title, story(consent)]).toEqual(['Behind the cookie wall', ['http plan.cheapest ok']]);
      const member = await scrape(`${world.site.hostUrl(81)}/js/members`, { cookies: { member: 'anna' } });
      expect([member.title, story(member)]).toEqual(['Members only', ['http plan.cheapest ok']]);
    },
    LIMIT_MS,
  );
});

test(
  'a page for members without a login is a login wall, and no browser is tried on it',
  async () => {
    const result = await scrape(`${world.site.hostUrl(82)}/js/members`);
    expect(story(result).at(-1)).toMatch(/^http \S+ login-wall$/);
    expect(new URL(result.finalUrl).pathname).toBe('/js/login');
  },
  LIMIT_MS,
);

test(
  'a crawl finds the addresses of an application that only scripts know',
  async () => {
    const host = world.site.hostUrl(83);
    const crawl = async () => {
      const job = await world.crawlNow({
        urls: [`${host}/js/spa/`],
        sitemap: 'skip',
        options: { formats: ['html'] },
      });
      expect(job.status).toBe('completed');
      const ledger = byPath(await world.ledger(job));
      expect([...ledger.keys()].sort()).toEqual([...SPA_PATHS].sort());
      for (const page of await world.pages(job)) expect(page.html).not.toContain('nothing at this address');
      return [...ledger.values()].map(({ attempts }) => attempts.length);
    };
    await crawl();
    // By now it is known; one may be the probe.
    expect((await crawl()).filter((attempts) => attempts > 1).length).toBeLessThanOrEqual(1);
  },
  LIMIT_MS,
);

test(
  'a catalogue made by scripts is learned: nearly every page takes one attempt, and each is asked for once by then',
  async () => {
    const host = world.site.hostUrl(84);
    const first = await scrape(`${host}/js/catalogue/1`);
    expect(first.trace.attempts).toHaveLength(2);
    const urls = Array.from({ length: 20 }, (_, page) => `${host}/js/catalogue/${page + 2}`);
    const job = await world.batchNow({ urls, options: { formats: ['html'] } });
    expect(job.counters).toMatchObject({ pages: 20, failed: 0 });
    const entries = await world.ledger(job);
    // A single page may have been the probe of a cheaper way.
    expect(entries.filter(({ attempts }) => attempts.length > 1).length).toBeLessThanOrEqual(1);
    for (const page of await world.pages(job)) expect(page.html).toContain('€');
  },
  LIMIT_MS,
);
