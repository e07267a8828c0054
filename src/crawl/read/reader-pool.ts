import type { Worker } from 'node:worker_threads';
import type { Context } from '@opentelemetry/api';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PageThreadEnd } from '../../core/observe/metrics/crawl-metrics.ts';
import { outsideSpans, recordedContext } from '../../core/tracing/tracing.ts';
import { releaseBytes } from '../../lib/own-memory.ts';
import { startThread as startWorker } from '../../lib/threads/thread.ts';
import type { PageReader, PageReading, ReadRequest } from './page-reading.ts';
import { copiedRenderedPage, renderedBuffers } from './rendered-page.ts';
import type {
  HeapReport,
  HoldReason,
  HoldReport,
  ReadAnswer,
  ReadCall,
  ThreadData,
} from './thread-messages.ts';
import { traceThread } from './thread-spans.ts';

export interface ReaderPoolOptions {
  readonly threads: number;
  /** Entry of the thread, and what it is given. */
  readonly entry: URL;
  readonly data: unknown;
  /** Longest time one page may take. */
  readonly limitMs?: number;
  /** Told when threads begin to hold pages whose bodies cannot be stored, and with null when none does any more. */
  readonly onHold?: (reason: HoldReason | null) => void;
  /** Told of each thread that is replaced. The pages that it had in hand are read by other threads. */
  readonly onReplace?: (replaced: ReplacedThread) => void;
  /** Memory for the objects of one thread. */
  readonly maxHeapMb?: number;
}

export interface ReplacedThread {
  readonly reason: PageThreadEnd;
  readonly message: string;
  /** The page that the thread was reading when it ended; null when it ended between two pages. */
  readonly url: string | null;
  /** Pages that other threads now read in its place. */
  readonly pages: number;
}

/** Pages a thread has in hand: what it reads and stores together, and as many waiting beside it. */
const IN_HAND = 32;
/** A thread is given copies of bodies, so that a page outlives its thread; this is how much of them it may have. */
const IN_HAND_BYTES = 8_388_608;
/** Threads that a page may take down while they read it: the second one read that page alone. */
const MOST_LOSSES = 2;

interface Waiting {
  readonly request: ReadRequest;
  readonly bytes: number;
  /** Why threads ended while they read this page. */
  readonly losses: string[];
  /** Context of the span that waits for the page; null when there is none. */
  readonly parent: Context | null;
  readonly resolve: (reading: PageReading) => void;
  readonly reject: (error: Error) => void;
}

interface Reader {
  /** Null after it was lost, until there is something to read again. */
  worker: Worker | null;
  readonly inHand: Map<number, Waiting>;
  inHandBytes: number;
  /** The thread reads a page that has cost another thread, and is given no other page meanwhile. */
  isAlone: boolean;
  readonly outbox: ReadCall[];
  readonly reading: Int32Array<SharedArrayBuffer>;
  onReady: () => void;
  /** Its bodies cannot be stored at the moment. */
  isHolding: boolean;
  /** Which call the watch saw being read, and since when. */
  watched: { id: number; since: number };
}

/**
 * Reads pages in threads. Of each page the pool keeps what it needs to read it again, so a lost thread costs no page: the
 * page that the thread was reading is read once more by a new thread, alone, and the others that it had in hand as before.
 * A page that has cost two threads is not read; its body is stored all the same.
 */
