import { ERRORS, type ErrorCode, EXIT } from '../../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import { creditsOf } from '../../../core/model/credits.ts';
import type { JobId, TaskId } from '../../../core/model/ids.ts';
import type { Format, Job, JobOptions } from '../../../core/model/job.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { Page } from '../../../core/model/page.ts';
import { isReasonOf } from '../../../core/model/reasons.ts';
import { expiredPart, requireLedger } from '../../../core/model/retention.ts';
import type { LedgerEntry, TaskState } from '../../../core/model/task.ts';
import type { Blobs } from '../../../core/ports/blobs.ts';
import type { HostStore } from '../../../core/ports/host-store.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import type { ListPage } from '../../../core/ports/store.ts';
import { createCanonicalizer, parseSeed } from '../../../crawl/frontier/canonical.ts';
import { pageOptionsFor } from '../../../crawl/frontier/routes.ts';
import { defined } from '../../../lib/defined.ts';
import { artifactsOf, type NamedArtifact } from './artifacts.ts';
import {
  knownTitles,
  type MapLink,
  type MapQuery,
  type MapResult,
  mapFilter,
  searchLinks,
  titlesOf,
} from './map-result.ts';
import { failureCode, isAnswered, ruleSentence, scrapeFailure } from './outcome-words.ts';
import { type PageResult, readPageResult, readRecord, type Wanted } from './page-result.ts';

export interface ListQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A URL that was tried and given up, or not allowed to be tried. */
export interface JobError {
  readonly url: string;
  /** Exactly as it was submitted; `url` where the page was found on another one. */
  readonly sourceUrl: string;
  readonly state: 'failed' | 'denied';
  readonly code: ErrorCode | null;
  /** A sentence for people. */
  readonly message: string;
  readonly retryable: boolean;
  readonly rule: string | null;
  readonly attempts: readonly Attempt[];
  readonly finishedAt: string | null;
}

/** How a single page came about. */
export interface ScrapeTrace {
  readonly decision: LedgerEntry['decision'];
  readonly rule: string | null;
  readonly attempts: readonly Attempt[];
  /** What the attempts cost together. */
  readonly credits: number;
  readonly timings: { readonly totalMs: number; readonly fetchMs: number };
}

export interface ScrapeResult extends PageResult {
  readonly id: JobId;
  readonly trace: ScrapeTrace;
}

/** Every method but those of a scrape and a map throws EXPIRED for a job of which only the summary is kept. */
export interface JobReader {
  /** Pages in the order they were stored. A slice may be shorter than its limit, to bound its size. */
  results(
    job: Job,
    query: ListQuery & { readonly state?: 'done' | 'failed' | undefined },
  ): Promise<ListPage<PageResult>>;
  /** All of them, a few in memory at a time. */
  eachResult(job: Job, state?: 'done' | 'failed'): AsyncGenerator<PageResult>;
  /** The page of one URL of the job; null when it has none. Throws INVALID_URL for a text that is no URL. */
  resultAt(job: Job, url: string): Promise<PageResult | null>;
  /** The result of one stored page of the job. */
  resultOf(page: Page, job: Job): Promise<PageResult>;
  /** The results of stored pages of the job, in their order, a few bodies in memory at a time. */
  resultsOf(pages: readonly Page[], job: Job): AsyncGenerator<PageResult>;
  /** Without a state: those that failed, then those that were denied. */
  errors(
    job: Job,
    query: ListQuery & { readonly state?: 'failed' | 'denied' | undefined },
  ): Promise<ListPage<JobError>>;
  urls(
    job: Job,
    query: ListQuery & { readonly state?: TaskState | undefined },
  ): Promise<ListPage<LedgerEntry>>;
  eachUrl(job: Job, state?: TaskState): AsyncGenerator<LedgerEntry>;
  /**
   * The result of a scrape that has ended. Throws its error when no answer was got. When it cannot be read for now,
   * because the store or the object store is away, the error has the id under which it can be read later.
   */
  scraped(id: JobId, wanted: Wanted, sourceUrl: string): Promise<ScrapeResult>;
  /** What a map that has ended found. Throws the error of its start page when it found nothing; else as `scraped`. */
  mapped(id: JobId, query: MapQuery): Promise<MapResult>;
  /** A stored page of the job. Throws NOT_FOUND. */
  page(job: Job, taskId: string): Promise<Page>;
  /** What a page has under this name, as `artifactsOf` gives them. Throws NOT_FOUND, and EXPIRED for one that was deleted. */
  artifact(job: Job, taskId: string, name: string): Promise<NamedArtifact>;
  /** Its bytes. Throws NOT_FOUND when they are gone, and why they cannot be read for now. */
  artifactBytes(artifact: NamedArtifact): Promise<Uint8Array>;
}

