import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Attempt } from '../../../src/core/model/attempt.ts';
import type { AccountId, ContentHash, HostKey, JobId, KeyId, UrlKey } from '../../../src/core/model/ids.ts';
import type { Budgets, Job, JobCounters, JobOptions } from '../../../src/core/model/job.ts';
import type { JobKind } from '../../../src/core/model/job-kinds.ts';
import type { NewPage } from '../../../src/core/model/page.ts';
import type { LedgerEntry, NewTask, Task, TaskState } from '../../../src/core/model/task.ts';
import type { HostLease, HostState, LeaseRef } from '../../../src/core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../../src/core/ports/ledger-store.ts';
import type { TimedStore, TimelessStore } from './timed-store.ts';

export const T0 = Date.UTC(2026, 0, 1);
export const LEASE_MS = 60_000;
export const NO_LIMITS: Budgets = { maxPages: null, maxBytes: null, maxDurationMs: null };

export const OPTIONS: JobOptions = {
  page: {
    engine: 'auto',
    formats: ['metadata', 'links'],
    headers: { 'accept-language': 'de' },
    cookies: {},
    method: 'GET',
    body: null,
    timeoutMs: 30_000,
    maxAttempts: 3,
    maxBodyBytes: 10_485_760,
    obeyRobots: true,
    render: null,
    session: null,
    proxy: null,
    identity: null,
    extract: null,
    isInline: false,
  },
  scope: {
    maxDepth: 5,
    allowedDomains: [],
    allowSubdomains: false,
    allowExternal: false,
    include: [],
    exclude: ['/admin/'],
    ignoreQueryParameters: ['ref'],
    keepFragment: false,
    sitemap: 'include',
    obeyNofollow: true,
    obeyNoindex: true,
    followCanonical: true,
  },
  budgets: NO_LIMITS,
  concurrency: null,
  isOperated: false,
  hostRatePerSecond: null,
};

export const HOST_STATE: HostState = {
  lastRequestAt: T0 + 1,
  tokens: 0.25,
  tokensAt: T0 + 2,
  rateFactor: 0.5,
  rateFactorUntil: T0 + 3,
  blockedUntil: T0 + 4,
  breaker: { phase: 'half-open', window: [true, false, true], openedAt: T0 + 5, isProbing: true },
  requests: 12,
  failures: 3,
};

export const ATTEMPT: Attempt = {
  engine: 'http',
  proxyTier: null,
  reason: 'plan.cheapest',
  outcome: 'error',
  evidence: 'closed after the head',
  errorCode: 'CONNECTION_RESET',
  statusCode: null,
  ms: 12,
  bytes: 0,
  at: '2026-01-01T00:00:00.000Z',
};

export const hostOf = (url: string) => new URL(url).host as HostKey;
export const urlKeyOf = (url: string) =>
  createHash('sha256').update(url).digest('base64url').slice(0, 22) as UrlKey;

/** Returns URLs on a host: `https://host/0`, `https://host/1` and so on. */
export const urlsOn = (host: string, count: number) =>
  Array.from({ length: count }, (_, index) => `https://${host}/${index}`);

export function newTask(url: string, changes: Partial<NewTask> = {}): NewTask {
  return {
    kind: 'page',
    url,
    urlKey: urlKeyOf(url),
    hostKey: hostOf(url),
    depth: 0,
    foundBy: 'seed',
    foundOn: null,
    state: 'ready',
    rule: null,
    ...changes,
  };
}

export const foundOn = (task: Task, url: string, changes: Partial<NewTask> = {}) =>
  newTask(url, { depth: task.depth + 1, foundBy: 'link', foundOn: task.id, ...changes });

export interface JobSetup {
  readonly accountId?: AccountId;
  readonly kind?: JobKind;
  readonly budgets?: Partial<Budgets>;
  readonly at?: number;
  readonly sources?: Readonly<Record<string, string>>;
  /** Microcredits that are reserved for each claimed task. */
  readonly reserve?: number;
  readonly keyId?: string;
}

export async function createJob(
  store: TimedStore,
  tasks: readonly (string | NewTask)[],
  { kind = 'crawl', budgets = {}, at = T0, accountId, sources, reserve, keyId }: JobSetup = {},
): Promise<Job> {
  const all = tasks.map((task) => (typeof task === 'string' ? newTask(task) : task));
  return store.createJob(
    {
      id: randomUUID() as string as JobId,
      accountId: accountId ?? (await store.defaultAccount()),
      kind,
      options: { ...OPTIONS, budgets: { ...NO_LIMITS, ...budgets } },
      seeds: all.slice(0, 10).map((task) => task.url),
      createdAt: at,
      ...(sources === undefined ? {} : { sources }),
      ...(reserve === undefined ? {} : { reserveMicrocredits: reserve }),
      ...(keyId === undefined ? {} : { keyId: keyId as KeyId }),
    },
    all,
  );
}

/** Owns the host, or fails the test. */
export async function own(store: TimedStore, host: string, now = T0, owner = 'one'): Promise<HostLease> {
  const lease = await store.acquireHost(host as HostKey, owner, now, LEASE_MS);
  if (lease === null) throw new Error(`${host} could not be acquired.`);
  return lease;
}

export const claim = (store: TimedStore, lease: LeaseRef, limit = 1_000, now = T0) =>
  store.claimTasks(lease, limit, now, []);

/** Owns the host and claims what is due there. */
export async function take(store: TimedStore, host: string, limit = 1_000, now = T0) {
  const lease = await own(store, host, now);
  return { lease, tasks: await claim(store, lease, limit, now) };
}

