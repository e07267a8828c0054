import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { isPluginPart } from '../../core/config/plugin-part.ts';
import { listen } from '../../core/errors/guarded.ts';
import { type ErrorCode, EXIT } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash, JobSeq } from '../../core/model/ids.ts';
import type { Route } from '../../core/model/job.ts';
import { type RenderedRecord, WITHOUT_CONTENT } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import type { Blob, Blobs } from '../../core/ports/blobs.ts';
import { decodeText } from '../../extract/charset/charset.ts';
import type { FullExtraction } from '../../extract/full/extract-full.ts';
import { wantsFull } from '../../extract/full/wants-full.ts';
import type { TypeSpecs } from '../../extract/types/extract-typed.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { ownBuffer, releaseBytes } from '../../lib/own-memory.ts';
import { routeOf } from '../frontier/routes.ts';
import { compileRules, type JobRules, readSitemapTask } from './find-tasks.ts';
import type { PageReading, ReadOptions, ReadRequest } from './page-reading.ts';
import {
  type DecodedBody,
  decodeBody,
  firstHeader,
  isTextual,
  readFeed,
  readPageTask,
  responseRecord,
} from './read-page.ts';
import { keepRendering } from './rendered-page.ts';
import {
  type HeapReport,
  type HeapUse,
  type HoldReason,
  type HoldReport,
  highHeapUse,
  type ReadAnswer,
  type ReadCall,
  type ThreadData,
} from './thread-messages.ts';

const MAX_JOBS = 64;
/** Pages that wait are read in a row and their bodies stored together. */
const MOST_TOGETHER = 16;
/** The heap is looked at once for so many bytes of bodies, and after the last page: pages of a few kilobytes cannot fill it. */
const HEAP_LOOK_BYTES = 524_288;
/** Between two attempts to store bodies that were refused because the disk is full or the store is unavailable. */
const HOLD_MS = 1_000;

interface PageThreadParts {
  readonly port: MessagePort;
  /** Has the same meaning as `ThreadData.reading`. */
  readonly reading: ThreadData<unknown>['reading'];
  /** The thread's own connection: bodies are compressed and written where they are read. Null: nothing is kept. */
  readonly blobs: Pick<Blobs, 'put'> | null;
  /** Loads the types of plug-ins beside our own; null where there are no plug-ins. */
  readonly loadTypes: (() => Promise<TypeSpecs>) | null;
}

interface KnownJob {
  readonly job: ReadRequest['job'];
  readonly rules: JobRules;
  /** By route; null is that of pages without one. */
  readonly full: ReadonlyMap<Route | null, FullReader | null>;
}

type FullReader = (request: ReadRequest, decoded: DecodedBody) => Promise<FullExtraction>;

/** The answer to a call, and the bytes that must be stored before it is sent. */
interface Read {
  readonly answer: ReadAnswer;
  readonly blobs: readonly Blob[];
}

