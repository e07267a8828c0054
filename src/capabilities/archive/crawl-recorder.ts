import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { ExchangeObserver, UnkeptExchange } from '../../crawl/host/attempt/exchange-observer.ts';
import { type HeaderLine, recordId } from '../../lib/warc/warc-record.ts';
import {
  type ArchivedJob,
  type Exchange,
  exchangeOfPage,
  exchangeOfUnkept,
  hasSecretCookies,
  requestOf,
} from './exchange.ts';
import { createKnownPayloads, recordsOf } from './exchange-records.ts';
import { type GrowingFile, openGrowingFile } from './growing-file.ts';
import { findRecorded, type RecordingPlace, recordingNotes } from './recording-place.ts';
import { infoRecord, type WrittenRecord, written } from './write-archive.ts';

/**
 * Records a crawl into WARC files while it goes on. The store is the truth: pages are written after their commit, each
 * once by its id, and what a killed process had committed and not written is written at the next start. What becomes no
 * page (robots.txt, sitemaps, pages that are only read) is written before its task ends.
 */
export interface CrawlRecorder extends ExchangeObserver {
  /** Takes pages that were just committed. When too many wait, the store is read again at the end. */
  append(pages: readonly Page[]): void;
  /** Throws when something could not be written. */
  check(): void;
  /** Writes everything that the store has and the files do not, and closes them. */
  finish(source: RecordedSource): Promise<void>;
  /** Closes the files as they are. */
  abandon(): Promise<void>;
}

export interface RecordedSource {
  readonly store: Pick<JobStore, 'listPages'>;
  readonly blobs: Pick<Blobs, 'get'>;
}

export interface CrawlRecorderOptions {
  readonly place: RecordingPlace;
  readonly stateDir: string;
  readonly job: Job;
  readonly version: string;
  /** A file that has grown to this is followed by another one. */
  readonly maxFileBytes: number;
  readonly now: () => number;
}

const PAGES_AT_ONCE = 64;
/** A file that cannot keep up must not keep the pages in memory. */
const MOST_WAITING = 4_096;
/** Records become visible this long after they were written, or when this many bytes wait. */
const PUBLISH_MS = 200;
const PUBLISH_BYTES = 8_388_608;

