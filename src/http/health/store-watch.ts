import { isStoreAway, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Store } from '../../core/ports/store.ts';

export interface StoreWatchOptions {
  /** Told once when the store begins to be away, with the reason, and once, with null, when it is back. */
  readonly onChange: (reason: Error | null) => void;
  /** A call that takes longer raises the question whether the store is there at all. */
  readonly patienceMs?: number;
  /** How long the store may take to answer that question. */
  readonly probeMs?: number;
  /** How often a store that is away is asked it again. */
  readonly retryMs?: number;
}

type Method = (...values: unknown[]) => Promise<unknown>;

/** Methods that are passed on without the watch: `check` asks the store itself, the others begin and end its use. */
const UNWATCHED: ReadonlySet<string> = new Set<keyof Store>(['migrate', 'check', 'close']);
/** What a client is told: about as long as a database takes to restart. */
const RETRY_AFTER_MS = 2_000;

/**
 * A store in another process, for callers with clients waiting. No call waits longer than patience and
 * probe together for a store that is gone, and not at all once that is known: calls then fail with STORE_UNAVAILABLE
 * before they begin. Whether the store is away is decided by one small question to it alone, never by a call: a call
 * may fail or take long for reasons of its own, and a driver's time limits must leave room for the longest of them.
 *
 * A call given up on may still have happened, as after any lost answer; an Idempotency-Key makes it safe to repeat.
 */
export function watchStore(store: Store, options: StoreWatchOptions): Store {
  const { onChange, patienceMs = 2_000, probeMs = 2_000, retryMs = 1_000 } = options;
  let awayBecause: Error | null = null;
  let question: Promise<unknown> | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  function change(reason: Error | null): void {
    const wasAway = awayBecause !== null;
    awayBecause = reason;
    const isAway = reason !== null;
    if (wasAway === isAway || isClosed) return;
    clearInterval(retry);
    if (isAway) retry = setInterval(probe, retryMs).unref();
    onChange(reason);
  }

  /** Resolves when the question is answered or its time is over. One question at a time is on its way. */
  async function probe(): Promise<void> {
    question ??= store
      .clock()
      .then(
        () => change(null),
        (error: unknown) => change(error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => {
        question = null;
      });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      // Left on its way: when the store is back, this is how it shows first.
      change(awayBecause ?? new Error(`The store gave no answer within ${patienceMs + probeMs} ms.`));
      resolve();
    }, probeMs);
    await Promise.race([question, late]);
    clearTimeout(timer);
  }

  function unavailable(): ScrapifieError {
    const message = awayBecause?.message ?? 'The store does not answer.';
    return new ScrapifieError('STORE_UNAVAILABLE', message, {
      cause: awayBecause,
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  function call(begin: () => Promise<unknown>): Promise<unknown> {
    if (awayBecause !== null) return Promise.reject(unavailable());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let timer = setTimeout(ask, patienceMs).unref();
    let isSettled = false;
    async function ask(): Promise<void> {
      await probe();
      if (isSettled) return;
      if (awayBecause !== null) reject(unavailable());
      else timer = setTimeout(ask, patienceMs).unref();
    }
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
    };
    begin().then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        if (isStoreAway(error) && !isClosed) void probe();
        reject(error);
      },
    );
    return promise;
  }

  const methods = Object.entries(store) as [string, Method][];
  const watched = methods.map(([name, method]): [string, Method] => [
    name,
    UNWATCHED.has(name) ? method : (...values) => call(() => method(...values)),
  ]);
  return {
    ...(Object.fromEntries(watched) as unknown as Store),
    async close() {
      isClosed = true;
      clearInterval(retry);
      await store.close();
    },
  };
}
