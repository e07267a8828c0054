import type { Machine } from '../../byte-budget.ts';
import type { MemoryLimits } from './memory-watch.ts';

/** How many browsers and pages this machine can carry. */
export interface RenderLimits extends MemoryLimits {
  readonly maxBrowsers: number;
  /** How many pages all browsers together show at once. */
  readonly pagesAtOnce: number;
  /** How many pages one browser shows at once. */
  readonly pagesEach: number;
  /** A browser that holds more than this is replaced after its pages. */
  readonly maxBrowserBytes: number;
}

const MEBIBYTE = 1_048_576;
/** Measured on plain pages with Chromium 15x: the browser with its helpers, then each page with its renderer. */
const BROWSER_BYTES = 250 * MEBIBYTE;
const PAGE_BYTES = 150 * MEBIBYTE;
/** The rest is for this program, and for pages that are heavier than usual. */
const SHARE = 0.5;
const PAGES_PER_CORE = 4;
const PAGES_PER_BROWSER = 8;
/** A browser whose pages run is given this much, unless its pages may need more. */
const MOST_BROWSER_BYTES = 4_096 * MEBIBYTE;
const BROWSER_SHARE = 0.25;
/** Pages may be half again as heavy as plain ones. */
const HEAVINESS = 1.5;
/** All pages of a host may be in one renderer. */
const RENDERER_SHARE = 0.75;
/** A browser that comes near the limit is replaced in order. */
const NEAR = 0.75;

/** One browser with one page is the least, however small the machine. */
export function renderLimitsFor({ memoryBytes, cores }: Machine): RenderLimits {
  const budget = memoryBytes * SHARE;
  const affordable = Math.floor((budget - BROWSER_BYTES) / PAGE_BYTES);
  const pagesAtOnce = Math.max(1, Math.min(affordable, cores * PAGES_PER_CORE));
  const forBrowsers = Math.floor((budget - pagesAtOnce * PAGE_BYTES) / BROWSER_BYTES);
  const wanted = Math.ceil(pagesAtOnce / PAGES_PER_BROWSER) + 1;
  const maxBrowsers = Math.max(1, Math.min(forBrowsers, wanted));
  const pagesEach = Math.min(pagesAtOnce, PAGES_PER_BROWSER);
  const maxBrowserBytes = Math.max(budget / maxBrowsers, BROWSER_BYTES + PAGE_BYTES);
  const most = mostBytesFor(memoryBytes, pagesEach);
  return withMemoryLimits({ maxBrowsers, pagesAtOnce, pagesEach, maxBrowserBytes }, most, 0);
}

/** What one browser may hold at the very most. */
export function mostBytesFor(memoryBytes: number, pagesEach: number): number {
  const usual = HEAVINESS * (BROWSER_BYTES + pagesEach * PAGE_BYTES);
  return Math.max(usual, Math.min(MOST_BROWSER_BYTES, memoryBytes * BROWSER_SHARE));
}

/** `rendererBytes` 0: a share of the browser's. */
export function withMemoryLimits<Limits extends Pick<RenderLimits, 'maxBrowserBytes'>>(
  limits: Limits,
  mostBrowserBytes: number,
  rendererBytes: number,
): Limits & MemoryLimits {
  return {
    ...limits,
    maxBrowserBytes: Math.min(limits.maxBrowserBytes, mostBrowserBytes * NEAR),
    mostBrowserBytes,
    mostRendererBytes: rendererBytes === 0 ? mostBrowserBytes * RENDERER_SHARE : rendererBytes,
  };
}
