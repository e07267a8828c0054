import { Worker } from 'node:worker_threads';
import type { Context } from '@opentelemetry/api';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { outsideSpans, recordedContext } from '../tracing/tracing.ts';
import type { PageReader, PageReading, ReadRequest } from './page-reading.ts';
import { ownedRenderedPage, renderedBuffers } from './rendered-page.ts';
import type { HoldReason, HoldReport, ReadAnswer, ReadCall, ThreadData } from './thread-messages.ts';
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
}

/** Pages a thread has in hand: what it reads and stores together, and as many waiting beside it. */
const IN_HAND = 32;

interface Waiting {
  readonly request: ReadRequest;
  /** Of the span that waits for the page; null where there is none. */
  readonly parent: Context | null;
  readonly resolve: (reading: PageReading) => void;
  readonly reject: (error: Error) => void;
}

interface Reader {
  /** Null after it was lost, until there is something to read again. */
  worker: Worker | null;
  readonly inHand: Map<number, Waiting>;
  readonly outbox: ReadCall[];
  readonly reading: Int32Array<SharedArrayBuffer>;
  onReady: () => void;
  /** Its bodies cannot be stored at the moment. */
  isHolding: boolean;
  /** Which call the watch saw being read, and since when. */
  watched: { id: number; since: number };
}

/** Reads pages in threads. A page that takes too long costs its thread, which is replaced. */
export function createReaderPool(options: ReaderPoolOptions): PageReader {
  const { threads, entry, data, limitMs = 20_000 } = options;
  const waiting: Waiting[] = [];
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
        else if (performance.now() - reader.watched.since > limitMs) replace(reader, 'took too long');
      }
    },
    Math.min(1_000, limitMs),
  );
  watch.unref();

  function startThread(reader: Reader): Worker {
    const worker = new Worker(entry, {
      workerData: { given: data, reading: reader.reading } satisfies ThreadData<unknown>,
      name: 'pages',
      // What plug-ins log there does not belong among the results on standard output.
      stdout: true,
      // Nearly everything dies with its page; without a limit each thread's nursery grows to 50 MB for nothing.
      resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 512 },
    });
    worker.stdout.on('data', (logged: Buffer) => void process.stderr.write(logged));
    // A thread that cannot load is no reason to wait.
    worker.once('exit', () => reader.onReady());
    worker.on('message', (answers: readonly ReadAnswer[] | HoldReport | object) => {
      if ('held' in answers) return noteHold(reader, answers.held);
      // Under `node --watch`, Node.js itself reports the files that a thread loads through the port of the thread.
      if (!isAnswers(answers)) return;
      // The first message, empty, says that the thread has loaded.
      reader.onReady();
      for (const answer of answers) {
        const call = reader.inHand.get(answer.id);
        if (call === undefined) continue;
        reader.inHand.delete(answer.id);
        inHand -= 1;
        if ('reading' in answer) {
          if (call.parent !== null) traceThread(answer, call.parent);
          call.resolve(answer.reading);
        } else call.reject(errorOf(answer.code, answer.message));
      }
      dispatch();
    });
    worker.on('error', (error) => {
      if (reader.worker === worker) replace(reader, `failed: ${error.message}`);
    });
    worker.on('exit', (code) => {
      if (reader.worker === worker) replace(reader, `ended its thread with ${code}`);
    });
    worker.unref();
    return worker;
  }

  function noteHold(reader: Reader, reason: HoldReason | null): void {
    const wasHolding = isHolding();
    reader.isHolding = reason !== null;
    if (isHolding() !== wasHolding) options.onHold?.(reason);
  }

  const isHolding = () => readers.some((reader) => reader.isHolding);

  /** The page being read is to blame; the others in that thread's hands are given back to be fetched again. */
  function replace(reader: Reader, why: string): void {
    const [first] = reader.inHand.keys();
    const blamedId = Atomics.exchange(reader.reading, 0, 0) || first;
    const lost = [...reader.inHand];
    reader.inHand.clear();
    reader.outbox.length = 0;
    noteHold(reader, null);
    inHand -= lost.length;
    void reader.worker?.terminate();
    // Not before it is needed: a thread that cannot start must not be started for ever.
    reader.worker = null;
    for (const [id, { reject }] of lost) {
      if (id === blamedId) reject(new ScrapifieError('EXTRACTION_FAILED', `Reading the page ${why}.`));
      else reject(new ScrapifieError('CANCELLED', 'The page is to be read again.'));
    }
    dispatch();
  }

  function dispatch(): void {
    while (waiting.length > 0) {
      const reader = leastBusy();
      if (reader.inHand.size >= IN_HAND) return;
      const call = waiting.shift();
      if (call === undefined) return;
      lastId += 1;
      reader.inHand.set(lastId, call);
      inHand += 1;
      if (reader.outbox.length === 0) setImmediate(() => send(reader));
      const sent = callOf(lastId, call.request, textOf(call.request.job));
      reader.outbox.push(call.parent === null ? sent : { ...sent, isTimed: true });
    }
  }

  /** What was dispatched in one turn goes over in one message. */
  function send(reader: Reader): void {
    const calls = reader.outbox.splice(0);
    if (calls.length === 0) return;
    const buffers = calls.flatMap(({ request: { response } }) => [
      // All empty bodies are one: given away once, it could not be sent again.
      ...(response.body.byteLength > 0 ? [response.body.buffer] : []),
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

  function leastBusy(): Reader {
    let best = readers[0] as Reader;
    for (const reader of readers) if (reader.inHand.size < best.inHand.size) best = reader;
    return best;
  }

  return {
    read(request) {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(new ScrapifieError('SHUTTING_DOWN', 'No more pages are read.'));
        waiting.push({ request, parent: recordedContext(), resolve, reject });
        outsideSpans(dispatch);
      });
    },
    ready: Promise.all(started).then(() => undefined),
    get backlog() {
      return waiting.length + inHand;
    },
    get isHolding() {
      return isHolding();
    },
    async close() {
      isClosed = true;
      clearInterval(watch);
      const threads = readers.map(({ worker }) => worker);
      const unread = [...readers.flatMap(({ inHand }) => [...inHand.values()]), ...waiting.splice(0)];
      for (const reader of readers) {
        reader.worker = null;
        reader.inHand.clear();
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
        ...(response.rendered === undefined ? {} : { rendered: ownedRenderedPage(response.rendered) }),
        ...(response.stored === undefined ? {} : { stored: response.stored }),
      },
      fetchedAt,
    },
  };
}

const isAnswers = (message: object): message is readonly ReadAnswer[] => Array.isArray(message);

function errorOf(code: ScrapifieError['code'] | null, message: string): ScrapifieError {
  return new ScrapifieError(code ?? 'EXTRACTION_FAILED', message);
}
