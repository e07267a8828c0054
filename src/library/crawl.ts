import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { draftCrawl } from '../capabilities/jobs/accept/job-draft.ts';
import { parseRequest } from '../capabilities/jobs/request/invalid-request.ts';
import { type CrawlRequest, crawlRequestSchema } from '../capabilities/jobs/request/job-request.ts';
import type { PageResult } from '../capabilities/jobs/results/page-result.ts';
import { concurrencyFor } from '../cli/crawl/crawl-request.ts';
import { goOn } from '../cli/crawl/crawl-start.ts';
import { OPERATOR } from '../cli/folders/one-off.ts';
import { failedPageOf, hasPage } from '../cli/output/page-line.ts';
import type { OpenPlatform } from '../cli/shell/shell.ts';
import { guarded } from '../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { JobId } from '../core/model/ids.ts';
import type { Job } from '../core/model/job.ts';
import type { Page } from '../core/model/page.ts';
import { defined } from '../lib/defined.ts';
import { createNotifier } from '../lib/waits.ts';
import { type CrawlPosition, type PositionFile, positionFile, requestHash } from './crawl-position.ts';
import { applyHooks, type CrawledPage, type PageHooks } from './page-hooks.ts';

/** The request of `POST /v1/crawl`, hooks, and what only the operator of an installation may say. */
export interface CrawlOptions<Extracted = Readonly<Record<string, unknown>>>
  extends Omit<z.input<typeof crawlRequestSchema>, 'urls' | 'webhook'>,
    PageHooks<Extracted> {
  /** Requests per second to each host; left out: what the policy says, 2 by default. */
  readonly ratePerSecond?: number | 'unlimited';
  /**
   * Go on with the last crawl of the same start URLs in the data folder: the loop gets the pages that it has not handled
   * yet. Limits may be others than before, all else must be the same. Without such a crawl, one begins.
   */
  readonly resume?: boolean;
  /** Stops the crawl; the loop ends with CANCELLED. A crawl in a named folder can go on later. */
  readonly signal?: AbortSignal;
}

export interface CrawlSummary {
  readonly jobId: string;
  readonly status: Job['status'];
  /** Why it ended before everything was fetched, such as `budget.pages`; else null. */
  readonly stopReason: string | null;
  readonly pages: number;
  readonly failed: number;
  readonly skipped: number;
  readonly denied: number;
  readonly bytes: number;
}

/**
 * A crawl: an async iterator over its pages, in the order they were stored. It begins with the loop. Pages wait on disk, not
 * in memory, until the loop asks for them. Leaving the loop stops the crawl. URLs that failed before anything was asked of
 * their host come last, with `error`.
 */
export interface Crawl<Extracted> extends AsyncIterable<CrawledPage<Extracted>> {
  /** Crawls to the end without a loop, for crawls whose hooks do the work. */
  run(): Promise<CrawlSummary>;
  /** Null until the crawl has ended. */
  readonly summary: CrawlSummary | null;
}

/** What a crawl works with while it runs. */
export interface CrawlPlace {
  readonly platform: OpenPlatform;
  /** Null when the folder is temporary, so that nothing is kept for later. */
  readonly dataDir: string | null;
  /** Aborted when the platform closes. */
  readonly closing: AbortSignal;
  /** Called when the loop has ended, in whatever way. */
  release(): Promise<void>;
}

/** Rows of pages in memory; their bodies are read a few at a time. */
const STEP = 32;
const LEDGER_STEP = 1_000;
const LOOK_EVERY_MS = 1_000;

export function createCrawl<Extracted>(
  urls: string | readonly string[],
  options: CrawlOptions<Extracted>,
  open: () => Promise<CrawlPlace>,
): Crawl<Extracted> {
  let summary: CrawlSummary | null = null;
  let hasBegun = false;
  async function* pages(): AsyncGenerator<CrawledPage<Extracted>, void, undefined> {
    if (hasBegun)
      throw new ScrapifieError('INVALID_USAGE', 'A crawl has one loop; call crawl() again for another.');
    hasBegun = true;
    const { extractor, pipeline, onPage, ratePerSecond, resume = false, signal, ...fields } = options;
    requireGoingOn(signal);
    const concurrency = fields.concurrency ?? concurrencyFor(ratePerSecond);
    const request = parseRequest(crawlRequestSchema, {
      ...fields,
      ...defined({ concurrency }),
      urls: [urls].flat(),
    });
    const place = await open();
    try {
      const begun = await begin(place, request, ratePerSecond ?? null, resume);
      const stops = signal === undefined ? [place.closing] : [place.closing, signal];
      const hooks = { extractor, pipeline, onPage } as PageHooks<Extracted>;
      yield* follow(place, begun, hooks, AbortSignal.any(stops), signal);
      summary = summaryOf(await jobOf(place, begun.job.id));
    } finally {
      await place.release();
    }
  }
  return {
    [Symbol.asyncIterator]: pages,
    async run() {
      // The hooks have had each page.
      for await (const _ of pages());
      if (summary === null) throw new Error('The crawl ended without a summary.');
      return summary;
    },
    get summary() {
      return summary;
    },
  };
}

interface Begun {
  readonly job: Job;
  readonly position: CrawlPosition;
  readonly file: PositionFile | null;
}

