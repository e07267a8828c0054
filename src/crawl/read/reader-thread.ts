import type { Worker } from 'node:worker_threads';
import type { Context } from '@opentelemetry/api';
import { releaseBytes } from '../../lib/own-memory.ts';
import { startThread } from '../../lib/threads/thread.ts';
import type { PageReading, ReadRequest } from './page-reading.ts';
import type { ReadTurn } from './read-queue.ts';
import { copiedRenderedPage, renderedBuffers } from './rendered-page.ts';
import type {
  HeapReport,
  HoldReason,
  HoldReport,
  ReadAnswer,
  ReadCall,
  ThreadData,
} from './thread-messages.ts';

/** Pages a thread has in hand: what it reads and stores together, and as many waiting beside it. */
const IN_HAND = 32;
/** A thread is given copies of bodies, so that a page outlives its thread; this is how much of them it may have. */
const IN_HAND_BYTES = 8_388_608;
/** Nor is a page given behind others that take the thread this long together: it may be the turn of another one before. */
const IN_HAND_MS = 500;

/** A page that is to be read. */
export interface UnreadPage {
  readonly request: ReadRequest;
  readonly bytes: number;
  /** A page that has cost a thread has none: it is read alone. */
  turn: ReadTurn | null;
  /** The time that reading is expected to take. */
  expectedMs: number;
  /** Why threads ended while they read this page. */
  readonly losses: string[];
  /** Context of the span that waits for the page; null when there is none. */
  readonly parent: Context | null;
  readonly resolve: (reading: PageReading) => void;
  readonly reject: (error: Error) => void;
}

export interface ReaderThreadOptions {
  readonly entry: URL;
  readonly data: unknown;
  readonly maxHeapMb: number;
  onAnswers(thread: ReaderThread, answers: readonly ReadAnswer[]): void;
  onHold(thread: ReaderThread, reason: HoldReason | null): void;
  onHeapHigh(thread: ReaderThread, heap: HeapReport['heap']): void;
  /** The thread has ended without being told to. */
  onEnd(thread: ReaderThread, end: { readonly isOutOfMemory: boolean; readonly why: string }): void;
}

/** One thread that reads pages, and what it has in hand. A thread that was lost is started again with the next page. */
export class ReaderThread {
  /** By the id of the call. */
  readonly inHand = new Map<number, UnreadPage>();
  /** The thread reads a page that has cost another thread, and is given no other page meanwhile. */
  isAlone = false;
  /** Its bodies cannot be stored at the moment. */
  isHolding = false;
  /** Resolves when the thread has loaded, or cannot load: neither is a reason to wait on. */
  readonly ready: Promise<void>;
  readonly #options: ReaderThreadOptions;
  readonly #outbox: ReadCall[] = [];
  /** The call that is being read, as the thread writes it; 0: none. */
  readonly #reading = new Int32Array(new SharedArrayBuffer(4));
  #onReady: () => void = () => undefined;
  #worker: Worker | null;
  #inHandBytes = 0;
  #inHandMs = 0;
  /** Which call was seen being read, and since when. */
  #watched = { id: 0, since: 0 };

  constructor(options: ReaderThreadOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    this.#worker = this.#start();
  }

  /** False after a loss, until there is something to read again. */
  get isStarted(): boolean {
    return this.#worker !== null;
  }

  get hasRoom(): boolean {
    return !this.isAlone && this.inHand.size < IN_HAND && this.#inHandBytes < IN_HAND_BYTES;
  }

  /** Whether a page may be read soon that is expected to take so long. */
  hasTimeFor(expectedMs: number): boolean {
    return this.inHand.size === 0 || this.#inHandMs + expectedMs <= IN_HAND_MS;
  }