/** Read together; small enough that twice as many bodies at the body limit still fit into memory. */
const HEAVY_STEP = 10;
const LIGHT_STEP = 200;
/** Unpacking the record of each blocks the thread for a moment, so these are few. */
const BODIES_AT_ONCE = 4;
/** A slice of results ends early when its bodies add up to this. */
const MAX_SLICE_BYTES = 33_554_432;
const LEDGER_STEP = 1_000;
/** A map fetches one page. */
const START_PAGES = 1;

/** Formats that are about as long as the page. */
const HEAVY: ReadonlySet<Format> = new Set(['html', 'rawHtml', 'text', 'markdown', 'content', 'structured']);

const stepFor = ({ formats, isInline }: Wanted) =>
  isInline || formats.some((format) => HEAVY.has(format)) ? HEAVY_STEP : LIGHT_STEP;

/** The step for pages of any route: the heaviest page decides. */
const stepForAll = ({ page, routes = [] }: JobOptions): number =>
  Math.min(...[page, ...routes.map((route) => ({ ...page, ...route.page }))].map(stepFor));

/** What of a page goes into an answer, roughly. */
function weightOf({ bytes, record }: Page, { isInline }: Wanted): number {
  const { rendered } = isInline ? readRecord(record) : {};
  if (rendered === undefined) return bytes;
  return artifactsOf(rendered).reduce((sum, artifact) => sum + artifact.bytes, bytes);
}

/** A task URL → the URL exactly as it was submitted. */
type SourceOf = (url: string) => string;

