import cliProgress from 'cli-progress';
import type { Waiting } from '../../capabilities/jobs/waits/waiting.ts';
import type { JobCounters } from '../../core/model/job.ts';
import { describeMs, describeSpeed } from '../../lib/human-units.ts';

/** The fields of a job that progress is computed from. */
export interface Counted {
  readonly counters: Pick<JobCounters, 'pages' | 'failed' | 'open'>;
  readonly options?: { readonly budgets: { readonly maxPages: number | null } };
}

/** Shows how far a crawl is: a bar on a terminal, a line now and then elsewhere. */
export interface Progress {
  /** `waiting`: what keeps the job, in a few words; null when nothing does. */
  show(job: Counted, now: number, waiting?: string | null): void;
  /** Takes the bar away; the terminal is as it was. */
  stop(): void;
}

/** How far a crawl is and how fast it goes. */
export interface CrawlRate {
  readonly done: number;
  readonly left: number;
  readonly failed: number;
  readonly pagesPerSecond: number;
  /** Null while nothing can be said. */
  readonly etaMs: number | null;
}

const LINE_EVERY_MS = 5_000;
/** Speed is that of the last seconds: a crawl that has slowed down should not promise what it did before. */
const WINDOW_MS = 10_000;
const BAR_COLUMNS = 30;
const NARROW_COLUMNS = 80;

/** Turns successive looks at a job into its rate. */
export function createCrawlRate(): (job: Counted, now: number) => CrawlRate {
  const samples: { readonly at: number; readonly done: number }[] = [];
  return ({ counters, options }, now) => {
    const done = counters.pages + counters.failed;
    samples.push({ at: now, done });
    // The oldest sample is the last one outside the window, so that the window is covered whole.
    while ((samples[1]?.at ?? now) <= now - WINDOW_MS) samples.shift();
    const first = samples[0] ?? { at: now, done };
    const perMs = now > first.at ? (done - first.done) / (now - first.at) : 0;
    const maxPages = options?.budgets.maxPages ?? null;
    const left = Math.min(
      counters.open,
      maxPages === null ? Number.POSITIVE_INFINITY : Math.max(0, maxPages - done),
    );
    return {
      done,
      left,
      failed: counters.failed,
      pagesPerSecond: perMs * 1_000,
      etaMs: perMs > 0 ? left / perMs : null,
    };
  };
}

/** Between the lines of a trace a bar would be drawn again and again: such a crawl has a line now and then. */
export function createProgress(
  stream: NodeJS.WriteStream,
  { isQuiet, isVerbose = false }: { readonly isQuiet: boolean; readonly isVerbose?: boolean },
): Progress {
  if (isQuiet) return { show: () => undefined, stop: () => undefined };
  return stream.isTTY && !isVerbose ? createBar(stream) : createLines(stream);
}

function createLines(stream: NodeJS.WriteStream): Progress {
  const rateOf = createCrawlRate();
  let lastAt: number | null = null;
  let lastLine = '';
  return {
    show(job, now, waiting = null) {
      const rate = rateOf(job, now);
      lastAt ??= now;
      if (now - lastAt < LINE_EVERY_MS) return;
      const line = describeRate(rate, waiting);
      // A crawl that waits says so once, and again when something has changed.
      if (waiting !== null && line === lastLine) return;
      lastAt = now;
      lastLine = line;
      stream.write(`${line}\n`);
    },
    stop: () => undefined,
  };
}

function createBar(stream: NodeJS.WriteStream): Progress {
  const rateOf = createCrawlRate();
  const bar = new cliProgress.SingleBar({
    stream,
    fps: 4,
    hideCursor: true,
    clearOnComplete: true,
    // Our own handler of the signal stops the bar.
    gracefulExit: false,
    format: (_options, _params, payload: { rate: CrawlRate; waiting: string | null }) =>
      barLine(payload.rate, stream.columns ?? NARROW_COLUMNS, payload.waiting),
  });
  let isStarted = false;
  return {
    show(job, now, waiting = null) {
      const rate = rateOf(job, now);
      if (!isStarted) bar.start(rate.done + rate.left, rate.done, { rate, waiting });
      isStarted = true;
      bar.setTotal(rate.done + rate.left);
      bar.update(rate.done, { rate, waiting });
    },
    stop() {
      if (isStarted) bar.stop();
      isStarted = false;
    },
  };
}

/** The bar and as much beside it as the terminal is wide. */
export function barLine(rate: CrawlRate, columns: number, waiting: string | null = null): string {
  const { done, left } = rate;
  const share = done + left === 0 ? 0 : done / (done + left);
  const width = columns < NARROW_COLUMNS ? Math.floor(BAR_COLUMNS / 3) : BAR_COLUMNS;
  const filled = Math.round(share * width);
  const line = `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${describeRate(rate, waiting)}`;
  return line.length <= columns ? line : line.slice(0, columns);
}

export function describeRate(
  { done, left, failed, pagesPerSecond, etaMs }: CrawlRate,
  waiting: string | null = null,
): string {
  // A speed of nothing and an unknown end say less than the reason.
  if (waiting !== null && pagesPerSecond === 0)
    return `${done} done · ${left} left · ${failed} failed · ${waiting}`;
  const eta = etaMs === null ? '–' : describeMs(etaMs);
  return `${done} done · ${left} left · ${describeSpeed(pagesPerSecond)} pages/s · ${failed} failed · ETA ${eta}`;
}

/** What a crawl waits for, for its progress line; null when nothing keeps it. */
export function describeWaiting(waiting: readonly Waiting[]): string | null {
  const [first, ...others] = waiting;
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` · ${others.length} more`;
  return `waits (${first.code}): ${first.message}${more}`;
}
