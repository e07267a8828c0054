import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import { errorOfFailure, siblingModule, type ThreadFailure } from '../../lib/threads/thread.ts';
import { type CallOptions, ThreadClient, type ThreadEnd } from '../../lib/threads/thread-client.ts';
import { coldMethods, coldStore } from '../store-sql/cold-store.ts';
import { type Call, type HotMethod, JSON_METHODS, type ThreadMethod, type ThreadPlace } from './messages.ts';
import { createSqliteQueryStore } from './queries.ts';

/** A list that fails to compile when the port grows a method that this driver does not carry over. */
const HOT_METHODS: Readonly<Record<HotMethod, true>> = {
  migrate: true,
  clock: true,
  check: true,
  close: true,
  createJob: true,
  getJob: true,
  cancelJob: true,
  stopJob: true,
  resumeJob: true,
  retryJob: true,
  expireJobs: true,
  offerHosts: true,
  acquireHost: true,
  renewHosts: true,
  releaseHost: true,
  saveHosts: true,
  releaseAllHosts: true,
  claimTasks: true,
  startTask: true,
  addOptOut: true,
  commit: true,
  reserveUrl: true,
  defaultAccount: true,
  audit: true,
  listAudit: true,
  auditHead: true,
  compact: true,
  listEvents: true,
  eventHead: true,
  appendEvents: true,
  deleteEvents: true,
  listSnapshotRecords: true,
  findContents: true,
  addSightings: true,
  addDeliveries: true,
  addDelivery: true,
  claimLanes: true,
  getCredits: true,
  setCreditPlan: true,
  grantCredits: true,
  listCreditEntries: true,
  foldUsage: true,
  listUsage: true,
};

/**
 * Ownership and other data that a power failure may undo: all owners are dead then anyway. They are
 * written at once, which survives the end of the process, and synced with the next call that must survive more.
 */
const UNSYNCED: ReadonlySet<string> = new Set<string>([
  ...coldMethods(({ isUnsynced }) => isUnsynced === true),
  ...([
    'acquireHost',
    'renewHosts',
    'releaseHost',
    'saveHosts',
    'releaseAllHosts',
    'claimTasks',
    // Deliveries that are lost with the cursor are made again from the same events.
    'addDeliveries',
    'addSightings',
    'claimLanes',
    'check',
  ] satisfies HotMethod[]),
]);

function isUnsynced(method: ThreadMethod, values: readonly unknown[]): boolean {
  const [, , how] = method === 'createJob' ? (values as Parameters<Store['createJob']>) : [];
  return how?.isUnsynced ?? UNSYNCED.has(method);
}

export interface SqliteStoreOptions {
  readonly path: string;
  /** The store's clock: that of the one process which may use the store. */
  readonly now?: () => number;
  /** Paths of files that are only made once there is a database: with them, a database without tables is damaged. */
  readonly traces?: readonly string[];
  /** How long committed changes may be in the log of the database alone. */
  readonly checkpointMs?: number;
  /** Told once when the file of the database is not where it was opened. */
  readonly onError?: (error: Error) => void;
  /** Disk space that is kept for `cancelJob`, `deleteJob`, `revokeKey` and `changeAccount`, once these would be DISK_FULL; none by default. */
  readonly reserveBytes?: number;
}

const CHECKPOINT_MS = 10_000;

/**
 * SQLite in a thread of its own: a sync to disk blocks that thread and never the event loop. The promises of the
 * port are kept in `thread.ts`; this side carries calls over, each with the time at which it is made, and answers back.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, now = createSteadyClock().now, onError = () => undefined } = options;
  const { traces = [], checkpointMs = CHECKPOINT_MS, reserveBytes = 0 } = options;
  const thread = new ThreadClient<Record<ThreadMethod, () => unknown>, ThreadFailure>({
    name: 'store',
    entry: siblingModule('./thread.ts', import.meta.url),
    data: { path, traces, checkpointMs, reserveBytes } satisfies ThreadPlace,
    // What a call brings dies with it; a small nursery keeps the process small at no cost that could be measured.
    memory: { youngMb: 24, oldMb: 512 },
    restarts: false,
    keepsProcess: true,
    errorOf,
    onNotice: (failure) => onError(errorOfFailure(failure)),
  });

  const send = (method: ThreadMethod, values: readonly unknown[]) => {
    const isText = JSON_METHODS.has(method);
    const call: Omit<Call, 'id'> = {
      method,
      at: now(),
      values: isText ? JSON.stringify(values) : values,
      isUnsynced: isUnsynced(method, values),
    };
    return thread.send(call, isText ? AS_TEXT : undefined);
  };

  const store = Object.fromEntries(
    [...Object.keys(HOT_METHODS), ...Object.keys(coldStore)].map((method) => [
      method,
      (...values: unknown[]) => send(method as ThreadMethod, values),
    ]),
  ) as unknown as Pick<Store, ThreadMethod>;
  const queries = createSqliteQueryStore(path);
  // Opening fails in the thread; the first call brings that here.
  await store.defaultAccount();
  return {
    ...store,
    ...queries,
    async close() {
      await queries.close();
      if (thread.isRunning) await store.close();
      await thread.close();
    },
  };
}

const AS_TEXT: CallOptions = { revive: (sent) => JSON.parse(sent as string) };

/** What opening the database threw crosses the thread boundary as a plain error with its code. */
function errorOf({ cause }: ThreadEnd): ScrapifieError {
  if (cause === undefined) return new ScrapifieError('STORE_UNAVAILABLE', 'The store is closed.');
  const { code, message } = cause as Error & { readonly code?: string };
  if (code === 'DATABASE_CORRUPT' || code === 'DATA_DIR_UNUSABLE' || code === 'DISK_FULL') {
    return new ScrapifieError(code, message, { cause });
  }
  return new ScrapifieError('STORE_UNAVAILABLE', message, { cause });
}
