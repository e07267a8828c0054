import type { Machine } from '../../byte-budget.ts';

/** How many browsers and pages this machine can carry. */
export interface RenderLimits {
  readonly maxBrowsers: number;
  /** In all browsers together. */
  readonly pagesAtOnce: number;
  /** In one browser. */
  readonly pagesEach: number;
  /** A browser that holds more than this is replaced. */
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
  return { maxBrowsers, pagesAtOnce, pagesEach, maxBrowserBytes };
}
