import type { CDPSession } from 'playwright-core';
import type { MeasuredServer } from '../api/server.ts';
import { openVisitor } from './visitor.ts';

export interface ScrollFigures {
  readonly rows: number;
  /** Frames a second of each stretch of the way. */
  readonly framesPerSecond: readonly number[];
  /** Processor time of the page's main thread for one frame, in milliseconds: other programs do not count. */
  readonly cpuPerFrameMs: readonly number[];
  /** The longest frame of all, in milliseconds. */
  readonly longestFrameMs: number;
  /** Memory of the page's JavaScript at the start and after each stretch, when what is unused has been collected. */
  readonly heapBytes: readonly number[];
  /** Nodes of the document at the same times. */
  readonly nodes: readonly number[];
  readonly calls: number;
  /** The most rows that one call has asked for. */
  readonly largestCall: number;
  readonly seconds: number;
}

const STRETCHES = 20;
/**
 * Pixels a frame: two and a half times the height of the list, so that each frame has other rows. A hand that turns a wheel
 * asks for a tenth of that.
 */
const STEP_PX = 1_400;
const ROW_PX = 38;
const GRID = '[role="grid"][aria-label="Pages of the job"]';

async function look(session: CDPSession) {
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), cpuMs: of('TaskDuration') * 1_000 };
}

async function cleanLook(session: CDPSession) {
  await session.send('HeapProfiler.collectGarbage');
  return look(session);
}

/** Runs in the page: scrolls by frames until so many pixels have passed or the list ends, and says how long each frame took. */
const scrollScript = (pixels: number): string => `new Promise((resolve) => {
  const scroller = document.querySelector(${JSON.stringify(GRID)});
  const frames = [];
  let before = performance.now();
  let passed = 0;
  const frame = (now) => {
    frames.push(now - before);
    before = now;
    passed += ${STEP_PX};
    const top = scroller.scrollTop;
    scroller.scrollBy(0, ${STEP_PX});
    if (scroller.scrollTop === top || passed >= ${pixels}) resolve(frames);
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

/** Scrolls through all pages of a job in the dashboard, from the first to the last. */
export async function scrollThrough(
  server: MeasuredServer,
  jobId: string,
  rows: number,
): Promise<ScrollFigures> {
  const visitor = await openVisitor(server);
  try {
    const context = await visitor.enter();
    const page = await context.newPage();
    const asked: number[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/rows')) asked.push(Number(searchParams.get('limit')));
    });
    await page.goto(`${server.origin}/jobs/${jobId}?tab=pages`);
    await page.locator(`${GRID} [role="row"][aria-rowindex="2"]`).waitFor({ timeout: 60_000 });
    await page
      .getByText(`${rows.toLocaleString('en-US')} rows`, { exact: true })
      .waitFor({ timeout: 120_000 });

    const session = await context.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const startedAt = performance.now();
    const looks = [await cleanLook(session)];
    const framesPerSecond: number[] = [];
    const cpuPerFrameMs: number[] = [];
    let longestFrameMs = 0;
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const frames = await page.evaluate<number[]>(scrollScript(Math.ceil((rows * ROW_PX) / STRETCHES)));
      const { cpuMs } = await look(session);
      cpuPerFrameMs.push((cpuMs - (looks.at(-1)?.cpuMs ?? 0)) / frames.length);
      framesPerSecond.push((frames.length * 1_000) / frames.reduce((sum, ms) => sum + ms, 0));
      longestFrameMs = Math.max(longestFrameMs, ...frames);
      looks.push(await cleanLook(session));
    }
    await page.locator(`${GRID} [role="row"][aria-rowindex="${rows + 1}"]`).waitFor();
    return {
      rows,
      framesPerSecond,
      cpuPerFrameMs,
      longestFrameMs,
      heapBytes: looks.map(({ heap }) => heap),
      nodes: looks.map(({ nodes }) => nodes),
      calls: asked.length,
      largestCall: Math.max(...asked),
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await visitor.close();
  }
}
