import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { HostKey, JobId, JobSeq, TaskId, UrlKey } from '../../../core/model/ids.ts';
import type { Job, JobOptions, PageOptions, Scope } from '../../../core/model/job.ts';
import type { JobKind } from '../../../core/model/job-kinds.ts';
import type { NewTask, Task } from '../../../core/model/task.ts';
import { createLogger, type Logger } from '../../../core/observe/logger.ts';
import type { HostLease } from '../../../core/ports/host-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { createSqliteStore } from '../../../drivers/store-sqlite/sqlite-store.ts';
import { createCanonicalizer } from '../../frontier/canonical.ts';
import { createRunningJobs, type RunningJob } from './running-job.ts';

export const T0 = Date.UTC(2026, 0, 1);
export const LEASE_MS = 60_000;

export interface JobChanges {
  readonly kind?: JobKind;
  readonly page?: Partial<PageOptions>;
  readonly scope?: Partial<Scope>;
  readonly options?: Partial<JobOptions>;
  readonly seeds?: readonly string[];
  readonly createdAt?: number;
}

export function optionsOf({ page = {}, scope = {}, options = {} }: JobChanges = {}): JobOptions {
  return {
    page: {
      engine: 'auto',
      formats: ['metadata', 'links'],
      headers: {},
      cookies: {},
      method: 'GET',
      body: null,
      timeoutMs: 10_000,
      maxAttempts: 3,
      maxBodyBytes: 1_000_000,
      obeyRobots: true,
      render: null,
      session: null,
      proxy: null,
      identity: null,
      extract: null,
      isInline: false,
      ...page,
    },
    scope: {
      maxDepth: null,
      allowedDomains: [],
      allowSubdomains: false,
      allowExternal: false,
      include: [],
      exclude: [],
      ignoreQueryParameters: [],
      keepFragment: false,
      sitemap: 'skip',
      obeyNofollow: true,
      obeyNoindex: false,
      followCanonical: true,
      ...scope,
    },
    budgets: { maxPages: null, maxBytes: null, maxDurationMs: null },
    concurrency: null,
    isOperated: false,
    hostRatePerSecond: null,
    ...options,
  };
}

/** A job as the store would return it. */
export function jobOf(changes: JobChanges = {}): Job {
  const { kind = 'crawl', seeds = ['http://site.test/'], createdAt = T0 } = changes;
  return {
    id: randomUUID() as string as JobId,
    accountId: 'owner' as Job['accountId'],
    kind,
    options: optionsOf(changes),
    seeds,
    createdAt,
    seq: 1 as JobSeq,
    status: 'running',
    stopReason: null,
    microcredits: 0,
    counters: {
      known: 1,
      open: 1,
      claimed: 1,
      pages: 0,
      done: 0,
      failed: 0,
      skipped: 0,
      denied: 0,
      cancelled: 0,
      bytes: 0,
      browserMs: 0,
      proxyBytes: 0,
    },
    startedAt: createdAt,
    finishedAt: null,
  };
}

export async function runningOf(changes: JobChanges = {}): Promise<RunningJob> {
  const job = jobOf(changes);
  const running = await createRunningJobs({ getJob: async () => job }).get(job.id);
  if (running === null) throw new Error('The job does not run.');
  return running;
}

export function taskOf(changes: Partial<Task> = {}): Task {
  const { url = 'http://site.test/page' } = changes;
  return {
    id: 7 as TaskId,
    jobSeq: 1 as JobSeq,
    jobId: 'job' as JobId,
    kind: 'page',
    url,
    atUrl: url,
    hops: 0,
    urlKey: keyOf(url),
    depth: 1,
    attempts: 0,
    interruptions: 0,
    loneInterruptions: 0,
    trace: [],
    ...changes,
  };
}

const canonical = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });

export function keyOf(url: string): UrlKey {
  const found = canonical(url);
  if (found === null) throw new Error(`${url} cannot be fetched.`);
  return found.urlKey;
}

export const hostOf = (url: string) => new URL(url).host as HostKey;

export function seedOf(url: string, changes: Partial<NewTask> = {}): NewTask {
  return {
    kind: 'page',
    url,
    urlKey: keyOf(url),
    hostKey: hostOf(url),
    depth: 0,
    foundBy: 'seed',
    foundOn: null,
    state: 'ready',
    rule: null,
    ...changes,
  };
}

export async function openStore(now: () => number = Date.now, path = ':memory:'): Promise<Store> {
  const store = await createSqliteStore({ path, now });
  await store.migrate();
  return store;
}

export async function addJob(
  store: Store,
  tasks: readonly (string | NewTask)[],
  changes: JobChanges = {},
): Promise<Job> {
  const all = tasks.map((task) => (typeof task === 'string' ? seedOf(task) : task));
  const { kind, options, id } = jobOf(changes);
  const seeds = changes.seeds ?? all.map(({ url }) => url);
  return store.createJob({ id, accountId: await store.defaultAccount(), kind, options, seeds }, all);
}

export async function own(store: Store, host: string): Promise<HostLease> {
  const lease = await store.acquireHost(host as HostKey, 'test', LEASE_MS);
  if (lease === null) throw new Error(`${host} could not be acquired.`);
  return lease;
}

/** A job's seed, claimed, with its job as it runs here; `others` are what the job knows besides. */
export async function claimSeed(
  store: Store,
  url: string,
  changes: JobChanges = {},
  others: readonly NewTask[] = [],
) {
  const job = await addJob(store, [seedOf(url), ...others], changes);
  const lease = await own(store, hostOf(url));
  const [task] = await store.claimTasks(lease, 1, []);
  const running = await createRunningJobs(store).get(job.id);
  if (task === undefined || running === null) throw new Error('Nothing could be claimed.');
  return { job, lease, task, running };
}

/** A logger whose lines of level warn and above are kept. */
export function listeningLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { logger: createLogger({ level: 'warn', destination }), lines };
}
