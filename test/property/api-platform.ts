import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { ensureFirstKey } from '../../src/capabilities/accounts/api-key.ts';
import { createExportWorker } from '../../src/capabilities/exports/export-worker.ts';
import { writeExport } from '../../src/capabilities/exports/write-export.ts';
import { createJobs, type Jobs, type JobsDeps } from '../../src/capabilities/jobs/jobs.ts';
import type { SqlQueries } from '../../src/capabilities/query/sql/sql-queries.ts';
import { openVault } from '../../src/capabilities/sessions/vault.ts';
import { createSnapshotReader } from '../../src/capabilities/snapshots/snapshot-reader.ts';
import { type Settings, settingsSchema } from '../../src/core/config/settings.ts';
import { ScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import type { ContentHash, HostKey } from '../../src/core/model/ids.ts';
import type { NewPage, PageRecord } from '../../src/core/model/page.ts';
import { packRecord } from '../../src/core/model/page-record.ts';
import type { HostPolicy } from '../../src/core/model/policy.ts';
import type { NewTask, Task } from '../../src/core/model/task.ts';
import { createLogRing } from '../../src/core/observe/log-sink.ts';
import { createLogger } from '../../src/core/observe/logger.ts';
import { createMetrics } from '../../src/core/observe/metrics.ts';
import type { Blobs } from '../../src/core/ports/blobs.ts';
import type { Bus } from '../../src/core/ports/bus.ts';
import type { HostState } from '../../src/core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../src/core/ports/ledger-store.ts';
import type { Consumer, Queue } from '../../src/core/ports/queue.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { createBlobsFs } from '../../src/drivers/blobs-fs/blobs-fs.ts';
import { createBusLocal } from '../../src/drivers/bus-local/bus-local.ts';
import { createFilesFs } from '../../src/drivers/files-fs/files-fs.ts';
import { createLimitsLocal } from '../../src/drivers/limits-local/limits-local.ts';
import { createQueueLocal } from '../../src/drivers/queue-local/queue-local.ts';
import { openSqliteSearch } from '../../src/drivers/search-sqlite/search-sqlite.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import { createApi } from '../../src/http/api.ts';
import { createReadiness } from '../../src/http/health/readiness.ts';
import { watchStore } from '../../src/http/health/store-watch.ts';
import type { ApiDeps } from '../../src/http/routes/route-deps.ts';
import { openCapabilities } from '../../src/wiring/open-capabilities.ts';
import { openExtractor } from '../../src/wiring/open-extractor.ts';
import type { Outage } from './outage.ts';

/** How a URL ends in a test, instead of being fetched. */
/** A platform without a lake. */
const NO_SQL: SqlQueries = {
  run: async () => {
    throw new ScrapifieError('QUERY_UNAVAILABLE', 'There is no lake here.');
  },
};

export interface Ending {
  readonly end: TaskEnd;
  readonly statusCode?: number | null;
  readonly body?: string;
  readonly discovered?: readonly NewTask[];
  readonly errorMessage?: string;
  /** What there is of the page, in place of the usual; what it refers to is kept besides. */
  readonly record?: PageRecord;
  readonly artifacts?: readonly Uint8Array[];
}

export interface Platform {
  readonly api: FastifyInstance;
  readonly jobs: Jobs;
  readonly store: Store;
  readonly bus: Bus;
  readonly queue: Queue;
  readonly blobs: Blobs;
  readonly secret: string;
  readonly lines: string[];
  /** What the worker does with each task from now on; without one nothing is worked on. */
  work(ending: (task: Task) => Ending | Promise<Ending>): Promise<void>;
  /** Has the reader of snapshots read what there is. */
  readSnapshots(): Promise<void>;
  /** A request with the first key. */
  call(options: InjectOptions & { readonly url: string }): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: string;
  /** The parsed answer, or what stands at a path in it such as `data.items.0.url`; undefined when nothing does. */
  at(path: string): unknown;
}

export const POLICY: HostPolicy = {
  ratePerSecond: 2,
  burst: 1,
  concurrency: 2,
  minDelayMs: 0,
  maxCrawlDelayMs: 30_000,
  slowDownMs: 60_000,
  allowedHours: null,
  robots: 'obey',
  engines: ['http'],
  actionPauseMs: null,
  proxyTier: null,
  maxProxyTier: null,
  deny: false,
  notes: null,
  consent: [],
  matched: ['default'],
};

const HOST_STATE: HostState = {
  lastRequestAt: null,
  tokens: 1,
  tokensAt: 0,
  rateFactor: 1,
  rateFactorUntil: 0,
  blockedUntil: 0,
  breaker: { phase: 'closed', window: [], openedAt: 0, isProbing: false },
  requests: 1,
  failures: 0,
};

const RECORD: PageRecord = {
  metadata: null,
  links: [{ url: 'https://example.com/next', text: 'next', rel: '', from: 'a' }],
  html: '<p>body</p>',
  text: 'body',
};
export const PACKED_RECORD = zstdCompressSync(JSON.stringify(RECORD));

export interface Overrides extends Partial<Pick<JobsDeps, 'consents' | 'now' | 'refusalOf'>> {
  /** The clock of the store; that of the machine when left out. */
  readonly storeNow?: () => number;
  /** Where the built dashboard is. */
  readonly dashboardDir?: string;
  /** Adds the routes of APIs of other shapes; left out: there are none. */
  readonly addOtherRoutes?: NonNullable<ApiDeps['addOtherRoutes']>;
  /** Whether the process was told to stop. */
  readonly isStopping?: () => boolean;
  /** What can be taken away from the API; the worker and the test itself keep it. */
  readonly outages?: Partial<Readonly<Record<'store' | 'queue' | 'blobs', Outage>>>;
}

/** Short, so that tests about a store that is away need not wait for it. */
const WATCH_TIMES = { patienceMs: 300, probeMs: 1_500, retryMs: 5 };

/** Every part is the real one, in a folder of its own; only the fetching is left out. */
export async function openPlatform(
  given: Partial<Settings> = {},
  overrides: Overrides = {},
): Promise<Platform> {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-api-'));
  const settings: Settings = {
    ...settingsSchema.parse({}),
    dataDir: folder,
    logLevel: 'info',
    vaultKey: 'd4'.repeat(32),
    // Properties send more wrong keys in a minute than an honest client does.
    failedLoginsPerMinute: 1_000_000,
    ...given,
  };
  const lines: string[] = [];
  const log = createLogRing();
  const logger = createLogger({
    level: settings.logLevel,
    destination: { write: (line) => void lines.push(line) },
    ring: log,
  });
  const store = await createSqliteStore({
    path: join(folder, 'scrapifie.db'),
    ...(overrides.storeNow === undefined ? {} : { now: overrides.storeNow }),
  });
  await store.migrate();
  const blobs = await createBlobsFs({ dir: join(folder, 'blobs') });
  const bus = createBusLocal({ onListenerError: (error) => logger.error({ err: error }, 'listener') });
  const queue = createQueueLocal({ onHandlerError: (error) => logger.error({ err: error }, 'handler') });
  const now = overrides.now ?? Date.now;
  const { outages = {} } = overrides;
  const front = {
    store:
      outages.store === undefined
        ? store
        : watchStore(outages.store.wrap(store), {
            onChange: (reason) => logger.warn({ reason: reason?.message }, 'the store comes or goes'),
            ...WATCH_TIMES,
          }),
    queue: outages.queue?.wrap(queue) ?? queue,
    blobs: outages.blobs?.wrap(blobs) ?? blobs,
  };
  const { secret } = await ensureFirstKey(store, settings, now());
  const limits = createLimitsLocal();
  const exportFiles = createFilesFs(join(folder, 'exports'));
  const metrics = createMetrics({ withProcess: false });
  const exporter = createExportWorker({
    bus,
    store,
    files: exportFiles,
    logger,
    metrics,
    make: (claimed, onProgress) =>
      writeExport(claimed, { store, blobs, files: exportFiles, target: null, onProgress }),
  });
  const search = { ...openSqliteSearch(':memory:'), textsOf: async () => [] };
  const reader = openExtractor(1);
  const capabilities = openCapabilities({
    ...{ settings, store: front.store, blobs: front.blobs, exportFiles, search, bus, reader, now },
    sql: NO_SQL,
    vault: openVault(settings),
    createJobs: (webhooks) =>
      createJobs({
        ...front,
        bus,
        now,
        random: Math.random,
        maxQueuedUrls: settings.maxQueuedUrls,
        addWebhook: webhooks.createForJob,
        consents: overrides.consents ?? (() => false),
        ...(overrides.refusalOf === undefined ? {} : { refusalOf: overrides.refusalOf }),
      }),
  });
  const { jobs } = capabilities;
  const api = await createApi({
    ...capabilities,
    blobs: front.blobs,
    exportFiles,
    store: front.store,
    bus,
    limits,
    settings,
    logger,
    metrics,
    readiness: createReadiness({
      parts: {
        store: { check: () => front.store.check(), isEssential: true },
        queue: { check: () => front.queue.check(), isEssential: false },
        blobs: { check: () => front.blobs.check(), isEssential: false },
      },
      limitMs: 500,
      freshMs: 0,
      now,
    }),
    policies: { policyFor: () => POLICY, denied: () => null },
    system: { log, queueDepth: () => queue.depth('scrape-http') },
    version: '0.0.0-test',
    now,
    ...(overrides.dashboardDir === undefined ? {} : { dashboardDir: overrides.dashboardDir }),
    ...(overrides.isStopping === undefined ? {} : { isStopping: overrides.isStopping }),
    ...(overrides.addOtherRoutes === undefined ? {} : { addOtherRoutes: overrides.addOtherRoutes }),
  });
  const key = settings.apiKey ?? secret ?? '';
  let consumer: Consumer | null = null;

  return {
    api,
    jobs,
    store,
    bus,
    queue,
    blobs,
    secret: key,
    lines,
    async work(ending) {
      exporter.start();
      consumer = await queue.consume('scrape-http', 8, (entry) =>
        workOn(entry.id as HostKey, store, bus, queue, blobs, ending),
      );
    },
    async readSnapshots() {
      const snapshots = createSnapshotReader({ store, blobs, logger });
      for (let batch = await store.readEvents('snapshots', 500); batch !== null && batch.looked > 0; ) {
        await snapshots.apply(batch.events, batch);
        batch = await store.readEvents('snapshots', 500);
      }
    },
    async call(options) {
      const answer = await api.inject({ ...options, headers: { 'x-api-key': key, ...options.headers } });
      return {
        statusCode: answer.statusCode,
        headers: answer.headers,
        payload: answer.payload,
        at: (path) => lookUp(answer.json(), path),
      };
    },
    async close() {
      await api.close();
      jobs.close();
      await capabilities.close();
      await consumer?.stop();
      await exporter.stop(1_000);
      await Promise.all([queue.close(), bus.close(), limits.close(), reader.close(), search.close()]);
      await blobs.close();
      await front.store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function lookUp(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path === '' ? [] : path.split('.')) {
    found = (found as Record<string, unknown> | null | undefined)?.[name];
  }
  return found;
}

/** The host runner's part of the work, through the real store: claim, end, commit, tell. */
async function workOn(
  host: HostKey,
  store: Store,
  bus: Bus,
  queue: Queue,
  blobs: Blobs,
  ending: (task: Task) => Ending | Promise<Ending>,
): Promise<void> {
  const lease = await store.acquireHost(host, 'test', 30_000);
  if (lease === null) return;
  for (;;) {
    const tasks = await store.claimTasks(lease, 100, []);
    if (tasks.length === 0) break;
    const completions: Completion[] = [];
    for (const task of tasks) completions.push(await complete(task, lease, await ending(task), blobs));
    const receipt = await store.commit(completions);
    bus.publish('job.changed', { jobs: receipt.changedJobs, finished: receipt.finishedJobs });
    await queue.offer(
      'scrape-http',
      receipt.readyHosts.map(({ key, rank }) => ({ id: key, rank })),
    );
  }
  await store.releaseHost(lease, HOST_STATE, 0);
  // As the sweep does: tasks that came after the last claim were not announced.
  const due = await store.offerHosts(100);
  await queue.offer(
    'scrape-http',
    due.map(({ key, rank }) => ({ id: key, rank })),
  );
}

async function complete(
  task: Task,
  lease: Completion['lease'],
  { end, statusCode, body, discovered, errorMessage, record, artifacts = [] }: Ending,
  blobs: Blobs,
): Promise<Completion> {
  const bytes = Buffer.from(body ?? '');
  const contentHash = hashOf(bytes);
  if (body !== undefined) await blobs.put([{ hash: contentHash, bytes }]);
  await blobs.put(artifacts.map((each) => ({ hash: hashOf(each), bytes: each })));
  const page: NewPage | null =
    statusCode === undefined
      ? null
      : {
          url: task.url,
          finalUrl: task.url,
          statusCode,
          contentType: 'text/html',
          charset: 'utf-8',
          fetchedAt: Date.now(),
          depth: task.depth,
          contentHash: body === undefined ? null : contentHash,
          textHash: null,
          bytes: bytes.byteLength,
          title: 'A page',
          etag: null,
          lastModified: null,
          duplicateOf: null,
          errorCode: end.state === 'failed' ? end.errorCode : null,
          errorMessage: errorMessage ?? null,
          record: record === undefined ? PACKED_RECORD : packRecord(record),
        };
  return {
    lease,
    taskId: task.id,
    jobSeq: task.jobSeq,
    end,
    trace: [
      {
        engine: 'http',
        proxyTier: null,
        reason: 'plan.cheapest',
        outcome: end.state === 'done' ? 'ok' : 'error',
        statusCode: statusCode ?? null,
        ms: 3,
        bytes: bytes.byteLength,
        at: new Date().toISOString(),
      },
    ],
    bytes: bytes.byteLength,
    page,
    discovered: discovered ?? [],
  };
}

export const hashOf = (bytes: Uint8Array): ContentHash =>
  createHash('sha256').update(bytes).digest('hex') as ContentHash;

export const DONE: Ending = { end: { state: 'done', rule: null }, statusCode: 200, body: '<p>body</p>' };
