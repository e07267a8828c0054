import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MOST_FREE_LOSSES } from '../../../crawl/plan/outcome.ts';
import { serve } from '../../http/loopback.fixture.ts';
import { failureOf, render, type TestBrowser, testBrowser, until } from '../browser.fixture.ts';
import type { BrowserRuntimeOptions } from '../browser-runtime.ts';
import { nextProbeAt } from './browser-watch.ts';
import { type ChromiumPart, signalPart } from './process-faults.fixture.ts';

const LIMIT_MS = 120_000;
const WATCH = { probeAfterMs: 300, probeEveryMs: 1_000, probeTimeoutMs: 6_000 };

function watched(more: Partial<BrowserRuntimeOptions> = {}): TestBrowser {
  return testBrowser({ maxBrowsers: 1, pagesAtOnce: 4, pagesEach: 4, watch: WATCH, ...more });
}

const site = () =>
  serve((request, response) => {
    if (request.url !== '/silent') {
      response.setHeader('content-type', 'text/html').end('<!doctype html><body>well');
    }
  });

/** A page as the owner of its host loads it: again when the browser was lost, as often as that is free. */
async function load(
  { engine }: TestBrowser,
  url: string,
  key: string,
  again: readonly string[] = ['BROWSER_LOST'],
): Promise<string> {
  for (let losses = 0; ; losses += 1) {
    const outcome = await render(engine, url, { key, timeoutMs: 60_000 }).then(
      ({ statusCode }) => String(statusCode),
      ({ code }: { code: string }) => code,
    );
    if (!again.includes(outcome) || losses >= MOST_FREE_LOSSES) return outcome;
  }
}

describe('when a browser is probed', () => {
  const limits = { probeAfterMs: 5, probeEveryMs: 15, probeTimeoutMs: 10 };

  test('not while nothing is under way, and not before something has taken long', () => {
    expect(nextProbeAt({ openings: [], uses: [] }, 0, limits)).toBeNull();
    expect(nextProbeAt({ openings: [100], uses: [] }, 0, limits)).toBe(105);
    expect(nextProbeAt({ openings: [], uses: [100] }, 0, limits)).toBe(105);
  });

  test('once for a page that does not open, now and then for one that is in use', () => {
    expect(nextProbeAt({ openings: [100], uses: [] }, 106, limits)).toBeNull();
    expect(nextProbeAt({ openings: [], uses: [100] }, 106, limits)).toBe(121);
  });

  test('whatever is under way, never before it has taken long and never twice at once', () => {
    const times = fc.array(fc.nat(1_000), { maxLength: 5 });
    fc.assert(
      fc.property(times, times, fc.nat(1_000), (openings, uses, provenAt) => {
        const next = nextProbeAt({ openings, uses }, provenAt, limits);
        if (next === null) return openings.every((since) => since <= provenAt) && uses.length === 0;
        const earliest = Math.min(...openings, ...uses) + limits.probeAfterMs;
        return next >= earliest && next > provenAt;
      }),
    );
  });
});