export function createJobReader(store: JobStore & Pick<HostStore, 'getRobots'>, blobs: Blobs): JobReader {
  async function sourceOf(job: Job): Promise<SourceOf> {
    if (traitsOfKind(job.kind).isSinglePage) return (url) => job.seeds[0] ?? url;
    const sources = job.options.hasSources === true ? await store.getSources(job.id) : {};
    return (url) => sources[url] ?? url;
  }

  async function resultOf(page: Page, job: Job, source: SourceOf): Promise<PageResult> {
    const result = await readPageResult(page, job.id, pageOptionsFor(job.options, page.url), blobs);
    return { ...result, sourceUrl: source(page.url) };
  }

  /** In the order of the pages; the bodies of a few are read at the same time, because each may come across a network. */
  async function* resultsOf(pages: readonly Page[], job: Job, source: SourceOf): AsyncGenerator<PageResult> {
    for (let at = 0; at < pages.length; at += BODIES_AT_ONCE) {
      const few = pages.slice(at, at + BODIES_AT_ONCE);
      yield* await Promise.all(few.map((page) => resultOf(page, job, source)));
    }
  }

  async function errors(
    job: Job,
    { state, cursor, limit }: ListQuery & { readonly state?: 'failed' | 'denied' | undefined },
  ): Promise<ListPage<JobError>> {
    requireLedger(job);
    // Without a state, the cursor says in which of the two lists the next page begins.
    const [, nextState, from = cursor] = /^(failed|denied):(.*)$/.exec(cursor ?? '') ?? [];
    const current = state ?? (nextState === 'denied' ? 'denied' : 'failed');
    const source = await sourceOf(job);
    const entries = await store.listTasks({
      jobId: job.id,
      state: current,
      cursor: (state === undefined ? from : cursor) || undefined,
      limit,
    });
    const items = entries.items.map((entry) => errorOf(entry, job, source));
    if (state !== undefined) return { items, nextCursor: entries.nextCursor };
    if (entries.nextCursor !== null) return { items, nextCursor: `${current}:${entries.nextCursor}` };
    if (current === 'denied') return { items, nextCursor: null };
    if (items.length === limit) return { items, nextCursor: 'denied:' };
    const denied = await errors(job, { cursor: 'denied:', limit: limit - items.length });
    return { items: [...items, ...denied.items], nextCursor: denied.nextCursor };
  }

  async function pageAt(job: Job, taskId: string): Promise<Page | null> {
    requireLedger(job);
    return TASK_ID.test(taskId) ? store.getPage(job.id, Number(taskId) as TaskId) : null;
  }

  async function results(
    job: Job,
    query: ListQuery & { readonly state?: 'done' | 'failed' | undefined },
  ): Promise<ListPage<PageResult>> {
    requireLedger(job);
    const step = stepForAll(job.options);
    const source = await sourceOf(job);
    const items: PageResult[] = [];
    let cursor = query.cursor;
    let bytes = 0;
    for (;;) {
      const limit = Math.min(step, query.limit - items.length);
      const pages = await store.listPages({ jobId: job.id, state: query.state, cursor, limit });
      for await (const result of resultsOf(pages.items, job, source)) items.push(result);
      for (const page of pages.items) bytes += weightOf(page, pageOptionsFor(job.options, page.url));
      const isFull = items.length >= query.limit || bytes >= MAX_SLICE_BYTES;
      if (pages.nextCursor === null || isFull) return { items, nextCursor: pages.nextCursor };
      cursor = pages.nextCursor;
    }
  }

  async function* eachResult(job: Job, state?: 'done' | 'failed'): AsyncGenerator<PageResult> {
    requireLedger(job);
    const limit = stepForAll(job.options);
    const source = await sourceOf(job);
    let cursor: string | undefined;
    do {
      const pages = await store.listPages({ jobId: job.id, state, cursor, limit });
      yield* resultsOf(pages.items, job, source);
      cursor = pages.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  async function* eachEntry(jobId: JobId, state?: TaskState): AsyncGenerator<LedgerEntry> {
    let cursor: string | undefined;
    do {
      const entries = await store.listTasks({ jobId, state, cursor, limit: LEDGER_STEP });
      yield* entries.items;
      cursor = entries.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  async function scraped(id: JobId, wanted: Wanted, sourceUrl: string): Promise<ScrapeResult> {
    const [pages, entries] = await Promise.all([
      store.listPages({ jobId: id, limit: 1 }),
      store.listTasks({ jobId: id, limit: 1 }),
    ]);
    const page = pages.items[0];
    const entry = entries.items[0];
    if (entry === undefined || !isAnswered(page)) {
      throw scrapeFailure(id, entry, page, entry === undefined ? null : await askedAgainAt(entry));
    }
    return { id, ...(await readPageResult(page, id, wanted, blobs)), sourceUrl, trace: traceOf(entry) };
  }

  /** When the robots.txt that kept the URL from being fetched is requested again; null when none did. */
  async function askedAgainAt({ rule, url }: LedgerEntry): Promise<number | null> {
    if (!isReasonOf(rule, 'robots.unreachable')) return null;
    return (await store.getRobots(new URL(url).origin))?.expiresAt ?? null;
  }

  async function mapped(id: JobId, { limit, search }: MapQuery): Promise<MapResult> {
    const [job, pages] = await Promise.all([
      store.getJob(id),
      store.listPages({ jobId: id, limit: START_PAGES }),
    ]);
    if (job === null) throw new ScrapifieError('NOT_FOUND', `There is no job ${id}.`);
    const titles = titlesOf(
      pages.items.map(({ url, title, record }) => ({ url, title, links: readRecord(record).links })),
      job,
    );
    const isListed = mapFilter(job);
    // A search has to see everything; without one, nothing beyond the limit is read.
    const most = search === null ? limit + 1 : Number.POSITIVE_INFINITY;
    const found: MapLink[] = [];
    let start: LedgerEntry | undefined;
    for await (const entry of eachEntry(id)) {
      start ??= entry;
      if (!isListed(entry)) continue;
      found.push({ url: entry.url, title: titles.get(entry.url) ?? null });
      if (found.length === most) break;
    }
    if (found.length === 0 && start !== undefined && start.state !== 'done') throw scrapeFailure(id, start);
    const untitled = new Set(found.flatMap(({ url, title }) => (title === null ? [url] : [])));
    const known = await knownTitles(store, job, untitled);
    const titled = found.map((link) => ({ ...link, title: link.title ?? known.get(link.url) ?? null }));
    const matching = searchLinks(titled, search);
    const listed = matching.slice(0, limit);
    return { id, urls: listed.map(({ url }) => url), pages: listed, isTruncated: matching.length > limit };
  }

  return {
    results,
    eachResult,
    async resultAt(job, url) {
      requireLedger(job);
      const found = createCanonicalizer(job.options.scope)(parseSeed(url));
      const task = found === null ? null : await store.findTask(job.id, found.urlKey);
      const page = task === null ? null : await store.getPage(job.id, task.taskId);
      return page === null ? null : resultOf(page, job, await sourceOf(job));
    },
    resultOf: async (page, job) => resultOf(page, job, await sourceOf(job)),
    async *resultsOf(pages, job) {
      yield* resultsOf(pages, job, await sourceOf(job));
    },
    errors,
    async urls(job, { state, cursor, limit }) {
      requireLedger(job);
      return store.listTasks({ jobId: job.id, state, cursor, limit });
    },
    eachUrl(job, state) {
      requireLedger(job);
      return eachEntry(job.id, state);
    },

    scraped: (id, wanted, sourceUrl) => namingJob(id, scraped(id, wanted, sourceUrl)),
    mapped: (id, query) => namingJob(id, mapped(id, query)),

    async page(job, taskId) {
      const page = await pageAt(job, taskId);
      if (page === null) throw new ScrapifieError('NOT_FOUND', `The job has no page ${taskId.slice(0, 20)}.`);
      return page;
    },
    async artifact(job, taskId, name) {
      const page = await pageAt(job, taskId);
      const { rendered } = page === null ? {} : readRecord(page.record);
      const found = rendered === undefined ? [] : artifactsOf(rendered);
      const artifact = found.find((each) => each.name === name);
      const hasExpired = page?.expired?.includes('artifacts') ?? false;
      if (hasExpired && (artifact !== undefined || page?.record === null)) {
        throw expiredPart(`The artifact ${name.slice(0, 100)}`, 'artifacts');
      }
      if (artifact === undefined) throw noArtifact(name);
      return artifact;
    },
    async artifactBytes({ contentHash, name }) {
      const bytes = await blobs.get(contentHash);
      if (bytes === null) throw noArtifact(name);
      return bytes;
    },
  };
}

const TASK_ID = /^[1-9]\d{0,14}$/;

const noArtifact = (name: string) =>
  new ScrapifieError('NOT_FOUND', `The page has no artifact ${name.slice(0, 100)}.`);

/** The job is done and stored; the error carries its id so that the client can fetch the result later. */
async function namingJob<T>(jobId: JobId, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!isScrapifieError(error) || error.spec.exitCode !== EXIT.environment) throw error;
    const { code, message, retryAfterMs } = error;
    throw new ScrapifieError(code, message, {
      cause: error,
      details: { jobId },
      ...defined({ retryAfterMs }),
    });
  }
}

function traceOf(entry: LedgerEntry): ScrapeTrace {
  const end = entry.finishedAt ?? entry.discoveredAt;
  return {
    decision: entry.decision,
    rule: entry.rule,
    attempts: entry.attempts,
    credits: creditsOf(entry.attempts.reduce((sum, { microcredits = 0 }) => sum + microcredits, 0)),
    timings: {
      totalMs: Date.parse(end) - Date.parse(entry.discoveredAt),
      fetchMs: entry.attempts.reduce((sum, attempt) => sum + attempt.ms, 0),
    },
  };
}

function errorOf(entry: LedgerEntry, job: Job, source: SourceOf): JobError {
  const code = failureCode(entry);
  const evidence = entry.attempts.at(-1)?.evidence;
  return {
    url: entry.url,
    sourceUrl: source(entry.url),
    state: entry.state === 'denied' ? 'denied' : 'failed',
    code,
    message: evidence ?? ruleSentence(entry.rule, entry, job) ?? ERRORS[code].meaning,
    retryable: ERRORS[code].retry === 'later',
    rule: entry.rule,
    attempts: entry.attempts,
    finishedAt: entry.finishedAt,
  };
}