  /** What is given in one turn goes over in one message. */
  give(page: UnreadPage, call: ReadCall): void {
    this.inHand.set(call.id, page);
    this.#inHandBytes += page.bytes;
    this.#inHandMs += page.expectedMs;
    if (this.#outbox.length === 0) setImmediate(() => this.#send());
    this.#outbox.push(call);
  }

  takeBack(id: number): UnreadPage | undefined {
    const page = this.inHand.get(id);
    if (page === undefined) return undefined;
    this.inHand.delete(id);
    this.#inHandBytes -= page.bytes;
    this.#inHandMs -= page.expectedMs;
    return page;
  }

  /** Takes back the page that is being read; the first in hand where the thread has not begun with one. */
  takeBackCurrent(): UnreadPage | undefined {
    const [first] = this.inHand.keys();
    const current = Atomics.exchange(this.#reading, 0, 0) || first;
    return current === undefined ? undefined : this.takeBack(current);
  }

  /** The thread says that it reads nothing. */
  forgetCurrent(): void {
    Atomics.store(this.#reading, 0, 0);
  }

  /** Whether the page that is being read has been so at every look for longer than this. */
  isStuck(limitMs: number): boolean {
    const id = this.inHand.size === 0 ? 0 : Atomics.load(this.#reading, 0);
    if (id === 0 || id !== this.#watched.id) {
      this.#watched = { id, since: performance.now() };
      return false;
    }
    return performance.now() - this.#watched.since > limitMs;
  }

  /**
   * Ends the thread and returns what it had in hand. Another one is started when it is needed, and not before: a thread that
   * cannot start must not be started for ever.
   */
  end(): { readonly pages: readonly UnreadPage[]; readonly ended: Promise<unknown> } {
    const pages = [...this.inHand.values()];
    this.inHand.clear();
    this.#inHandBytes = 0;
    this.#inHandMs = 0;
    this.#outbox.length = 0;
    this.isAlone = false;
    const ended = this.#worker?.terminate() ?? Promise.resolve();
    this.#worker = null;
    return { pages, ended };
  }

  #start(): Worker {
    const { entry, data, maxHeapMb } = this.#options;
    const worker = startThread(
      {
        name: 'pages',
        entry,
        data: { given: data, reading: this.#reading } satisfies ThreadData<unknown>,
        memory: { youngMb: 24, oldMb: maxHeapMb },
        // What plug-ins log does not belong among the results on standard output.
        output: 'stderr',
      },
      {
        onMessage: (message) => {
          if (this.#worker === worker) this.#hear(message);
        },
        onEnd: (end) => {
          // A thread that cannot load is no reason to wait.
          this.#onReady();
          if (this.#worker !== worker) return;
          if ('error' in end) {
            const { code, message } = end.error as NodeJS.ErrnoException;
            const isOutOfMemory = code === 'ERR_WORKER_OUT_OF_MEMORY';
            this.#options.onEnd(this, { isOutOfMemory, why: `failed: ${message}` });
          } else {
            const why = `ended its thread with ${end.exitCode}`;
            this.#options.onEnd(this, { isOutOfMemory: false, why });
          }
        },
      },
    );
    worker.unref();
    return worker;
  }

  #hear(message: readonly ReadAnswer[] | HoldReport | HeapReport | object): void {
    if ('held' in message) this.#options.onHold(this, message.held);
    if ('heap' in message) this.#options.onHeapHigh(this, message.heap);
    // Under `node --watch`, Node.js itself reports the files that a thread loads through the port of the thread.
    if (!isAnswers(message)) return;
    // The first message, empty, says that the thread has loaded.
    this.#onReady();
    this.#options.onAnswers(this, message);
  }

  #send(): void {
    const calls = this.#outbox.splice(0).map(withCopies);
    if (calls.length === 0) return;
    const buffers = calls.flatMap(({ request: { response } }) => [
      response.body.buffer,
      ...(response.rendered === undefined ? [] : renderedBuffers(response.rendered)),
    ]);
    this.#worker ??= this.#start();
    this.#worker.postMessage(calls, buffers);
  }
}

/** Only what reading needs crosses to the thread. */
export function callOf(
  id: number,
  { job, task, response, fetchedAt }: ReadRequest,
  jobText: string,
): ReadCall {
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
export function release({ response }: ReadRequest): void {
  releaseBytes(response.body);
  if (response.rendered?.rawBody != null) releaseBytes(response.rendered.rawBody);
}

const isAnswers = (message: object): message is readonly ReadAnswer[] => Array.isArray(message);
