import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { HostKey } from '../../src/core/model/ids.ts';
import { maxInWindow } from '../site/max-in-window.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ site: { pages: 40 }, policy: 'default: { rate: 40, concurrency: 4 }\n' });
});
afterAll(() => world.close());

const keyOf = (url: string) => new URL(url).host as HostKey;

describe.concurrent('a host that answers 429', () => {
  test('with Retry-After gets nothing at all until then, and its rate is halved', async () => {
    const host = world.site.hostUrl(1);
    const urls = [`${host}/again/429/seconds/1`, ...[1, 2, 3, 4, 5].map((page) => `${host}/big/${page}`)];
    const job = await world.batchNow({ urls });
    expect(job).toMatchObject({ status: 'completed', counters: { pages: 6, failed: 0 } });
    const heard = world.heard(host);
    const refusedAt = heard.findIndex(({ path }) => path === '/again/429/seconds/1');
    // What was sent before the answer arrived may come right behind; then there is silence.
    const pauses = heard
      .slice(refusedAt + 1)
      .map(({ at }, index) => at - (heard[refusedAt + index]?.notBefore ?? at));
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(1_000);
    const entry = (await world.ledger(job)).find(({ url }) => url.includes('/again/'));
    expect(entry?.attempts.map(({ outcome }) => outcome)).toEqual(['rate-limited', 'ok']);
    await vi.waitFor(
      async () => {
        const view = await world.platform.store.getHost(keyOf(host));
        expect(view).toMatchObject({ owner: null, state: { rateFactor: 0.5 } });
      },
      { timeout: 20_000 },
    );
  });

  test('with a date gets nothing until that date', async () => {
    const host = world.site.hostUrl(2);
    await world.batchNow({ urls: [`${host}/again/429/date/1`] });
    const [first, second] = world.heard(host).filter(({ path }) => path !== '/robots.txt');
    const refusedAt = first?.notBefore ?? 0;
    // HTTP dates have whole seconds: two seconds ahead, cut down.
    expect(second?.at).toBeGreaterThanOrEqual(Math.floor((refusedAt + 2_000) / 1_000) * 1_000);
  });

  test('and 503 with Retry-After is obeyed the same way', async () => {
    const host = world.site.hostUrl(3);
    const job = await world.batchNow({ urls: [`${host}/again/503/seconds/2`] });
    expect(job.status).toBe('completed');
    const asked = world.heard(host).filter(({ path }) => path !== '/robots.txt');
    expect(asked).toHaveLength(3);
    expect(maxInWindow(asked, 1_000)).toBe(1);
  });

  test('for too much is asked more and more slowly until it answers everything', async () => {
    const host = world.site.urlOf('busy', '');
    const urls = Array.from({ length: 10 }, (_, page) => `${host}/big/${page + 1}`);
    const job = await world.batchNow({ urls, options: { maxAttempts: 10 } });
    expect(job).toMatchObject({ status: 'completed', counters: { pages: 10, failed: 0 } });
  });
});

test('a host that keeps failing is left alone', async () => {
  const host = world.site.hostUrl(5);
  const urls = Array.from({ length: 12 }, (_, n) => `${host}/again/500/none/always?${n}`);
  const job = await world.batch({ urls, options: { maxAttempts: 1 } });
  await vi.waitFor(
    async () => {
      const view = await world.platform.store.getHost(keyOf(host));
      expect(view).toMatchObject({ owner: null, state: { breaker: { phase: 'open' } } });
    },
    { timeout: 20_000 },
  );
  // Five failures open it; those beside them were on their way already.
  const asked = world.paths(host).length;
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(asked).toBeLessThan(10);
  const { counters } = await world.look(job);
  expect(counters).toMatchObject({ failed: asked, open: 12 - asked });
  await world.platform.jobs.cancel(job.id, world.account);
});