export function createReaderPool(options: ReaderPoolOptions): PageReader {
  const { threads, entry, data, limitMs = 20_000, maxHeapMb = 512 } = options;
  let waiting: Waiting[] = [];
  /** Pages during which a thread was lost. Each waits for a thread that reads nothing else. */
  const suspects: Waiting[] = [];
  /** Jobs as text, by their options, which all tasks of a job share. */
  const texts = new WeakMap<object, string>();
  const started: Promise<void>[] = [];
  let inHand = 0;
  let lastId = 0;
  let isClosed = false;
  const readers: Reader[] = Array.from({ length: threads }, () => {
    const reader: Reader = {
      worker: null,
      inHand: new Map(),
      inHandBytes: 0,
      isAlone: false,
      outbox: [],
      reading: new Int32Array(new SharedArrayBuffer(4)),
      onReady: () => undefined,
      isHolding: false,
      watched: { id: 0, since: 0 },
    };
    started.push(
      new Promise((resolve) => {
        reader.onReady = resolve;
      }),
    );
    reader.worker = startThread(reader);
    return reader;
  });
  const watch = setInterval(
    () => {
      for (const reader of readers) {
        const id = reader.inHand.size === 0 ? 0 : Atomics.load(reader.reading, 0);
        if (id === 0 || id !== reader.watched.id) reader.watched = { id, since: performance.now() };
        else if (performance.now() - reader.watched.since > limitMs) {
          lose(reader, 'too-slow', 'took too long');
        }
      }
    },
    Math.min(1_000, limitMs),
  );
  watch.unref();

  function startThread(reader: Reader): Worker {
    const worker = startWorker(
      {
        name: 'pages',
        entry,
        data: { given: data, reading: reader.reading } satisfies ThreadData<unknown>,
        memory: { youngMb: 24, oldMb: maxHeapMb },
        // What plug-ins log does not belong among the results on standard output.
        output: 'stderr',
      },
      {
        onMessage(message) {
          if (reader.worker === worker) hear(reader, message);
        },
        onEnd(end) {
          // A thread that cannot load is no reason to wait.
          reader.onReady();
          if (reader.worker !== worker) return;
          if (!('error' in end)) return lose(reader, 'crashed', `ended its thread with ${end.exitCode}`);
          const { code, message } = end.error as NodeJS.ErrnoException;
          const isFull = code === 'ERR_WORKER_OUT_OF_MEMORY';
          lose(reader, isFull ? 'out-of-memory' : 'crashed', `failed: ${message}`);
        },
      },
    );
    worker.unref();
    return worker;
  }

  function hear(reader: Reader, message: readonly ReadAnswer[] | HoldReport | HeapReport | object): void {
    if ('held' in message) noteHold(reader, message.held);
    if ('heap' in message) replaceBetweenPages(reader, message.heap);
    // Under `node --watch`, Node.js itself reports the files that a thread loads through the port of the thread.
    if (!isAnswers(message)) return;
    // The first message, empty, says that the thread has loaded.
    reader.onReady();
    for (const answer of message) {
      const call = reader.inHand.get(answer.id);
      if (call === undefined) continue;
      takeBack(reader, answer.id, call);
      reader.isAlone = false;
      release(call.request);
      if ('reading' in answer) {
        if (call.parent !== null) traceThread(answer, call.parent);
        call.resolve(answer.reading);
      } else call.reject(errorOf(answer.code, answer.message));
    }
    dispatch();
  }

  function noteHold(reader: Reader, reason: HoldReason | null): void {
    const wasHolding = isHolding();
    reader.isHolding = reason !== null;
    if (isHolding() !== wasHolding) options.onHold?.(reason);
  }

  const isHolding = () => readers.some((reader) => reader.isHolding);

  /** The page being read may have caused it, and is read alone from now on. */
  function lose(reader: Reader, reason: ReplacedThread['reason'], why: string): void {
    const [first] = reader.inHand.keys();
    const current = Atomics.exchange(reader.reading, 0, 0) || first;
    const suspect = current === undefined ? undefined : reader.inHand.get(current);
    if (current !== undefined && suspect !== undefined) {
      takeBack(reader, current, suspect);
      suspect.losses.push(why);
      if (suspect.losses.length <= MOST_LOSSES) suspects.push(suspect);
      else suspect.reject(lostPage(suspect));
    }
    replace(reader, {
      reason,
      message: `Reading a page ${why}.`,
      url: suspect?.request.task.url ?? null,
      pages: reader.inHand.size + (suspect === undefined ? 0 : 1),
    });
  }

  function replaceBetweenPages(reader: Reader, { usedBytes, limitBytes }: HeapReport['heap']): void {
    Atomics.store(reader.reading, 0, 0);
    const message = `Between two pages ${usedBytes} of ${limitBytes} bytes of its heap are in use.`;
    replace(reader, { reason: 'heap-high', message, url: null, pages: reader.inHand.size });
  }

  /** What the thread had in hand is read next by others, or by the one that follows it. */
  function replace(reader: Reader, replaced: ReplacedThread): void {
    const lost = [...reader.inHand];
    for (const [id, call] of lost) takeBack(reader, id, call);
    waiting = [...lost.map(([, call]) => call), ...waiting];
    reader.outbox.length = 0;
    reader.isAlone = false;
    noteHold(reader, null);
    void reader.worker?.terminate();
    // Not before it is needed: a thread that cannot start must not be started for ever.
    reader.worker = null;
    options.onReplace?.(replaced);
    dispatch();
  }

  function takeBack(reader: Reader, id: number, { bytes }: Waiting): void {
    reader.inHand.delete(id);
    reader.inHandBytes -= bytes;
    inHand -= 1;
  }

  function dispatch(): void {
    for (let reader = newReader(); reader !== null && suspects.length > 0; reader = newReader()) {
      const call = suspects.shift();
      if (call === undefined) break;
      reader.isAlone = true;
      give(reader, call);
    }
    while (waiting.length > 0) {
      const reader = leastBusy();
      if (reader === null) return;
      const call = waiting.shift();
      if (call === undefined) return;
      give(reader, call);
    }
  }

  function give(reader: Reader, call: Waiting): void {
    lastId += 1;
    reader.inHand.set(lastId, call);
    reader.inHandBytes += call.bytes;
    inHand += 1;
    if (reader.outbox.length === 0) setImmediate(() => send(reader));
    const sent = callOf(lastId, call.request, textOf(call.request.job));
    const unread = call.losses.length < MOST_LOSSES ? {} : { unread: lostPage(call).message };
    reader.outbox.push({ ...sent, ...unread, ...(call.parent === null ? {} : { isTimed: true }) });
  }

  /** What was dispatched in one turn goes over in one message. */
  function send(reader: Reader): void {
    const calls = reader.outbox.splice(0).map(withCopies);
    if (calls.length === 0) return;
    const buffers = calls.flatMap(({ request: { response } }) => [
      response.body.buffer,
      ...(response.rendered === undefined ? [] : renderedBuffers(response.rendered)),
    ]);
    reader.worker ??= startThread(reader);
    reader.worker.postMessage(calls, buffers);
  }

  function textOf({ kind, options, seeds }: ReadRequest['job']): string {
    let text = texts.get(options);
    if (text === undefined) {
      text = JSON.stringify({
        kind,
        options: {
          scope: options.scope,
          page: options.page,
          routes: options.routes,
        },
        seeds,
      });
      texts.set(options, text);
    }
    return text;
  }

  /** Null when each has enough in hand. */
  function leastBusy(): Reader | null {
    let best: Reader | null = null;
    for (const reader of readers) {
      if (reader.isAlone || reader.inHand.size >= IN_HAND || reader.inHandBytes >= IN_HAND_BYTES) continue;
      if (best === null || reader.inHand.size < best.inHand.size) best = reader;
    }
    return best;
  }

  /** One whose thread is still to be started. */
  const newReader = (): Reader | null =>
    readers.find(({ worker, inHand }) => worker === null && inHand.size === 0) ?? null;

  return {
    read(request) {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(new ScrapifieError('SHUTTING_DOWN', 'No more pages are read.'));
        const bytes = request.response.body.byteLength;
        waiting.push({ request, bytes, losses: [], parent: recordedContext(), resolve, reject });
        outsideSpans(dispatch);
      });
    },
    ready: Promise.all(started).then(() => undefined),
    get backlog() {
      return waiting.length + suspects.length + inHand;
    },
    get isHolding() {
      return isHolding();
    },
    async close() {
      isClosed = true;
      clearInterval(watch);
      const threads = readers.map(({ worker }) => worker);
      const unread = [
        ...readers.flatMap(({ inHand }) => [...inHand.values()]),
        ...suspects.splice(0),
        ...waiting.splice(0),
      ];
      for (const reader of readers) {
        reader.worker = null;
        reader.inHand.clear();
        reader.inHandBytes = 0;
        reader.outbox.length = 0;
      }
      inHand = 0;
      for (const { reject } of unread) reject(new ScrapifieError('SHUTTING_DOWN', 'No more pages are read.'));
      await Promise.all(threads.map((worker) => worker?.terminate()));
    },
  };
}

