import type { Machine } from '../../byte-budget.ts';
import { killProcess, type ProcessMemory, TreeMemory } from './process-tree.ts';

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

export interface MemoryLimits {
  /** Limit of a browser with all its processes. */
  readonly mostBrowserBytes: number;
  /** Limit of one process below the main one, above all of a renderer. */
  readonly mostRendererBytes: number;
}

/** A limit that a browser has passed, and the process to end for it; its main process ends the browser. */
interface MemoryExcess {
  readonly pid: number;
  readonly bytes: number;
  readonly mostBytes: number;
  readonly setting: 'SCRAPIFIE_RENDERER_MAX_BYTES' | 'SCRAPIFIE_BROWSER_MAX_BYTES';
}

/**
 * Whether a browser holds too much. The largest process goes: it is the one that grew, and the others keep their pages.
 * What the processes share is counted once.
 */
export function memoryExcess(
  mainPid: number,
  processes: readonly ProcessMemory[],
  { mostBrowserBytes, mostRendererBytes }: MemoryLimits,
): MemoryExcess | null {
  let bytes = 0;
  let shared = 0;
  let largest: ProcessMemory | null = null;
  let largestChild: ProcessMemory | null = null;
  for (const one of processes) {
    bytes += one.ownBytes;
    shared = Math.max(shared, one.sharedBytes);
    if (one.ownBytes > (largest?.ownBytes ?? -1)) largest = one;
    if (one.pid !== mainPid && one.ownBytes > (largestChild?.ownBytes ?? -1)) largestChild = one;
  }
  if (largestChild !== null && largestChild.ownBytes > mostRendererBytes) {
    const { pid, ownBytes } = largestChild;
    return { pid, bytes: ownBytes, mostBytes: mostRendererBytes, setting: 'SCRAPIFIE_RENDERER_MAX_BYTES' };
  }
  bytes += shared;
  if (largest === null || bytes <= mostBrowserBytes) return null;
  return { pid: largest.pid, bytes, mostBytes: mostBrowserBytes, setting: 'SCRAPIFIE_BROWSER_MAX_BYTES' };
}

/** `it held 1500 MB of memory, at most 1000 MB are allowed by SCRAPIFIE_RENDERER_MAX_BYTES` */
export function describeExcess({ bytes, mostBytes, setting }: MemoryExcess): string {
  const held = `it held ${Math.round(bytes / 1e6)} MB of memory`;
  return `${held}, at most ${Math.round(mostBytes / 1e6)} MB are allowed by ${setting}`;
}

interface MemoryWatchOptions {
  /** The main process of the browser; null for a browser whose processes are not ours, which is not watched. */
  readonly mainPid: number | null;
  readonly limits: MemoryLimits;
  readonly everyMs: number;
  /** Whether the browser has pages, which alone can make it grow. */
  readonly hasPages: () => boolean;
  /** The main process holds the most, so that only the end of the browser helps. */
  readonly onBrowserExcess: (why: string) => void;
}

/** A page whose process ends within this after one was ended for its memory was shown by that process. */
const CRASH_MS = 5_000;

/**
 * Looks at the memory of a browser while its pages run: one that allocates without end would take the memory of the
 * whole machine before its time is up.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #memory: TreeMemory | null;
  /** Processes that were ended. They hold memory until the system has taken it back, and are not counted meanwhile. */
  readonly #ended = new Set<number>();
  /** Why a process was ended last, and when. */
  #last: { readonly why: string; readonly at: number } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isEnded = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
    this.#memory = options.mainPid === null ? null : new TreeMemory(options.mainPid);
    this.#arm();
  }

  /** Why the process of a page that has just crashed was ended here; null when it was not. */
  reasonOfCrash(now: number): string | null {
    return this.#last !== null && now - this.#last.at < CRASH_MS ? this.#last.why : null;
  }

  end(): void {
    this.#isEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #arm(): void {
    if (this.#isEnded || this.#memory === null) return;
    const look = () => this.#look().catch(() => {});
    this.#timer = setTimeout(() => void look().then(() => this.#arm()), this.#options.everyMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { mainPid, limits, hasPages, onBrowserExcess } = this.#options;
    if (mainPid === null || this.#memory === null || !hasPages()) return;
    const all = await this.#memory.read();
    if (this.#isEnded) return;
    for (const pid of this.#ended) if (!all.some((one) => one.pid === pid)) this.#ended.delete(pid);
    const counted = all.filter(({ pid }) => !this.#ended.has(pid));
    const excess = memoryExcess(mainPid, counted, limits);
    if (excess === null) return;
    const why = describeExcess(excess);
    if (excess.pid === mainPid) {
      onBrowserExcess(why);
      return;
    }
    this.#last = { why, at: performance.now() };
    this.#ended.add(excess.pid);
    killProcess(excess.pid);
  }
}