describe('a browser that does not work any more is replaced, and its pages are loaded by the next one', () => {
  const faults: readonly (readonly [string, ChromiumPart, 'SIGKILL' | 'SIGSTOP'])[] = [
    ['its zygotes are killed, so that no page gets a process', 'zygote', 'SIGKILL'],
    ['its main process is stopped', 'browser', 'SIGSTOP'],
    ['its main process is killed', 'browser', 'SIGKILL'],
    ['its network process is stopped', 'network', 'SIGSTOP'],
    ['its network process is killed', 'network', 'SIGKILL'],
  ];

  test.each(faults)(
    '%s',
    async (_, part, signal) => {
      const browser = watched();
      const { origin } = await site();
      const pool = () => browser.runtime.running?.pool;
      await Promise.all(['a', 'b'].map((key) => load(browser, `${origin}/warm`, key)));
      expect(await signalPart(pool()?.pids ?? [], part, signal)).not.toEqual([]);
      const keys = ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'];
      const outcomes = await Promise.all(keys.map((key, index) => load(browser, `${origin}/${index}`, key)));
      expect(outcomes).toEqual(keys.map(() => '200'));
      const { replaced } = pool()?.stats ?? {};
      expect(Object.values(replaced ?? {}).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
      await until(() => pool()?.health.state === 'ok');
      expect(pool()?.stats).toMatchObject({ pagesInUse: 0, waiting: 0 });
    },
    LIMIT_MS,
  );

  test.each([
    ['its graphics process is killed', 'gpu'],
    ['the process of a page that is at rest is killed', 'renderer'],
  ] as const)(
    '%s: Chromium mends that itself, and the browser stays',
    async (_, part) => {
      const browser = watched();
      const { origin } = await site();
      await load(browser, `${origin}/warm`, 'a');
      expect(await signalPart(browser.runtime.running?.pool.pids ?? [], part, 'SIGKILL')).not.toEqual([]);
      // The page at rest may be lent before the news of its end arrive; that is an attempt like any other crash.
      const again = ['BROWSER_LOST', 'BROWSER_CRASHED'];
      const outcomes = await Promise.all(
        ['a', 'b', 'c'].map((key) => load(browser, `${origin}/`, key, again)),
      );
      expect(outcomes).toEqual(['200', '200', '200']);
      expect(browser.runtime.running?.pool.stats).toMatchObject({ launched: 1 });
    },
    LIMIT_MS,
  );

  test(
    'pages under way end long before their time, and what is known of the browser says so meanwhile',
    async () => {
      const states: string[] = [];
      const browser = watched({
        onHealth: () => states.push(browser.runtime.running?.pool.health.state ?? ''),
      });
      let asked = 0;
      const { origin } = await serve((request, response) => {
        if (request.url === '/silent') asked += 1;
        else response.setHeader('content-type', 'text/html').end('<!doctype html><body>well');
      });
      // Without the watch these would end with their own time-out, long after the test has.
      const pages = ['a', 'b'].map((key) =>
        failureOf(
          render(browser.engine, `${origin}/silent`, {
            key,
            timeoutMs: 3_600_000,
            navigationTimeoutMs: 3_600_000,
          }),
        ),
      );
      await until(() => asked === 2);
      await signalPart(browser.runtime.running?.pool.pids ?? [], 'browser', 'SIGSTOP');
      for (const page of pages) expect((await page).code).toBe('BROWSER_LOST');
      expect(await load(browser, `${origin}/`, 'a')).toBe('200');
      expect(browser.runtime.running?.pool.stats.replaced).toMatchObject({ unresponsive: 1 });
      await until(() => browser.runtime.running?.pool.health.state === 'ok');
      expect(states).toContain('failing');
    },
    LIMIT_MS,
  );

  test(
    'a time-out that comes before the watch has looked is not blamed on the site either',
    async () => {
      const browser = watched({ watch: { ...WATCH, probeAfterMs: 3_600_000 } });
      const { origin } = await site();
      await load(browser, `${origin}/`, 'a');
      await signalPart(browser.runtime.running?.pool.pids ?? [], 'browser', 'SIGSTOP');
      const failure = await failureOf(render(browser.engine, `${origin}/`, { key: 'a', timeoutMs: 1_000 }));
      expect(failure.code).toBe('BROWSER_LOST');
    },
    LIMIT_MS,
  );
});

test(
  'a slow site does not get a browser replaced: its pages time out, and the browser stays',
  async () => {
    const browser = watched();
    const { origin } = await site();
    const slow = Array.from({ length: 4 }, (_, index) =>
      failureOf(render(browser.engine, `${origin}/silent`, { key: `k${index}`, timeoutMs: 4_000 })),
    );
    for (const page of slow) expect((await page).code).toBe('TASK_TIMEOUT');
    expect(await load(browser, `${origin}/`, 'k0')).toBe('200');
    expect(browser.runtime.running?.pool.stats).toMatchObject({ launched: 1, crashed: 0, recycled: 0 });
    expect(browser.runtime.running?.pool.health.state).toBe('ok');
  },
  LIMIT_MS,
);
