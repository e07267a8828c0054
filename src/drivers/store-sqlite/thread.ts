import { statSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { DEFAULT_ACCOUNT, type HostId, type HostKey } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { releaseBytes } from '../../lib/own-memory.ts';
import { notify } from '../../lib/threads/answer-calls.ts';
import { failureOf, type ThreadAnswer, type ThreadFailure } from '../../lib/threads/thread.ts';
import { type ColdStore, coldMethods, coldStore } from '../store-sql/cold-store.ts';
import { isReading } from '../store-sql/methods.ts';
import { createSqliteAuditStore } from './audit.ts';
import { createSqliteCreditStore } from './credits.ts';
import { checkpointSqlite, openSqliteDatabase, type SqliteDatabase } from './database.ts';
import { createSqliteDeliveryQueue } from './delivery-queue.ts';
import { createDiskReserve } from './disk-reserve.ts';
import { createSqliteEventStore } from './event-log.ts';
import { createSqliteHostStore } from './hosts.ts';
import { createSqliteJobStore } from './jobs.ts';
import { createSqliteLedgerStore } from './ledger.ts';
import type { Call, HotMethod, ThreadMethod, ThreadPlace } from './messages.ts';
import { migrateSqlite } from './migrate.ts';
import { createSqliteSightingStore } from './sightings.ts';
import type { Synchronous } from './sql-methods.ts';
import { sqliteMethods } from './sql-methods.ts';
import { MOST_UNSYNCED_COMMITS } from './wal-check.ts';

/**
 * The thread that owns the connection. Calls that wait together are committed together: one sync to disk serves
 * them all, and each is still all or nothing, by a savepoint of its own. No answer leaves before the commit.
 */
const MOST_CALLS_PER_COMMIT = 512;
/** Left outside the shared transaction: they bring their own, or need none. */
const ALONE: ReadonlySet<string> = new Set<keyof Store>(['migrate', 'compact', 'close']);
/** Answered at once, from committed data: they need not wait for a sync. */
const READS: ReadonlySet<string> = new Set<string>([
  ...coldMethods(isReading),
  ...([
    'getJob',
    'offerHosts',
    'clock',
    'defaultAccount',
    'listAudit',
    'auditHead',
    'listEvents',
    'eventHead',
    'listSnapshotRecords',
    'findContents',
    'listCreditEntries',
    'listUsage',
  ] satisfies HotMethod[]),
]);
/** Calls that take work or rights away, and get the space that is reserved for them on a full disk. */
const RESERVED_FOR: ReadonlySet<string> = new Set<string>([
  ...coldMethods(({ isReserved }) => isReserved === true),
  ...(['cancelJob'] satisfies HotMethod[]),
]);
/** VACUUM writes the whole file anew: that is worth it when an eighth of it is free. */
const LEAST_FREE_SHARE = 8;

if (parentPort === null) throw new Error('The store thread has no parent.');
const port = parentPort;
const { path, traces, checkpointMs, reserveBytes } = workerData as ThreadPlace;
const database = openSqliteDatabase(path, traces, tell);
const openedFile = fileIdentity();
let isFileThere = true;
const reserve = createDiskReserve(path.replace(/(?:\.db)?$/, '.reserve'), reserveBytes);
/** When the call under way was made. */
let calledAt = 0;
/** Ids of host rows. The map outlives transactions, so every rollback empties it: see `runTogether`. */
const hostIds = new Map<HostKey, HostId>();
const store = createStore(database, () => calledAt);

function createStore(connection: SqliteDatabase, now: () => number): Synchronous<Pick<Store, ThreadMethod>> {
  return {
    ...createSqliteJobStore(connection, hostIds, now),
    ...sqliteMethods<ColdStore>(coldStore, connection, now),
    ...createSqliteHostStore(connection, connection.incarnation, now),
    ...createSqliteLedgerStore(connection, hostIds, connection.incarnation, now),
    ...createSqliteAuditStore(connection),
    defaultAccount: () => DEFAULT_ACCOUNT,
    ...createSqliteEventStore(connection, now),
    ...createSqliteSightingStore(connection, now),
    ...createSqliteDeliveryQueue(connection, now),
    ...createSqliteCreditStore(connection, now),
    migrate() {
      const change = migrateSqlite(connection);
      // A schema that is only in the log would be lost with it, and the file then looks like a new one.
      checkpointSqlite(connection);
      setImmediate(reserve.fill);
      return change;
    },
    clock() {
      requireFile();
      return now();
    },
    check() {
      connection.run('INSERT OR REPLACE INTO probe (id, at) VALUES (1, 0)');
      connection.get('SELECT at FROM probe WHERE id = 1');
    },
    compact() {
      const pages = (name: string) => Number(connection.get(`PRAGMA ${name}`)?.[name]);
      if (pages('freelist_count') < pages('page_count') / LEAST_FREE_SHARE) return;
      connection.exec('VACUUM');
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    close() {
      clearTimeout(checkpoint);
      reserve.giveUp();
      connection.close();
    },
  };
}

/** What is no answer to a call. */
function tell(error: ScrapifieError): void {
  notify<ThreadFailure>(failureOf(error));
}

function fileIdentity(): string | null {
  const stat = path === ':memory:' ? undefined : statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/** What is written to a file that was removed or replaced is lost with this process. */
function requireFile(): void {
  const wasThere = isFileThere;
  isFileThere = fileIdentity() === openedFile;
  if (isFileThere) return;
  const error = new ScrapifieError(
    'STORE_UNAVAILABLE',
    `The database file ${path} was removed or replaced while this process uses it. Put it back; or stop the process, restore a backup and start again.`,
  );
  if (wasThere) tell(error);
  throw error;
}

function run(call: Call): ThreadAnswer {
  try {
    const method = store[call.method] as (...values: unknown[]) => unknown;
    const { id, values } = call;
    calledAt = call.at;
    if (typeof values !== 'string') return { id, result: method(...values) };
    return { id, result: JSON.stringify(method(...(JSON.parse(values) as unknown[]))) };
  } catch (error) {
    return { id: call.id, failure: failureOf(error) };
  }
}

let isSynced = true;
let unsyncedCommits = 0;
let checkpoint: NodeJS.Timeout | undefined;

/** One checkpoint at most is due, and none while nothing is written. */
function checkpointLater(): void {
  checkpoint ??= setTimeout(() => {
    checkpoint = undefined;
    checkpointSqlite(database);
    reserve.fill();
  }, checkpointMs).unref();
}

function runTogether(calls: readonly Call[]): ThreadAnswer[] {
  try {
    const needsSync = unsyncedCommits >= MOST_UNSYNCED_COMMITS || calls.some(({ isUnsynced }) => !isUnsynced);
    requireFile();
    if (needsSync !== isSynced) database.exec(`PRAGMA synchronous = ${needsSync ? 'FULL' : 'NORMAL'}`);
    isSynced = needsSync;
    database.exec('BEGIN IMMEDIATE');
    const answers = calls.map((call) => {
      database.exec('SAVEPOINT call');
      const answer = run(call);
      if ('failure' in answer) {
        // A host row that this call made is gone with it, and its id may be given to another host.
        hostIds.clear();
        database.exec('ROLLBACK TO call; RELEASE call');
      } else database.exec('RELEASE call');
      return answer;
    });
    database.exec('COMMIT');
    unsyncedCommits = needsSync ? 0 : unsyncedCommits + 1;
    checkpointLater();
    return answers;
  } catch (error) {
    // The rollback undoes all calls of this transaction, also those that had succeeded.
    hostIds.clear();
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself already (a full disk does that).
    }
    return calls.map(({ id }) => ({ id, failure: failureOf(error) }));
  }
}

/** Tries calls that are to make room once more, with the space that is reserved for them. */
function runWithReserve(calls: readonly Call[]): ThreadAnswer[] {
  const answers = runTogether(calls);
  const refused = calls.filter(({ method }, at) => {
    const answer = answers[at];
    const isFull = answer !== undefined && 'failure' in answer && answer.failure.code === 'DISK_FULL';
    return isFull && RESERVED_FOR.has(method);
  });
  if (refused.length === 0 || !reserve.giveUp()) return answers;
  const again = new Map(runTogether(refused).map((answer) => [answer.id, answer]));
  return answers.map((answer) => again.get(answer.id) ?? answer);
}

/** Records arrived as copies, which are not needed once they are written. */
function releaseRecords({ method, values }: Call): void {
  if (method !== 'commit' || typeof values === 'string') return;
  const [completions] = values as Parameters<Store['commit']>;
  for (const { page } of completions) if (page !== null && page.record !== null) releaseBytes(page.record);
}

function drain(first: Call): void {
  let together: Call[] = [];
  const flush = () => {
    if (together.length > 0) for (const answer of runWithReserve(together)) port.postMessage(answer);
    together.forEach(releaseRecords);
    together = [];
  };
  for (
    let next: Call | undefined = first;
    next !== undefined;
    next = receiveMessageOnPort(port)?.message as Call
  ) {
    if (READS.has(next.method)) port.postMessage(run(next));
    else if (ALONE.has(next.method)) {
      flush();
      port.postMessage(run(next));
      if (next.method === 'close') {
        port.close();
        return;
      }
    } else {
      together.push(next);
      if (together.length >= MOST_CALLS_PER_COMMIT) flush();
    }
  }
  flush();
}

listen(port, 'message', drain);