/** Only what reading needs crosses to the thread. */
function callOf(id: number, { job, task, response, fetchedAt }: ReadRequest, jobText: string): ReadCall {
  return {
    id,
    seq: job.seq,
    generation: job.generation,
    incarnation: job.incarnation,
    job: jobText,
    request: {
      task: { id: task.id, kind: task.kind, url: task.url, urlKey: task.urlKey, depth: task.depth },
      response: {
        finalUrl: response.finalUrl,
        statusCode: response.statusCode,
        contentType: response.contentType,
        headers: response.headers,
        body: response.body,
        ...(response.redirects === undefined ? {} : { redirects: response.redirects }),
        ...(response.hasSecretCookies === true ? { hasSecretCookies: true } : {}),
        ...(response.rendered === undefined ? {} : { rendered: response.rendered }),
        ...(response.stored === undefined ? {} : { stored: response.stored }),
      },
      fetchedAt,
    },
  };
}

/** What is handed to a thread; the pool keeps its own until the page is answered. */
function withCopies(call: ReadCall): ReadCall {
  const { response } = call.request;
  const { rendered } = response;
  return {
    ...call,
    request: {
      ...call.request,
      response: {
        ...response,
        body: new Uint8Array(response.body),
        ...(rendered === undefined ? {} : { rendered: copiedRenderedPage(rendered) }),
      },
    },
  };
}

/** The page is answered: nothing of it is needed here any more. */
function release({ response }: ReadRequest): void {
  releaseBytes(response.body);
  if (response.rendered?.rawBody != null) releaseBytes(response.rendered.rawBody);
}

function lostPage({ losses }: Waiting): ScrapifieError {
  const [first, second] = losses;
  const again = second === undefined ? '' : `; alone with a thread of its own, it ${second}`;
  return new ScrapifieError('EXTRACTION_FAILED', `Reading the page ${first}${again}.`);
}

const isAnswers = (message: object): message is readonly ReadAnswer[] => Array.isArray(message);

function errorOf(code: ScrapifieError['code'] | null, message: string): ScrapifieError {
  return new ScrapifieError(code ?? 'EXTRACTION_FAILED', message);
}
