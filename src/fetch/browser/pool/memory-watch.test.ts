import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { thisMachine } from '../../byte-budget.ts';
import { serve } from '../../http/loopback.fixture.ts';
import { failureOf, render, testBrowser, textOf } from '../browser.fixture.ts';
import { describeExcess, memoryExcess, renderLimitsFor } from './memory-watch.ts';
import { TreeMemory } from './process-tree.ts';

const GIB = 1_073_741_824;

test.each([
  [0.5, 1, { maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 }],
  [1, 2, { maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 }],
  [2, 2, { maxBrowsers: 1, pagesAtOnce: 5, pagesEach: 5 }],
  [8, 2, { maxBrowsers: 2, pagesAtOnce: 8, pagesEach: 8 }],
  [64, 16, { maxBrowsers: 9, pagesAtOnce: 64, pagesEach: 8 }],
])('%d GiB and %i cores carry %o', (gib, cores, expected) => {
  expect(renderLimitsFor({ memoryBytes: gib * GIB, cores })).toMatchObject(expected);
});

test('more memory never means fewer pages, and there is always room for one', () => {
  const memory = fc.integer({ min: 1, max: 2 ** 40 });
  fc.assert(
    fc.property(memory, memory, fc.integer({ min: 1, max: 256 }), (a, b, cores) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)].map((memoryBytes) =>
        renderLimitsFor({ memoryBytes, cores }),
      );
      expect(less?.pagesAtOnce).toBeLessThanOrEqual(more?.pagesAtOnce ?? 0);
      for (const limits of [less, more]) {
        expect(limits?.pagesAtOnce).toBeGreaterThanOrEqual(1);
        expect(limits?.maxBrowsers).toBeGreaterThanOrEqual(1);
        expect((limits?.maxBrowsers ?? 0) * (limits?.pagesEach ?? 0)).toBeGreaterThanOrEqual(1);
      }
    }),
  );
});

test('this machine has memory and cores', () => {
  const { memoryBytes, cores } = thisMachine();
  expect(memoryBytes).toBeGreaterThan(0);
  expect(cores).toBeGreaterThan(0);
});

const LIMIT_MS = 120_000;
const MB = 1e6;
const entry = (pid: number, ownMb: number, sharedMb = 0) => ({
  pid,
  ownBytes: ownMb * MB,
  sharedBytes: sharedMb * MB,
});

describe('which process of a browser is ended for its memory', () => {
  const limits = { mostBrowserBytes: 1_000 * MB, mostRendererBytes: 600 * MB };

  test('none while the browser and each of its processes stay below their limits', () => {
    expect(memoryExcess(1, [entry(1, 200, 100), entry(2, 600, 100), entry(3, 100, 90)], limits)).toBeNull();
  });

  test('the one that passed the limit of a process, however large the main process is', () => {
    const excess = memoryExcess(1, [entry(1, 900), entry(2, 601), entry(3, 10)], limits);
    expect(excess).toMatchObject({ pid: 2, bytes: 601 * MB, mostBytes: 600 * MB });
  });

  test('the largest one when all together passed the limit of the browser', () => {
    const excess = memoryExcess(1, [entry(1, 100), entry(2, 450), entry(3, 451)], limits);
    expect(excess).toMatchObject({ pid: 3, bytes: 1_001 * MB, mostBytes: 1_000 * MB });
    expect(excess === null ? '' : describeExcess(excess)).toBe(
      'it held 1001 MB of memory, at most 1000 MB are allowed by SCRAPIFIE_BROWSER_MAX_BYTES',
    );
    expect(memoryExcess(1, [entry(1, 800), entry(2, 300)], limits)).toMatchObject({ pid: 1 });
  });
});

test('the memory of this process is found, and none of a process that is not there', async () => {
  const own = await new TreeMemory(process.pid).read();
  expect(own.find(({ pid }) => pid === process.pid)?.ownBytes).toBeGreaterThan(MB);
  expect(await new TreeMemory(2 ** 30).read()).toEqual([]);
});

describe('a page that allocates without end', () => {
  /** Allocates until it is stopped, or until it has had far more than the limits of these tests allow. */
  const GREEDY = `<!doctype html><script>
    const kept = [];
    for (let count = 0; count < 60; count += 1) kept.push(new Uint8Array(50e6).fill(1));
    document.title = 'had 3 GB';
  </script>`;
  const greedySite = () =>
    serve((request, response) => {
      const isGreedy = request.url?.startsWith('/greedy') === true;
      response.setHeader('content-type', 'text/html').end(isGreedy ? GREEDY : '<!doctype html><p>modest');
    });

  test.each([
    [
      'renderer',
      { mostRendererBytes: 500 * MB },
      'at most 500 MB are allowed by SCRAPIFIE_RENDERER_MAX_BYTES',
    ],
    ['browser', { mostBrowserBytes: 900 * MB }, 'at most 900 MB are allowed by SCRAPIFIE_BROWSER_MAX_BYTES'],
  ])(
    'fails with BROWSER_CRASHED and the limit of the %s, and the browser goes on',
    async (_, limits, sentence) => {
      const { engine, runtime } = testBrowser({
        maxBrowsers: 1,
        pagesAtOnce: 2,
        memoryEveryMs: 50,
        ...limits,
      });
      const { origin } = await greedySite();
      const error = await failureOf(render(engine, `${origin}/greedy`, { key: 'greedy', timeoutMs: 60_000 }));
      expect(error.code).toBe('BROWSER_CRASHED');
      expect(error.message).toContain(sentence);
      expect(textOf(await render(engine, `${origin}/`, { key: 'modest' }))).toContain('modest');
      expect(runtime.running?.pool.stats).toMatchObject({ launched: 1, crashed: 0 });
    },
    LIMIT_MS,
  );

  test(
    'costs the pages in its process an attempt that is not counted',
    async () => {
      const { engine } = testBrowser({
        maxBrowsers: 1,
        pagesAtOnce: 2,
        pagesEach: 2,
        memoryEveryMs: 50,
        mostRendererBytes: 500 * MB,
      });
      let bothAsked: () => void = () => undefined;
      const together = new Promise<void>((resolve) => {
        bothAsked = resolve;
      });
      let asked = 0;
      const { origin } = await serve(async (_, response) => {
        asked += 1;
        if (asked === 2) bothAsked();
        await together;
        response.setHeader('content-type', 'text/html').end(GREEDY);
      });
      const options = { key: 'shared', timeoutMs: 60_000 };
      const errors = await Promise.all(
        ['/a', '/b'].map((path) => failureOf(render(engine, `${origin}${path}`, options))),
      );
      expect(errors.map(({ code }) => code)).toEqual(['BROWSER_LOST', 'BROWSER_LOST']);
      expect(errors[0]?.message).toContain('at most 500 MB');
    },
    LIMIT_MS,
  );
});