async function begin(
  { platform, dataDir }: CrawlPlace,
  request: CrawlRequest,
  rate: CrawlOptions['ratePerSecond'] | null,
  isResumed: boolean,
): Promise<Begun> {
  const { store, jobs } = platform;
  const account = await store.defaultAccount();
  const operator = { ...OPERATOR, hostRatePerSecond: rate ?? null };
  const hash = requestHash(request, rate);
  const fresh: CrawlPosition = { request: hash, taken: 0, isComplete: false };
  const former = isResumed ? await formerCrawl(platform, request) : null;
  if (former === null) {
    const job = await jobs.crawl(request, account, { operator });
    const file = dataDir === null ? null : positionFile(dataDir, job.id);
    file?.write(fresh);
    return { job, position: fresh, file };
  }
  const file = dataDir === null ? null : positionFile(dataDir, former.id);
  const position = file?.read() ?? fresh;
  if (position.request !== hash) {
    const message = `The crawl ${former.id} in this folder was begun with other options. Only limits may change when it goes on.`;
    throw new ScrapifieError('INVALID_USAGE', message);
  }
  const { budgets } = draftCrawl(request, () => true, operator).options;
  const job = await goOn(jobs, former, { budgets, pace: {} }, account).catch((error: unknown) => {
    // The job has ended, and raising a limit would not make it go on.
    if (isScrapifieError(error) && error.code === 'CONFLICT') return former;
    throw error;
  });
  return { job, position: { ...position, isComplete: position.isComplete && job === former }, file };
}

/** The newest crawl of the same start URLs; null when there is none. */
async function formerCrawl({ store }: OpenPlatform, request: CrawlRequest): Promise<Job | null> {
  const accountId = await store.defaultAccount();
  const seeds = [...request.urls, ...request.sitemapUrls];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await store.listJobs({ accountId, kind: 'crawl', cursor, limit: 100 });
    const found = items.find((job) => isDeepStrictEqual([...job.seeds], seeds));
    if (found !== undefined) return found;
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return null;
}

async function* follow<Extracted>(
  place: CrawlPlace,
  begun: Begun,
  hooks: PageHooks<Extracted>,
  stop: AbortSignal,
  signal: AbortSignal | undefined,
): AsyncGenerator<CrawledPage<Extracted>, void, undefined> {
  const { platform } = place;
  const { id } = begun.job;
  const notifier = createNotifier();
  const unsubscribe = platform.bus.subscribe('job.changed', ({ jobs }) => {
    if (jobs.includes(id)) notifier.notify();
  });
  const onAbort = guarded(notifier.notify);
  stop.addEventListener('abort', onAbort);
  let { position } = begun;
  let isOver = false;
  const moveTo = (next: Partial<CrawlPosition>): void => {
    position = { ...position, ...next };
    begun.file?.write(position);
  };
  const handled = (result: PageResult | FailedPage, stored: Page | null) =>
    applyHooks(result as CrawledPage<Extracted>, stored, platform.blobs, hooks);
  try {
    while (!position.isComplete) {
      requireGoingOn(signal, place.closing);
      // Read before the pages: when it has ended, the list has all of them.
      const job = await jobOf(place, id);
      const listed = await platform.store.listPages({ jobId: id, cursor: position.cursor, limit: STEP });
      const rest = listed.items.slice(position.taken);
      let at = 0;
      for await (const result of platform.jobs.read.resultsOf(rest, job)) {
        const page = await handled(result, rest[at] ?? null);
        at += 1;
        if (page !== null) yield page;
        moveTo({ taken: position.taken + 1 });
        requireGoingOn(signal, place.closing);
      }
      if (listed.nextCursor !== null) moveTo({ cursor: listed.nextCursor, taken: 0 });
      else if (job.finishedAt !== null) break;
      else await notifier.wait(LOOK_EVERY_MS);
    }
    if (!position.isComplete) {
      for await (const failure of failures(place, id)) {
        const page = await handled(failure, null);
        if (page !== null) yield page;
        requireGoingOn(signal, place.closing);
      }
      moveTo({ isComplete: true });
    }
    isOver = true;
  } finally {
    unsubscribe();
    stop.removeEventListener('abort', onAbort);
    // A loop that was left wants no more pages. The crawl can go on later: nothing that was fetched is lost.
    if (!isOver && !place.closing.aborted) await cancel(platform, id);
  }
}

async function cancel({ jobs, store }: OpenPlatform, id: JobId): Promise<void> {
  await jobs.cancel(id, await store.defaultAccount()).catch((error: unknown) => {
    if (!isScrapifieError(error) || error.code !== 'CONFLICT') throw error;
  });
}

type FailedPage = ReturnType<typeof failedPageOf>;

/** URLs that failed without a page. */
async function* failures({ platform: { store } }: CrawlPlace, jobId: JobId): AsyncGenerator<FailedPage> {
  const sources = await store.getSources(jobId);
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await store.listTasks({
      jobId,
      state: 'failed',
      cursor,
      limit: LEDGER_STEP,
    });
    for (const entry of items) if (!hasPage(entry)) yield failedPageOf(entry, sources[entry.url]);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function requireGoingOn(signal: AbortSignal | undefined, closing?: AbortSignal): void {
  if (signal?.aborted === true)
    throw new ScrapifieError('CANCELLED', 'The crawl was cancelled.', { cause: signal.reason });
  if (closing?.aborted === true) throw new ScrapifieError('SHUTTING_DOWN', 'Scrapifie was closed.');
}

async function jobOf({ platform }: CrawlPlace, id: JobId): Promise<Job> {
  const job = await platform.store.getJob(id);
  if (job === null) throw new ScrapifieError('NOT_FOUND', `The crawl ${id} was deleted.`);
  return job;
}

const summaryOf = ({ id, status, stopReason, counters }: Job): CrawlSummary => ({
  jobId: id,
  status,
  stopReason,
  pages: counters.pages,
  failed: counters.failed,
  skipped: counters.skipped,
  denied: counters.denied,
  bytes: counters.bytes,
});
