import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from './config/make-folder.ts';
import type { Settings } from './config/settings.ts';
import { createBlobsFs } from './drivers/blobs-fs/blobs-fs.ts';
import { createBusLocal } from './drivers/bus-local/bus-local.ts';
import { createQueueLocal } from './drivers/queue-local/queue-local.ts';
import { lockFolder } from './drivers/store-sqlite/folder-lock.ts';
import { createSqliteStore } from './drivers/store-sqlite/sqlite-store.ts';
import { createHttpEngine } from './fetch/http/http-engine.ts';
import { withOwnPages } from './fetch/own-pages.ts';
import { userAgentFor } from './fetch/user-agent.ts';
import { createKnownUrls } from './frontier/known-urls.ts';
import { createHostWorker } from './hosts/host-worker.ts';
import type { Policies } from './hosts/policies.ts';
import { loadPolicyFile } from './hosts/policy-file.ts';
import { watchPolicyFile } from './hosts/policy-watch.ts';
import { createRobotsCache } from './hosts/robots-cache.ts';
import { createRunningJobs } from './hosts/running-job.ts';
import { createSlots } from './hosts/slots.ts';
import { createJobs, type Jobs } from './jobs/jobs.ts';
import { createLedger } from './ledger/ledger.ts';
import type { Logger } from './observe/logger.ts';
import type { Metrics } from './observe/metrics.ts';
import type { PageThreadData } from './page-thread.ts';
import { createReaderPool } from './pages/reader-pool.ts';
import type { Blobs } from './ports/blobs.ts';
import type { Bus } from './ports/bus.ts';
import type { Queue } from './ports/queue.ts';
import type { Store } from './ports/store.ts';
import { VERSION } from './version.ts';

/** The four ports of a data folder, without anything that works on them. */
export interface Storage {
  readonly store: Store;
  readonly blobs: Blobs;
  close(): Promise<void>;
}

/** A whole Scrapifie in one process. */
export interface Platform extends Storage {
  readonly settings: Settings;
  readonly queue: Queue;
  readonly bus: Bus;
  readonly jobs: Jobs;
  readonly policies: () => Policies;
  /** Begins to work on jobs, those left over from earlier included. */
  start(): Promise<void>;
  /** Finishes what is under way, up to `drainMs`, gives the rest back and closes everything. */
  close(): Promise<void>;
}

export interface PlatformOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** URLs of this very server that may be fetched although its address is refused. */
  readonly ownPages?: () => readonly string[];
}

export const SHIPPED_POLICY = fileURLToPath(new URL('../policies/default.yaml', import.meta.url));

