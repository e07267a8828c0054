import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import type { QueryStore } from '../../core/ports/query-store.ts';
import { siblingModule } from '../../lib/threads/thread.ts';
import { ThreadClient, type ThreadEnd } from '../../lib/threads/thread-client.ts';
import { createLedgerViewStore } from '../store-rows/ledger-view.ts';
import { SQLITE_LEDGER_DIALECT } from './query-dialect.ts';
import type { QueryMethods } from './query-thread.ts';

export interface SqliteQueryStore extends QueryStore, LedgerViewStore {
  close(): Promise<void>;
}

/** What a query may take beyond its limit before its thread is ended: waiting for others, and one row that takes long. */
const GRACE_MS = 5_000;
/** A thread that nothing asked for this long is ended. */
const IDLE_MS = 60_000;

/** Queries in a thread of their own, which is started by the first one. See `query-thread.ts`. */
export function createSqliteQueryStore(path: string): SqliteQueryStore {
  const thread = new ThreadClient<QueryMethods>({
    name: 'query',
    entry: siblingModule('./query-thread.ts', import.meta.url),
    data: { path },
    memory: { youngMb: 16, oldMb: 256 },
    idleMs: IDLE_MS,
    errorOf,
  });
  // The queries before this one may take their time first.
  const limitOf = (limitMs: number) => ({ limitMs: (limitMs + GRACE_MS) * (thread.pending + 1) });

  return {
    queryRows: (query) => thread.call('queryRows', [query], limitOf(query.limitMs)),
    scanRecords: (query) => thread.call('scanRecords', [query], limitOf(query.limitMs)),
    ...createLedgerViewStore(
      (statement, limitMs) => thread.call('run', [statement, limitMs], limitOf(limitMs)),
      SQLITE_LEDGER_DIALECT,
    ),
    close: () => thread.close(),
  };
}

/** The end of the thread is that of every query that is under way or waits. */
function errorOf({ reason, cause }: ThreadEnd): ScrapifieError {
  if (reason === 'closed') return new ScrapifieError('STORE_UNAVAILABLE', 'The store is closed.');
  if (reason === 'late') {
    return new ScrapifieError('QUERY_TIMEOUT', 'The query took too long. Narrow it, by `jobId` for example.');
  }
  return new ScrapifieError('STORE_UNAVAILABLE', 'The query could not be run.', { cause });
}