/** Reads pages in a thread: answers the calls that arrive at its port, in batches. */
export function startPageThread({ port, reading: current, blobs, loadTypes }: PageThreadParts): void {
  const jobs = new BoundedMap<JobSeq, KnownJob>(MAX_JOBS);

  async function jobOf({ seq, generation, incarnation, job: text }: ReadCall): Promise<KnownJob> {
    const known = jobs.get(seq);
    const isSame = known?.job.generation === generation && known.job.incarnation === incarnation;
    if (known !== undefined && isSame) return known;
    const job = {
      ...(JSON.parse(text) as Omit<ReadRequest['job'], 'seq' | 'generation' | 'incarnation'>),
      ...{ seq, generation, incarnation },
    };
    const traps = known?.job.incarnation === incarnation ? known.rules.traps : null;
    const read = { job, rules: compileRules(job, traps), full: await fullReadersFor(job.options, loadTypes) };
    jobs.set(seq, read);
    return read;
  }

  async function read(call: ReadCall): Promise<{ reading: PageReading; blobs: readonly Blob[] }> {
    const startedAt = performance.now();
    const { job, rules, full } = await jobOf(call);
    const request: ReadRequest = { job, ...call.request };
    const isSitemap = request.task.kind === 'sitemap';
    const kept = isSitemap ? null : keepRendering(request);
    const rendered = kept?.record ?? null;
    const found = await readOrFail();
    const { contentHash } = found.page;
    const body = contentHash === null ? [] : [{ hash: contentHash, bytes: request.response.body }];
    const reading = { ...found, ms: performance.now() - startedAt };
    return { reading, blobs: [...body, ...(kept?.blobs ?? [])] };

    async function readOrFail(): Promise<Omit<PageReading, 'ms'>> {
      try {
        if (call.unread !== undefined) throw new ScrapifieError('EXTRACTION_FAILED', call.unread);
        if (isSitemap) return await readSitemapTask(request, rules);
        const readFully = full.get(routeOf(job.options, request.task.url)) ?? null;
        return await readOrdinary(request, rules, readFully, rendered);
      } catch (error) {
        if (isSitemap || isOwnFault(error)) throw error;
        // URLs may have been reported that are lost with the page.
        jobs.delete(call.seq);
        return unreadPage(request, error, rendered);
      }
    }
  }

  function failed({ id, seq }: ReadCall, error: unknown): ReadAnswer {
    // The URLs that were reported for this page are lost with it, and have to be reported again.
    jobs.delete(seq);
    const code = isScrapifieError(error) ? error.code : null;
    return { id, code, message: error instanceof Error ? error.message : String(error) };
  }

  async function answer(call: ReadCall): Promise<Read> {
    Atomics.store(current, 0, call.id);
    const begunAt = call.isTimed === true ? epochNow() : 0;
    try {
      const { reading, blobs } = await read(call);
      const times = begunAt === 0 ? {} : { times: { begunAt, readAt: epochNow(), storedAt: 0 } };
      return { answer: { id: call.id, reading, ...times }, blobs };
    } catch (error) {
      return { answer: failed(call, error), blobs: [] };
    }
  }

  /** Fewer than were given when the heap does not allow more. */
  async function readTogether(
    calls: readonly ReadCall[],
  ): Promise<{ readonly read: readonly Read[]; readonly heap: HeapUse | null }> {
    const read: Read[] = [];
    let heap: HeapUse | null = null;
    let unseenBytes = 0;
    for (const call of calls) {
      unseenBytes += call.request.response.body.byteLength;
      read.push(await answer(call));
      if (unseenBytes < HEAP_LOOK_BYTES && read.length < calls.length) continue;
      unseenBytes = 0;
      heap = highHeapUse();
      if (heap !== null) break;
    }
    // Storing may take its time; only reading is watched.
    Atomics.store(current, 0, 0);
    return { read, heap };
  }

  /** Tries until the bodies are stored: pages that were fetched are not fetched again because a disk is full. */
  async function storeBodies(bodies: readonly Blob[]): Promise<void> {
    const report = (held: HoldReason | null) => port.postMessage({ held } satisfies HoldReport);
    for (let tries = 1; ; tries += 1) {
      try {
        await blobs?.put(bodies);
        if (tries > 1) report(null);
        return;
      } catch (error) {
        if (!isOwnFault(error)) throw error;
        report({ code: error.code, message: error.message });
        await pause(HOLD_MS);
      }
    }
  }

  /** A page is answered once its body and its other blobs are stored. */
  async function store(calls: readonly ReadCall[], read: readonly Read[]): Promise<void> {
    const bodies = read.flatMap((each) => each.blobs);
    try {
      await storeBodies(bodies);
      const answers = read.map((each) => each.answer);
      for (const answer of answers) if ('times' in answer) answer.times.storedAt = epochNow();
      port.postMessage(answers, answers.flatMap(recordBuffer));
    } catch (error) {
      port.postMessage(calls.map((call) => failed(call, error)));
    }
    for (const { bytes } of bodies) releaseBytes(bytes);
  }

  let calls: ReadCall[] = [];
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    let stored: Promise<void> = Promise.resolve();
    while (calls.length > 0) {
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        calls.push(...(next.message as readonly ReadCall[]));
      }
      const together = calls.slice(0, MOST_TOGETHER);
      calls = calls.slice(MOST_TOGETHER);
      const { read, heap } = await readTogether(together);
      // The next ones are read while these are stored, and no more than that.
      await stored;
      stored = store(together.slice(0, read.length), read);
      if (calls.length === 0 || heap !== null) await stored;
      // The pool ends this thread, and has others read what is left.
      if (heap !== null) return port.postMessage({ heap } satisfies HeapReport);
    }
    isReading = false;
  }

  listen(port, 'message', (more: readonly ReadCall[]) => {
    calls.push(...more);
    if (!isReading) void readAll();
  });
  port.postMessage([] satisfies ReadAnswer[]);
}

