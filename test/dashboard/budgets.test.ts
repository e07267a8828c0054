import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { endCommands, temporaryFolder } from '../integration/cli-command.ts';
import { openBrowser, type ServedDashboard, serve } from './dashboard-server.ts';

const MOST_SCRIPT_BYTES = 250_000;
const MOST_SHIFT = 0.02;
/** About a mobile network: what loads late must not push what is read. */
const SLOW = { offline: false, latency: 120, downloadThroughput: 400_000, uploadThroughput: 100_000 };

/** Ends what hangs: each walk opens two dozen pages. */
const LONG_MS = 240_000;
const WAIT = { timeout: 60_000, interval: 100 };

const folder = temporaryFolder();
let browser: Browser;
let server: ServedDashboard;
let job = '';
let monitor = '';
beforeAll(async () => {
  [browser, server] = await Promise.all([openBrowser(), serve(folder)]);
  const shop = `${server.origin}/sample/shop/`;
  ({ id: job } = (await server.call('/v1/crawl', { urls: [shop] })) as { id: string });
  const watched = { name: 'Shop', urls: [shop], schedule: { every: '1d' } };
  ({ id: monitor } = (await server.call('/v1/monitors', watched)) as { id: string });
  await vi.waitFor(async () => {
    const { finishedAt } = await server.call(`/v1/jobs/${job}`);
    if (finishedAt === null) throw new Error('The crawl has not ended yet.');
  }, WAIT);
});
afterAll(async () => {
  await browser?.close();
  await endCommands();
  folder.remove();
});

it('Home loads at most 250 KB of compressed script, charts included', async () => {
  const context = await browser.newContext();
  const page = await server.signIn(context);
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const names = new Map<string, string>();
  const bytes = new Map<string, number>();
  session.on('Network.responseReceived', ({ requestId, response }) => names.set(requestId, response.url));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const name = names.get(requestId) ?? '';
    if (name.endsWith('.js')) bytes.set(name, encodedDataLength);
  });
  await page.goto(`${server.origin}/`);
  await page.getByRole('button', { name: 'Notifications' }).waitFor();
  await page.getByRole('img', { name: 'Pages a day' }).waitFor();
  const total = [...bytes.values()].reduce((sum, each) => sum + each, 0);
  expect(bytes.size).toBeGreaterThan(2);
  expect(total).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
  await context.close();
});

interface Shifts {
  readonly sum: number;
  /** Each shift with the texts that moved. */
  readonly what: readonly string[];
}

/** Runs in each page before its scripts: adds up what moved without a click or key before it. */
const WATCH_SHIFTS = `
  globalThis.layoutShifts = { sum: 0, what: [] };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      layoutShifts.sum += value;
      const moved = sources.map(({ node }) => node?.textContent?.slice(0, 40));
      layoutShifts.what.push(value.toFixed(3) + ': ' + moved.join(' | '));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;
const AFTER_TWO_FRAMES = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(layoutShifts))))`;

/** What has moved until nothing of the page is waited for any more. */
async function shiftsOf(page: Page): Promise<Shifts> {
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('[class*="skeleton"]').count()).toBe(0);
  return page.evaluate<Shifts>(AFTER_TWO_FRAMES);
}

describe.each(['a quick', 'a slow'])('over %s network', (speed) => {
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addInitScript(WATCH_SHIFTS);
    page = await server.signIn(context);
    page.setDefaultTimeout(30_000);
    if (speed === 'a quick') return;
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', SLOW);
  });
  afterAll(() => context?.close());

  it(
    'no page moves by more than 0.02 while it loads',
    async () => {
      await page.goto(`${server.origin}/`);
      const menu = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
      await menu.first().waitFor();
      const paths = await menu.evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      expect(paths.length).toBeGreaterThan(15);
      const moved: unknown[] = [];
      for (const path of [
        ...paths,
        '/jobs/new',
        `/jobs/${job}`,
        `/jobs/${job}?tab=pages`,
        `/jobs/${job}?tab=exports`,
        `/monitors/${monitor}`,
      ]) {
        await page.goto(`${server.origin}${path}`);
        const { sum, what } = await shiftsOf(page);
        if (sum > MOST_SHIFT) moved.push({ path, sum, what });
      }
      expect(moved).toEqual([]);
    },
    LONG_MS,
  );
});
