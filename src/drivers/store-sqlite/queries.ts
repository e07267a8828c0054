import { Worker } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import type { QueryStore } from '../../core/ports/query-store.ts';
import { createLedgerViewStore } from '../store-rows/ledger-view.ts';
import { errorOfFailure } from './messages.ts';
import { SQLITE_LEDGER_DIALECT } from './query-dialect.ts';
import type { QueryAnswer, QueryCall } from './query-thread.ts';

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export interface SqliteQueryStore extends QueryStore, LedgerViewStore {
  close(): Promise<void>;
}

/** What a query may take beyond its limit before its thread is ended: waiting for others, and one row that takes long. */
const GRACE_MS = 5_000;
/** A thread that nothing asked for this long is ended. */
const IDLE_MS = 60_000;

/** Queries in a thread of their own, which is started by the first one. See `query-thread.ts`. */
export function createSqliteQueryStore(path: string): SqliteQueryStore {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastId = 0;
  const calls = new Map<number, Waiting>();

  function settle(id: number): Waiting | undefined {
    const call = calls.get(id);
    calls.delete(id);
    clearTimeout(call?.timer);
    if (calls.size === 0 && thread !== null) {
      thread.unref();
      idle = setTimeout(() => end(new Error('idle')), IDLE_MS).unref();
    }
    return call;
  }

  /** Ends the thread, and with it every query that is under way or waits. */
  function end(error: Error): void {
    const ended = thread;
    thread = null;
    clearTimeout(idle);
    for (const id of [...calls.keys()]) settle(id)?.reject(error);
    void ended?.terminate();
  }

  function start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './query-thread.ts' : './query-thread.js';
    const started = new Worker(new URL(file, import.meta.url), {
      workerData: { path },
      name: 'query',
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
    });
    listen(started, 'message', (answer: QueryAnswer) => {
      const call = settle(answer.id);
      if ('failure' in answer) call?.reject(errorOfFailure(answer.failure));
      else call?.resolve(answer.result as never);
    });
    const lost = (cause: unknown) => {
      if (thread === started)
        end(new ScrapifieError('STORE_UNAVAILABLE', 'The query could not be run.', { cause }));
    };
    listen(started, 'error', lost);
    listen(started, 'exit', lost);
    return started;
  }

  function ask<T>(call: Omit<QueryCall, 'id'>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (isClosed) {
        reject(new ScrapifieError('STORE_UNAVAILABLE', 'The store is closed.'));
        return;
      }
      clearTimeout(idle);
      thread ??= start();
      thread.ref();
      lastId += 1;
      const timer = setTimeout(
        () =>
          end(
            new ScrapifieError(
              'QUERY_TIMEOUT',
              'The query took too long. Narrow it, by `jobId` for example.',
            ),
          ),
        // The queries before this one may take their time first.
        (call.query.limitMs + GRACE_MS) * (calls.size + 1),
      );
      calls.set(lastId, { resolve, reject, timer });
      thread.postMessage({ ...call, id: lastId });
    });
  }

  return {
    queryRows: (query) => ask({ method: 'queryRows', query }),
    scanRecords: (query) => ask({ method: 'scanRecords', query }),
    ...createLedgerViewStore(
      (statement, limitMs) => ask({ method: 'run', query: { statement, limitMs } }),
      SQLITE_LEDGER_DIALECT,
    ),
    async close() {
      isClosed = true;
      end(new ScrapifieError('STORE_UNAVAILABLE', 'The store is closed.'));
    },
  };
}
