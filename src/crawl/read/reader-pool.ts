import type { Context } from '@opentelemetry/api';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PageThreadEnd } from '../../core/observe/metrics/crawl-metrics.ts';
import { outsideSpans, recordedContext, startSpan } from '../../core/tracing/tracing.ts';
import type { PageReader, ReadRequest } from './page-reading.ts';
import { ReadQueue } from './read-queue.ts';
import { callOf, ReaderThread, release, type UnreadPage } from './reader-thread.ts';
import type { HeapReport, HoldReason, ReadAnswer } from './thread-messages.ts';

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

/** Threads that a page may take down while they read it: the second one read that page alone. */
const MOST_LOSSES = 2;
/** Pages that are expected to take this long leave the first of several threads to others. */
const SLOW_PAGE_MS = 1_000;

/**
 * Reads pages in threads. Of each page the pool keeps what it needs to read it again, so a lost thread costs no page: the
 * page that the thread was reading is read once more by a new thread, alone, and the others that it had in hand as before.
 * A page that has cost two threads is not read; its body is stored all the same.
 */
export const createReaderPool = (options: ReaderPoolOptions): PageReader => new ReaderPool(options);

class ReaderPool implements PageReader {
  readonly ready: Promise<void>;
  readonly #options: ReaderPoolOptions;
  readonly #threads: readonly ReaderThread[];
  readonly #watch: NodeJS.Timeout;
  readonly #waiting = new ReadQueue<UnreadPage>();
  /** Pages during which a thread was lost. Each waits for a thread that reads nothing else. */
  readonly #suspects: UnreadPage[] = [];
  /** Jobs as text, by their options, which all tasks of a job share. */
  readonly #texts = new WeakMap<object, string>();
  #inHand = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(options: ReaderPoolOptions) {
    const { threads, entry, data, limitMs = 20_000, maxHeapMb = 512 } = options;
    this.#options = options;
    this.#threads = Array.from(
      { length: threads },
      () =>
        new ReaderThread({
          ...{ entry, data, maxHeapMb },
          onAnswers: (thread, answers) => this.#settle(thread, answers),
          onHold: (thread, reason) => this.#noteHold(thread, reason),
          onHeapHigh: (thread, heap) => this.#replaceBetweenPages(thread, heap),
          onEnd: (thread, { isOutOfMemory, why }) =>
            this.#lose(thread, isOutOfMemory ? 'out-of-memory' : 'crashed', why),
        }),
    );
    this.ready = Promise.all(this.#threads.map((thread) => thread.ready)).then(() => undefined);
    const look = () => {
      for (const thread of this.#threads) {
        if (thread.isStuck(limitMs)) this.#lose(thread, 'too-slow', 'took too long');
      }
    };
    this.#watch = setInterval(look, Math.min(1_000, limitMs)).unref();
  }

  read(request: ReadRequest): ReturnType<PageReader['read']> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new ScrapifieError('SHUTTING_DOWN', 'No more pages are read.'));
      const bytes = request.response.body.byteLength;
      const turn = { accountId: request.accountId ?? '', line: request.job.seq };
      const parent = recordedContext();
      this.#waiting.add({ request, bytes, turn, expectedMs: 0, losses: [], parent, resolve, reject }, turn);
      outsideSpans(() => this.#dispatch());
    });
  }

  get backlog(): number {
    return this.#waiting.size + this.#suspects.length + this.#inHand;
  }

  get isHolding(): boolean {
    return this.#threads.some((thread) => thread.isHolding);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    const ends = this.#threads.map((thread) => thread.end());
    const unread = [
      ...ends.flatMap(({ pages }) => pages),
      ...this.#suspects.splice(0),
      ...this.#waiting.clear(),
    ];
    this.#inHand = 0;
    for (const { reject } of unread) reject(new ScrapifieError('SHUTTING_DOWN', 'No more pages are read.'));
    await Promise.all(ends.map(({ ended }) => ended));
  }

  #settle(thread: ReaderThread, answers: readonly ReadAnswer[]): void {
    for (const answer of answers) {
      const page = thread.takeBack(answer.id);
      if (page === undefined) continue;
      this.#inHand -= 1;
      if (page.turn !== null) {
        this.#waiting.done(page.turn, 'reading' in answer ? answer.reading.ms : page.expectedMs);
      }
      thread.isAlone = false;
      release(page.request);
      if ('reading' in answer) {
        if (page.parent !== null) traceThread(answer, page.parent);
        page.resolve(answer.reading);
      } else page.reject(errorOf(answer.code, answer.message));
    }
    this.#dispatch();
  }

  #noteHold(thread: ReaderThread, reason: HoldReason | null): void {
    const wasHolding = this.isHolding;
    thread.isHolding = reason !== null;
    if (this.isHolding !== wasHolding) this.#options.onHold?.(reason);
  }

  /** The page being read may have caused it, and is read alone from now on. */
  #lose(thread: ReaderThread, reason: ReplacedThread['reason'], why: string): void {
    const suspect = thread.takeBackCurrent();
    if (suspect !== undefined) {
      this.#inHand -= 1;
      if (suspect.turn !== null) this.#waiting.done(suspect.turn, SLOW_PAGE_MS);
      suspect.turn = null;
      suspect.losses.push(why);
      if (suspect.losses.length <= MOST_LOSSES) this.#suspects.push(suspect);
      else suspect.reject(lostPage(suspect));
    }
    this.#replace(thread, {
      reason,
      message: `Reading a page ${why}.`,
      url: suspect?.request.task.url ?? null,
      pages: thread.inHand.size + (suspect === undefined ? 0 : 1),
    });
  }

  #replaceBetweenPages(thread: ReaderThread, { usedBytes, limitBytes }: HeapReport['heap']): void {
    thread.forgetCurrent();
    const message = `Between two pages ${usedBytes} of ${limitBytes} bytes of its heap are in use.`;
    this.#replace(thread, { reason: 'heap-high', message, url: null, pages: thread.inHand.size });
  }

  /** What the thread had in hand is read next by others, or by the one that follows it. */
  #replace(thread: ReaderThread, replaced: ReplacedThread): void {
    const { pages } = thread.end();
    this.#inHand -= pages.length;
    for (const page of pages.toReversed()) this.#putBack(page);
    this.#noteHold(thread, null);
    this.#options.onReplace?.(replaced);
    this.#dispatch();
  }

  #putBack(page: UnreadPage): void {
    if (page.turn === null) {
      this.#suspects.unshift(page);
      return;
    }
    this.#waiting.done(page.turn, null);
    this.#waiting.add(page, page.turn, true);
  }

  #dispatch(): void {
    let fresh = this.#unstarted();
    for (; fresh !== null && this.#suspects.length > 0; fresh = this.#unstarted()) {
      const page = this.#suspects.shift();
      if (page === undefined) break;
      fresh.isAlone = true;
      this.#give(fresh, page);
    }
    while (this.#waiting.size > 0 && this.#giveNext());
  }

  /** Gives the page whose turn it is to the thread with the least in hand that may have it. Returns false when there is none. */
  #giveNext(): boolean {
    for (const thread of this.#leastBusyFirst()) {
      const next = this.#waiting.take((expectedMs) => this.#mayHave(thread, expectedMs));
      if (next === null) continue;
      next.page.expectedMs = next.expectedMs;
      this.#give(thread, next.page);
      return true;
    }
    return false;
  }

  /** The first of several threads has no slow pages, so that slow ones never keep all of them. */
  #mayHave(thread: ReaderThread, expectedMs: number): boolean {
    const isForQuickPages = this.#threads.length > 1 && thread === this.#threads[0];
    if (isForQuickPages && expectedMs > SLOW_PAGE_MS) return false;
    return thread.hasTimeFor(expectedMs);
  }

  #give(thread: ReaderThread, page: UnreadPage): void {
    this.#lastId += 1;
    this.#inHand += 1;
    const sent = callOf(this.#lastId, page.request, this.#textOf(page.request.job));
    const unread = page.losses.length < MOST_LOSSES ? {} : { unread: lostPage(page).message };
    thread.give(page, { ...sent, ...unread, ...(page.parent === null ? {} : { isTimed: true }) });
  }

  #textOf({ kind, options, seeds }: ReadRequest['job']): string {
    let text = this.#texts.get(options);
    if (text === undefined) {
      const { scope, page, routes } = options;
      text = JSON.stringify({ kind, options: { scope, page, routes }, seeds });
      this.#texts.set(options, text);
    }
    return text;
  }

  /** Threads that have not enough in hand. */
  #leastBusyFirst(): readonly ReaderThread[] {
    const free = this.#threads.filter((thread) => thread.hasRoom);
    return free.length < 2 ? free : free.sort((a, b) => a.inHand.size - b.inHand.size);
  }

  /** A thread that is still to be started, and has nothing in hand. */
  #unstarted(): ReaderThread | null {
    return this.#threads.find(({ isStarted, inHand }) => !isStarted && inHand.size === 0) ?? null;
  }
}

function lostPage({ losses }: UnreadPage): ScrapifieError {
  const [first, second] = losses;
  const again = second === undefined ? '' : `; alone with a thread of its own, it ${second}`;
  return new ScrapifieError('EXTRACTION_FAILED', `Reading the page ${first}${again}.`);
}

function errorOf(code: ScrapifieError['code'] | null, message: string): ScrapifieError {
  return new ScrapifieError(code ?? 'EXTRACTION_FAILED', message);
}

/** Makes the spans of what a thread did for a page, by the times in its answer: threads have no sender of their own. */
function traceThread(answer: ReadAnswer, parent: Context): void {
  if (!('times' in answer) || answer.times === undefined) return;
  const { begunAt, readAt, storedAt } = answer.times;
  startSpan('extract', { startTime: begunAt }, parent)?.end(readAt);
  startSpan('store body', { startTime: readAt }, parent)?.end(storedAt);
}