/** The element that must be there. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`There is no element ${index} of ${items.length}.`);
  return item;
}

export function newPage(task: Task, changes: Partial<NewPage> = {}): NewPage {
  return {
    url: task.url,
    finalUrl: task.atUrl,
    statusCode: 200,
    contentType: 'text/html',
    charset: 'utf-8',
    fetchedAt: T0 + 1_000,
    depth: task.depth,
    contentHash: createHash('sha256').update(task.url).digest('hex') as ContentHash,
    textHash: 'a0b1',
    bytes: 100,
    title: `Page ${task.url}`,
    etag: '"tag"',
    lastModified: null,
    duplicateOf: null,
    errorCode: null,
    errorMessage: null,
    record: new Uint8Array([0x28, 0xb5, 0, 255]),
    ...changes,
  };
}

export function completion(
  lease: LeaseRef,
  task: Task,
  end: TaskEnd,
  changes: Partial<Completion> = {},
): Completion {
  const hasPage = end.state === 'done';
  return {
    lease: { hostId: lease.hostId, epoch: lease.epoch, incarnation: lease.incarnation },
    taskId: task.id,
    jobSeq: task.jobSeq,
    end,
    trace: task.trace,
    bytes: hasPage ? 100 : 0,
    page: hasPage ? newPage(task) : null,
    discovered: [],
    ...changes,
  };
}

export const DONE: TaskEnd = { state: 'done', rule: null };
export const FAILED: TaskEnd = { state: 'failed', rule: 'attempt.error', errorCode: 'CONNECT_FAILED' };

export const done = (lease: LeaseRef, task: Task, discovered: readonly NewTask[] = []) =>
  completion(lease, task, DONE, { discovered });

export async function job(store: TimelessStore, id: JobId): Promise<Job> {
  const found = await store.getJob(id);
  if (found === null) throw new Error(`There is no job ${id}.`);
  return found;
}

/** Every item of a paged list, in its order. */
export async function all<T>(
  page: (cursor: string | undefined) => Promise<{ items: readonly T[]; nextCursor: string | null }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const slice = await page(cursor);
    items.push(...slice.items);
    cursor = slice.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}

export const ledger = (store: TimelessStore, jobId: JobId, state?: TaskState): Promise<LedgerEntry[]> =>
  all((cursor) => store.listTasks({ jobId, state, cursor, limit: 500 }));

export const pages = (store: TimelessStore, jobId: JobId, state?: 'done' | 'failed') =>
  all((cursor) => store.listPages({ jobId, state, cursor, limit: 500 }));

export async function states(store: TimelessStore, jobId: JobId): Promise<Record<string, TaskState>> {
  return Object.fromEntries((await ledger(store, jobId)).map((entry) => [entry.url, entry.state]));
}

export async function entryOf(store: TimelessStore, jobId: JobId, url: string): Promise<LedgerEntry> {
  const entry = (await ledger(store, jobId)).find((each) => each.url === url);
  if (entry === undefined) throw new Error(`The job does not know ${url}.`);
  return entry;
}

const OPEN: ReadonlySet<TaskState> = new Set(['ready', 'waiting', 'claimed']);

/** The counters a ledger amounts to; its bytes are not in it. */
export function recount(
  entries: readonly Pick<LedgerEntry, 'state' | 'kind'>[],
): Omit<JobCounters, 'bytes' | 'browserMs' | 'proxyBytes'> {
  const count = (is: (entry: Pick<LedgerEntry, 'state' | 'kind'>) => boolean) => entries.filter(is).length;
  const inState = (state: TaskState) => count((entry) => entry.state === state);
  return {
    known: entries.length,
    open: count((entry) => OPEN.has(entry.state)),
    claimed: inState('claimed'),
    pages: count((entry) => entry.state === 'done' && entry.kind === 'page'),
    done: inState('done'),
    failed: inState('failed'),
    skipped: count((entry) => entry.state === 'skipped' && entry.kind === 'page'),
    denied: inState('denied'),
    cancelled: inState('cancelled'),
  };
}

/** Counters equal a recount, ended tasks have an end and open ones have none. */
export async function expectExact(store: TimelessStore, jobId: JobId): Promise<Job> {
  const [found, entries] = [await job(store, jobId), await ledger(store, jobId)];
  const { bytes: _bytes, browserMs: _browserMs, proxyBytes: _proxyBytes, ...counters } = found.counters;
  expect(counters).toEqual(recount(entries));
  const endless = entries.filter((entry) => OPEN.has(entry.state) !== (entry.finishedAt === null));
  expect(endless.map(({ url, state, finishedAt }) => ({ url, state, finishedAt }))).toEqual([]);
  return found;
}

/** Fetches everything there is to fetch, well, with what `discover` says each page links to. */
export async function drain(
  store: TimedStore,
  now = T0,
  discover: (task: Task) => readonly NewTask[] = () => [],
): Promise<string[]> {
  const fetched: string[] = [];
  for (;;) {
    const offers = await store.offerHosts(now, 100);
    let taken = 0;
    for (const offer of offers) {
      const lease = await store.acquireHost(offer.key, 'drain', now, LEASE_MS);
      if (lease === null) continue;
      const tasks = await store.claimTasks(lease, 50, now, []);
      taken += tasks.length;
      fetched.push(...tasks.map((task) => task.url));
      await store.commit(
        tasks.map((task) => done(lease, task, discover(task))),
        now,
      );
      await store.releaseHost(lease, lease.state, now, now);
    }
    if (taken === 0) return fetched;
  }
}
