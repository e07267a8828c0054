import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import type { MeasuredServer } from '../api/server.ts';
import { openVisitor } from './visitor.ts';

export interface LiveFigures {
  /** From the start of the navigation until the page is drawn and its last long task has ended, for each first load. */
  readonly interactiveMs: readonly number[];
  /** Processor time of the page's main thread for each first load: other programs do not count. */
  readonly loadCpuMs: readonly number[];
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** Tasks of the main thread over 50 ms while events came in. */
  readonly longTasksMs: readonly number[];
  /** Processor time of the main thread for each second of events. */
  readonly cpuMsPerSecond: number;
}

/** 64 pages at once, each after this time, are 140 pages a second at most: one event each. */
const ANSWER_MS = 450;
/** A main thread that was quiet for so long has nothing more to do, as Lighthouse sees it. */
const QUIET_MS = 5_000;
const LOADS = 5;

const WATCH_TASKS = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  new MutationObserver((_, observer) => {
    if (document.querySelector('main h1') === null) return;
    globalThis.drawnAt = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });`;

/** A site of many pages that all are links of the first, each answered after a while. */
async function startSite(pages: number) {
  const links = Array.from({ length: pages }, (_, at) => `<a href="/page-${at}">${at}</a>`).join(' ');
  const site = createServer(({ url = '' }, response) => {
    const body = `<!doctype html><title>${url}</title><h1>${url}</h1>${url === '/' ? links : ''}`;
    response.setHeader('content-type', 'text/html');
    if (url === '/robots.txt') response.writeHead(404).end();
    else setTimeout(() => response.end(body), url === '/' ? 0 : ANSWER_MS);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  return { origin: `http://127.0.0.1:${(site.address() as AddressInfo).port}`, close: () => site.close() };
}

async function cpuMsOf(context: BrowserContext, page: Page): Promise<() => Promise<number>> {
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
}

async function firstLoad(context: BrowserContext, origin: string) {
  await context.addInitScript(WATCH_TASKS);
  const page = await context.newPage();
  const cpuMs = await cpuMsOf(context, page);
  await page.goto(`${origin}/`);
  await page.locator('main h1').waitFor();
  const loadCpuMs = await cpuMs();
  await page.waitForTimeout(QUIET_MS);
  const interactiveMs = await page.evaluate<number>(
    'Math.max(drawnAt, ...longTasks.map(({ startTime, duration }) => startTime + duration))',
  );
  await context.close();
  return { interactiveMs, loadCpuMs };
}

/** First loads of Home, then the page of a crawl while each of its pages is an event. */
export async function watchLive(server: MeasuredServer, pages: number): Promise<LiveFigures> {
  const [visitor, site] = await Promise.all([openVisitor(server), startSite(pages)]);
  try {
    const loads = [];
    for (let load = 0; load < LOADS; load++)
      loads.push(await firstLoad(await visitor.enter(), server.origin));

    const context = await visitor.enter();
    await context.addInitScript(WATCH_TASKS);
    const page = await context.newPage();
    const answer = await context.request.post(`${server.origin}/v1/crawl`, {
      data: { urls: [`${site.origin}/`], sitemap: 'skip' },
      headers: { 'x-scrapifie-dashboard': '1' },
    });
    const { data } = (await answer.json()) as { data: { id: string } };
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const times: number[] = [];
    session.on('Network.eventSourceMessageReceived', ({ eventName }) => {
      if (eventName === 'page.done') times.push(performance.now());
    });
    await page.goto(`${server.origin}/jobs/${data.id}`);
    await page.locator('main h1').waitFor();
    const cpuMs = await cpuMsOf(context, page);
    await page.evaluate('longTasks.length = 0');
    const [counted, startedAt, cpuBefore] = [times.length, performance.now(), await cpuMs()];
    await page.getByText('completed', { exact: true }).first().waitFor({ timeout: 300_000 });
    const seconds = (performance.now() - startedAt) / 1_000;
    return {
      interactiveMs: loads.map(({ interactiveMs }) => interactiveMs),
      loadCpuMs: loads.map(({ loadCpuMs }) => loadCpuMs),
      eventsPerSecond: (times.length - counted) / seconds,
      seconds,
      longTasksMs: await page.evaluate<number[]>('longTasks.map(({ duration }) => duration)'),
      cpuMsPerSecond: ((await cpuMs()) - cpuBefore) / seconds,
    };
  } finally {
    await visitor.close();
    site.close();
  }
}