export async function openCrawlRecorder(
  source: RecordedSource,
  options: CrawlRecorderOptions,
): Promise<CrawlRecorder> {
  const { place, job, version, maxFileBytes, now } = options;
  const notes = recordingNotes(options.stateDir);
  const known = createKnownPayloads();
  const state = notes.read();
  const isSame = state !== null && state.jobId === job.id && state.path === place.path;
  const found = await touching(() => findRecorded(place, isSame ? state : null, notes.idFile));
  const { ids } = found;
  let newIds: string[] = [...found.unnoted];
  let index = found.file;
  let file: GrowingFile = await touching(() => openGrowingFile(place.fileAt(index)));
  let waiting: Page[] = [];
  let isBehind = false;
  let failure: unknown = null;
  /** Everything is written one after the other. */
  let work: Promise<void> = Promise.resolve();
  let published: Promise<void> | null = null;
  let isClosed = false;

  async function put({ chunks }: WrittenRecord): Promise<void> {
    for await (const chunk of chunks) await file.append(chunk);
  }

  async function add(exchange: Exchange): Promise<void> {
    if (file.bytes >= maxFileBytes) await openNext();
    if (file.bytes === 0) {
      const fileName = place.fileAt(index).slice(place.fileAt(index).lastIndexOf('/') + 1);
      await put(written(infoRecord({ job, version, fileName, at: now() })));
    }
    for (const record of recordsOf(exchange, known)) await put(written(record));
    const id = idOf(exchange.key);
    ids.add(id);
    newIds.push(id);
    if (file.bytes - file.publishedBytes >= PUBLISH_BYTES) await publish();
  }

  async function openNext(): Promise<void> {
    await publish();
    await file.close();
    index += 1;
    file = await openGrowingFile(place.fileAt(index));
  }

  async function publish(): Promise<void> {
    await file.publish();
    const added = newIds;
    newIds = [];
    await notes.write({ jobId: job.id, path: place.path, file: index, bytes: file.publishedBytes }, added);
  }

  /** Runs after what was asked for before. The first failure ends all further work. */
  function inTurn(step: () => Promise<void>): Promise<void> {
    work = work.then(async () => {
      if (failure !== null || isClosed) return;
      await touching(step).catch((error: unknown) => {
        failure = error;
      });
    });
    return work;
  }

  /** One publication serves everything that was written until it begins. */
  function publishSoon(): Promise<void> {
    published ??= new Promise<void>((resolve) => {
      setTimeout(() => {
        published = null;
        void inTurn(publish).then(resolve);
      }, PUBLISH_MS);
    });
    return published;
  }

  async function addPages(pages: readonly Page[], blobs: RecordedSource['blobs']): Promise<void> {
    for (const page of pages) {
      if (page.jobSeq !== job.seq || ids.has(idOf(keyOf(page)))) continue;
      await add(await exchangeOfPage(page, job, blobs));
    }
  }

  const keyOf = (page: Page): Exchange['key'] => ['page', job.id, String(page.taskId), page.fetchedAt];

  async function addMissing({ store, blobs }: RecordedSource): Promise<void> {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listPages({ jobId: job.id, cursor, limit: PAGES_AT_ONCE });
      await addPages(items, blobs);
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  function check(): void {
    if (failure !== null) throw failure;
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0 && !isBehind && failure === null) {
      const pages = waiting.slice(0, PAGES_AT_ONCE);
      waiting = waiting.slice(PAGES_AT_ONCE);
      await addPages(pages, source.blobs).catch((error: unknown) => {
        // What cannot be read at the moment is read again at the end.
        if (!isScrapifieError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
        isBehind = true;
      });
    }
  }

  await inTurn(() => addMissing(source));
  await inTurn(publish);
  check();
  return {
    append(pages) {
      if (waiting.length > MOST_WAITING) isBehind = true;
      if (isBehind) return;
      const isIdle = waiting.length === 0;
      waiting.push(...pages);
      if (isIdle) void inTurn(writeWaiting).then(publishSoon);
    },
    async exchanged(exchange: UnkeptExchange) {
      await inTurn(async () => {
        const observed = await exchangeOfObserved(exchange, job, source.blobs);
        if (!ids.has(idOf(observed.key))) await add(observed);
      });
      await publishSoon();
    },
    check,
    async finish(from) {
      isBehind = true;
      waiting = [];
      await inTurn(() => addMissing(from));
      await inTurn(publish);
      await work;
      isClosed = true;
      known.close();
      await file.close();
      check();
    },
    async abandon() {
      isClosed = true;
      await work;
      known.close();
      await file.close();
    },
  };

  async function touching<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (isScrapifieError(error)) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code === 'ENOSPC' ? 'DISK_FULL' : 'DATA_DIR_UNUSABLE';
      throw new ScrapifieError(why, `${place.path} cannot be written: ${message}`, { cause: error });
    }
  }
}

/** The record that every exchange has; by it an exchange is known to be in a file. */
const idOf = (key: Exchange['key']): string => recordId(...key, 'facts');

/** An exchange whose response is stored as no page. */
async function exchangeOfObserved(
  observed: UnkeptExchange,
  job: ArchivedJob,
  blobs: Pick<Blobs, 'get'>,
): Promise<Exchange> {
  const { response, fetchedAt } = observed;
  const isRobots = observed.kind === 'robots';
  const key = isRobots
    ? ['robots', job.id, response.url]
    : ['unkept', job.id, String(observed.task.id), observed.task.hops, response.statusCode];
  if (!isRobots && observed.page !== null) return exchangeOfUnkept(observed.page, key, job, blobs);
  return {
    key,
    url: isRobots ? response.url : observed.task.url,
    finalUrl: response.finalUrl,
    ...(isRobots ? { method: 'GET', requestHeaders: [] } : requestOf(job)),
    fetchedAt,
    statusCode: response.statusCode,
    headers: headerLines(observed, job),
    redirects: isRobots ? response.redirects : observed.redirects,
    // An empty body may be one that was given away to a thread.
    body: response.body.byteLength === 0 ? new Uint8Array() : response.body,
    contentType: response.contentType,
    isNotModified: false,
    rendered: null,
    error: null,
    page: null,
  };
}

function headerLines({ response }: UnkeptExchange, job: ArchivedJob): HeaderLine[] {
  const isSecret = hasSecretCookies(job);
  return Object.entries(response.headers).flatMap(([name, value]) =>
    value === undefined || (name === 'set-cookie' && isSecret)
      ? []
      : [value].flat().map((each): HeaderLine => [name, each]),
  );
}