/** Opens a data folder for reading and for small changes beside a running server. */
export async function openStorage(dataDir: string): Promise<Storage> {
  makeFolder(dataDir);
  const store = await createSqliteStore({ path: join(dataDir, 'scrapifie.db') });
  try {
    await store.migrate();
    const blobs = await createBlobsFs({ dir: blobsDirOf(dataDir) });
    return { store, blobs, close: async () => void (await Promise.all([store.close(), blobs.close()])) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export async function openPlatform({
  settings,
  logger,
  metrics,
  ownPages = () => [],
}: PlatformOptions): Promise<Platform> {
  let policies = loadPolicyFile(settings.policyFile ?? SHIPPED_POLICY);
  makeFolder(settings.dataDir);
  const unlock = lockFolder(settings.dataDir);
  const storage = await openStorage(settings.dataDir).catch((error: unknown) => {
    unlock();
    throw error;
  });
  const { store, blobs } = storage;
  const now = Date.now;
  const random = Math.random;
  const onError = (error: unknown) => logger.error({ err: error }, 'a listener or worker failed');
  const queue = createQueueLocal({ onHandlerError: onError });
  const bus = createBusLocal({ onListenerError: onError });

  // This process alone has the folder: whoever owned hosts before is dead.
  await store.releaseAllHosts(now());
  const applyOptOuts = async () => {
    policies = policies.withOptOuts(await store.listOptOuts());
  };
  await applyOptOuts();
  bus.subscribe('policy.changed', () => void applyOptOuts().catch(onError));
  const watch =
    settings.policyFile === undefined
      ? null
      : watchPolicyFile(
          settings.policyFile,
          (changed) => {
            policies = changed;
            void applyOptOuts().catch(onError);
            logger.info('the policy file changed and is in force');
          },
          (error) => logger.error({ code: error.code, details: error.details }, error.message),
        );

  const userAgent = userAgentFor(VERSION, settings.contact ?? null);
  const engine = withOwnPages(createHttpEngine({ userAgent, allowPrivate: settings.allowPrivate }), {
    urls: ownPages,
    open: () => createHttpEngine({ userAgent, allowPrivate: true }),
  });
  const reader = createReaderPool({
    threads: settings.extractThreads || Math.min(4, Math.max(1, availableParallelism() - 1)),
    entry: new URL(
      import.meta.url.endsWith('.ts') ? './page-thread.ts' : './page-thread.js',
      import.meta.url,
    ),
    data: { blobsDir: blobsDirOf(settings.dataDir) } satisfies PageThreadData,
  });
  const running = createRunningJobs(store);
  const slots = createSlots(settings.maxConcurrency);
  const ledger = createLedger({
    store,
    known: createKnownUrls(),
    now,
    logger,
    metrics,
    onCommit(receipt) {
      running.forget(receipt.finishedJobs);
      const hosts = receipt.readyHosts;
      if (hosts.length > 0) bus.publish('host.ready', { hosts: hosts.map(({ key }) => key) });
      for (const { key, rank } of hosts) {
        if (!worker.owns(key)) queue.offer('scrape-http', { id: key, rank }).catch(onError);
      }
      bus.publish('job.changed', { jobs: receipt.changedJobs, finished: receipt.finishedJobs });
    },
  });
  let waitingSlices = 0;
  const worker = createHostWorker({
    store,
    queue,
    bus,
    ledger,
    engine,
    reader,
    robots: createRobotsCache({ store, engine, now }),
    jobs: running,
    slots,
    policies: () => policies,
    isContended: () => waitingSlices > 0,
    now,
    random,
    logger,
    metrics,
    owner: `${process.pid}`,
    maxHosts: settings.maxHosts,
  });
  const look = setInterval(() => {
    queue.depth('scrape-http').then(({ waiting }) => {
      waitingSlices = waiting;
    }, onError);
  }, 1_000);
  look.unref();
  metrics.observe({
    openTasks: () => store.countOpenTasks(),
    queueDepth: async () => (await queue.depth('scrape-http')).waiting,
    activeSlices: () => worker.activeSlices,
    inFlightFetches: () => slots.taken,
  });
  const jobs = createJobs({
    store,
    blobs,
    bus,
    queue,
    now,
    random,
    maxQueuedUrls: settings.maxQueuedUrls,
    onAccepted: running.remember,
    consents: (host, what) => policies.policyFor(host).consent.includes(what),
  });

  return {
    settings,
    store,
    blobs,
    queue,
    bus,
    jobs,
    policies: () => policies,
    async start() {
      await reader.ready;
      await worker.start();
    },
    async close() {
      clearInterval(look);
      watch?.close();
      jobs.close();
      // A store that takes nothing more must not keep the process: what it did not take is claimed and done again.
      const giveUp = setTimeout(() => ledger.close(), settings.drainMs);
      await worker.stop(settings.drainMs);
      await ledger.flush();
      clearTimeout(giveUp);
      ledger.close();
      await Promise.all([engine.close(), reader.close(), queue.close(), bus.close()]);
      await storage.close();
      unlock();
    },
  };
}

const blobsDirOf = (dataDir: string) => join(dataDir, 'blobs');