/** Finer than `Date.now`: many pages take less than a millisecond. */
const epochNow = () => performance.timeOrigin + performance.now();

async function fullReadersFor(
  options: ReadRequest['job']['options'],
  loadTypes: PageThreadParts['loadTypes'],
): Promise<ReadonlyMap<Route | null, FullReader | null>> {
  const readers = new Map<Route | null, FullReader | null>([
    [null, await fullReaderFor(options.page, loadTypes)],
  ]);
  for (const route of options.routes ?? []) {
    readers.set(route, await fullReaderFor({ ...options.page, ...route.page }, loadTypes));
  }
  return readers;
}

/** The full extraction is loaded by the first job that wants it: a plain crawl starts without. */
async function fullReaderFor(
  options: ReadOptions,
  loadTypes: PageThreadParts['loadTypes'],
): Promise<FullReader | null> {
  if (!wantsFull(options)) return null;
  const { fullOptionsOf, readFull } = await import('./read-full.ts');
  const type = options.extract?.type ?? null;
  const mayBeOfPlugin = type !== null && (type === 'auto' || isPluginPart(type));
  const types = mayBeOfPlugin ? await loadTypes?.() : undefined;
  const fullOptions = fullOptionsOf(options, types);
  return (request, decoded) => readFull(request, decoded, fullOptions);
}

async function readOrdinary(
  request: ReadRequest,
  rules: JobRules,
  readFully: FullReader | null,
  rendered: RenderedRecord | null,
): Promise<Omit<PageReading, 'ms'>> {
  const decoded = decodeBody(request);
  const feed = await readFeed(request, decoded);
  if (readFully === null) return readPageTask(request, rules, rendered, null, decoded, feed);
  const { record, unanswered } = await readFully(request, decoded);
  const reading = readPageTask(request, rules, rendered, record, decoded, feed);
  return unanswered === null ? reading : { ...reading, unanswered };
}

/** A fault of this installation, and not of a page. */
function isOwnFault(error: unknown): error is ScrapifieError {
  return isScrapifieError(error) && error.spec.exitCode === EXIT.environment;
}

/** Records are handed over, not copied. */
function recordBuffer(answer: ReadAnswer): ArrayBuffer[] {
  const record = 'reading' in answer ? answer.reading.page.record : null;
  const buffer = record === null ? null : ownBuffer(record);
  return buffer === null ? [] : [buffer];
}

/**
 * A page that arrived and cannot be read: its response is known, its body is to be stored as it is, and its content stays
 * unknown.
 */
export function unreadPage(
  { task, response, fetchedAt }: ReadRequest,
  error: unknown,
  rendered: RenderedRecord | null,
): Omit<PageReading, 'ms'> {
  const { headers, body, contentType, finalUrl, statusCode } = response;
  const code: ErrorCode = isScrapifieError(error) ? error.code : 'EXTRACTION_FAILED';
  const message = error instanceof Error ? error.message : String(error);
  return {
    page: {
      ...WITHOUT_CONTENT,
      url: task.url,
      finalUrl,
      statusCode,
      contentType,
      charset: charsetOf(response),
      fetchedAt,
      depth: task.depth,
      contentHash: body.byteLength === 0 ? null : (hash('sha256', body, 'hex') as ContentHash),
      bytes: body.byteLength,
      etag: firstHeader(headers.etag),
      lastModified: firstHeader(headers['last-modified']),
      record: packRecord({
        ...(rendered === null ? {} : { rendered }),
        ...responseRecord(response, fetchedAt, { outcome: 'error', evidence: message }),
        metadata: null,
        links: [],
      }),
    },
    discovered: [],
    outcome: 'error',
    evidence: message,
    vendor: null,
    isNoindex: false,
    leadsTo: null,
    yield: { textLength: 0, linkCount: 0 },
    sitemapProblem: null,
    failure: { code, message },
  };
}

/** Enough for every declaration; the whole text may be what cannot be read. */
const LOOKED_AT_BYTES = 4_096;

function charsetOf({ body, contentType }: ReadRequest['response']): string | null {
  if (!isTextual(contentType)) return null;
  let end = Math.min(body.byteLength, LOOKED_AT_BYTES);
  // No character may be cut in two: that would look like another encoding.
  while (end < body.byteLength && end > 0 && (body[end] ?? 0) >= 0x80) end -= 1;
  return decodeText(body.subarray(0, end), contentType).charset;
}
