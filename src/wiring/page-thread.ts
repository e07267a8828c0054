import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { EXIT } from '../errors/registry.ts';
import { isScrapifieError, type ScrapifieError } from '../errors/scrapifie-error.ts';
import type { FullExtraction } from '../extract/full/extract-full.ts';
import { wantsFull } from '../extract/full/wants-full.ts';
import type { JobSeq } from '../model/ids.ts';
import { ownBuffer, releaseBytes } from '../model/own-memory.ts';
import type { RenderedRecord } from '../model/page.ts';
import { compileRules, type JobRules } from '../pages/find-tasks.ts';
import type { PageReading, ReadOptions, ReadRequest } from '../pages/page-reading.ts';
import { type DecodedBody, decodeBody, readPage } from '../pages/read-page.ts';
import { readSitemapTask } from '../pages/read-sitemap-task.ts';
import { keepRendering } from '../pages/rendered-page.ts';
import type { HoldReason, HoldReport, ReadAnswer, ReadCall, ThreadData } from '../pages/thread-messages.ts';
import type { Blob } from '../ports/blobs.ts';
import { type BlobsPlace, openBlobs } from './open-blobs.ts';

/** A thread that reads pages. It opens the blob store itself: bodies are compressed and written where they are read. */
if (parentPort === null) throw new Error('The page thread has no parent.');
const port = parentPort;
const { given, reading: current } = workerData as ThreadData<PageThreadData>;
const nothing = () => undefined;
const blobs =
  given.blobs === null
    ? null
    : await openBlobs(given.blobs, { isFirst: false, onAway: nothing, onReturn: nothing });
const jobs = new Map<JobSeq, KnownJob>();
const MAX_JOBS = 64;
/** Pages that wait are read in a row and their bodies stored together. */
const MOST_TOGETHER = 16;
/** Between two tries to store bodies that were refused for want of room, or because the store is away. */
const HOLD_MS = 1_000;

export interface PageThreadData {
  /** Null: pages are only read, and nothing of them is kept. */
  readonly blobs: BlobsPlace | null;
}

interface KnownJob {
  readonly job: ReadRequest['job'];
  readonly rules: JobRules;
  readonly deep: DeepReader | null;
}

type DeepReader = (request: ReadRequest, decoded: DecodedBody) => Promise<FullExtraction>;

/** Loaded by the first job that wants it: a plain crawl starts without. */
async function deepReaderFor(options: ReadOptions): Promise<DeepReader | null> {
  if (!wantsFull(options)) return null;
  const { deepWishOf, readDeeply } = await import('../pages/read-deeply.ts');
  const wish = deepWishOf(options);
  return (request, decoded) => readDeeply(request, decoded, wish);
}

async function jobOf({ seq, generation, incarnation, job: text }: ReadCall): Promise<KnownJob> {
  const known = jobs.get(seq);
  const isSame = known?.job.generation === generation && known.job.incarnation === incarnation;
  if (known !== undefined && isSame) return known;
  const job = {
    ...(JSON.parse(text) as Omit<ReadRequest['job'], 'seq' | 'generation' | 'incarnation'>),
    ...{ seq, generation, incarnation },
  };
  const [oldest] = jobs.keys();
  if (jobs.size >= MAX_JOBS && oldest !== undefined) jobs.delete(oldest);
  const read = { job, rules: compileRules(job), deep: await deepReaderFor(job.options.page) };
  jobs.set(seq, read);
  return read;
}

/** What a call came to, and what is to be kept before it is answered. */
interface Read {
  readonly answer: ReadAnswer;
  readonly blobs: readonly Blob[];
}

async function read(call: ReadCall): Promise<{ reading: PageReading; blobs: readonly Blob[] }> {
  const startedAt = performance.now();
  const { job, rules, deep } = await jobOf(call);
  const request: ReadRequest = { job, ...call.request };
  const isSitemap = request.task.kind === 'sitemap';
  const kept = isSitemap ? null : keepRendering(request);
  const found = isSitemap
    ? await readSitemapTask(request, rules)
    : await readOrdinary(request, rules, deep, kept?.record ?? null);
  const { contentHash } = found.page;
  const body = contentHash === null ? [] : [{ hash: contentHash, bytes: request.response.body }];
  const reading = { ...found, ms: performance.now() - startedAt };
  return { reading, blobs: [...body, ...(kept?.blobs ?? [])] };
}

async function readOrdinary(
  request: ReadRequest,
  rules: JobRules,
  readDeep: DeepReader | null,
  rendered: RenderedRecord | null,
): Promise<Omit<PageReading, 'ms'>> {
  if (readDeep === null) return readPage(request, rules, rendered);
  const decoded = decodeBody(request);
  const { record, unanswered } = await readDeep(request, decoded);
  const reading = readPage(request, rules, rendered, record, decoded);
  return unanswered === null ? reading : { ...reading, unanswered };
}

function failed({ id, seq }: ReadCall, error: unknown): ReadAnswer {
  // What was reported for this page is lost with it.
  jobs.delete(seq);
  const code = isScrapifieError(error) ? error.code : null;
  return { id, code, message: error instanceof Error ? error.message : String(error) };
}

async function answer(call: ReadCall): Promise<Read> {
  Atomics.store(current, 0, call.id);
  try {
    const { reading, blobs } = await read(call);
    return { answer: { id: call.id, reading }, blobs };
  } catch (error) {
    return { answer: failed(call, error), blobs: [] };
  }
}

async function readTogether(calls: readonly ReadCall[]): Promise<readonly Read[]> {
  const together: Read[] = [];
  for (const call of calls) together.push(await answer(call));
  // Storing may take its time; only reading is watched.
  Atomics.store(current, 0, 0);
  return together;
}

/** What is wrong with this installation, and not with a page. */
function isOwnFault(error: unknown): error is ScrapifieError {
  return isScrapifieError(error) && error.spec.exitCode === EXIT.environment;
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

/** A page is answered once its body is safe, and what came with it. */
async function store(calls: readonly ReadCall[], read: readonly Read[]): Promise<void> {
  const bodies = read.flatMap((each) => each.blobs);
  try {
    await storeBodies(bodies);
    const answers = read.map((each) => each.answer);
    port.postMessage(answers, answers.flatMap(recordBuffer));
  } catch (error) {
    port.postMessage(calls.map((call) => failed(call, error)));
  }
  for (const { bytes } of bodies) releaseBytes(bytes);
}

/** Records are handed over, not copied. */
function recordBuffer(answer: ReadAnswer): ArrayBuffer[] {
  const record = 'reading' in answer ? answer.reading.page.record : null;
  const buffer = record === null ? null : ownBuffer(record);
  return buffer === null ? [] : [buffer];
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
    const read = await readTogether(together);
    // The next ones are read while these are stored, and no more than that.
    await stored;
    stored = store(together, read);
    if (calls.length === 0) await stored;
  }
  isReading = false;
}

port.on('message', (more: readonly ReadCall[]) => {
  calls.push(...more);
  if (!isReading) void readAll();
});
port.postMessage([] satisfies ReadAnswer[]);
