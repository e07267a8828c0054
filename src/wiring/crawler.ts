import { pricesOf } from '../capabilities/jobs/accept/job-cost.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import type { Settings } from '../core/config/settings.ts';
import type { JobId } from '../core/model/ids.ts';
import type { Job } from '../core/model/job.ts';
import { traitsOfKind } from '../core/model/job-kinds.ts';
import type { Page } from '../core/model/page.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Metrics } from '../core/observe/metrics.ts';
import type { Bus } from '../core/ports/bus.ts';
import type { Completion } from '../core/ports/ledger-store.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { Store } from '../core/ports/store.ts';
import { inTraceOf, traceJobEnd } from '../core/tracing/tracing.ts';
import { createKnownUrls } from '../crawl/frontier/known-urls.ts';
import type { ExchangeObserver } from '../crawl/host/attempt/exchange-observer.ts';
import { createHostWorker } from '../crawl/host/owner/host-worker.ts';
import { createQuarantine } from '../crawl/host/process/quarantine.ts';
import { createRunningJobs } from '../crawl/host/process/running-job.ts';
import { createSlots } from '../crawl/host/process/slots.ts';
import { createLedger } from '../crawl/ledger/ledger.ts';
import type { Policies } from '../crawl/policy/policies.ts';
import { createReaderPool } from '../crawl/read/reader-pool.ts';
import type { HoldReason } from '../crawl/read/thread-messages.ts';
import { createRobotsCache } from '../crawl/robots/robots-cache.ts';
import { withBudget } from '../fetch/byte-budget.ts';
import type { Engine } from '../fetch/engine.ts';
import { releaseBytes } from '../lib/own-memory.ts';
import type { SteadyClock } from '../lib/steady-clock.ts';
import { PAGE_THREAD, threadsFor } from './open-extractor.ts';
import type { OpenFetchResources } from './open-fetch-resources.ts';
import { readerWithLlm } from './open-llm.ts';
import type { PageThreadData } from './page-thread.ts';

/** The part of the platform that owns hosts and fetches their pages. */
export interface Crawler {
  readonly activeSlices: () => number;
  readonly inFlight: () => number;
  /** Takes in a job that was accepted here, which saves looking it up. */
  remember(job: Job): void;
  watchPages(listener: (pages: readonly Page[]) => void): void;
  /** At most one observer; to be set before the start. */
  observeExchanges(observer: ExchangeObserver): void;
  start(): Promise<void>;
  /** Finishes the tasks under way, up to the deadline, and gives the rest back. */
  stop(deadlineMs: number): Promise<void>;
}

export interface CrawlerParts {
  /** Told when pages begin to be held because their bodies cannot be stored, and with null when none is any more. */
  readonly onHold: (reason: HoldReason | null) => void;
  readonly settings: Settings;
  readonly store: Store;
  /** Opens the secrets of jobs. */
  readonly vault: Vault | null;
  readonly queue: Queue;
  readonly bus: Bus;
  readonly policies: () => Policies;
  /** Names this process among the owners of hosts. */
  readonly owner: string;
  /** Others work on the same store: their scheduler sweeps, and bigger batches spare it. */
  readonly isShared: boolean;
  /** Closed with the crawler. */
  readonly resources: OpenFetchResources;
  readonly now: () => number;
  /** Leases are counted by it. */
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const LOOK_MS = 1_000;
/** A store across a network is spared by writing more at once, at the price of a moment. */
const SHARED_LEDGER = { batchDelayMs: 60 };
const SHARED_SWEEP_MS = 5_000;

export function createCrawler(parts: CrawlerParts): Crawler {
  const { settings, store, queue, bus, policies, now, logger, metrics, isShared } = parts;
  const { resources } = parts;
  const { dataDir, databaseUrl, s3Url, spillBytes } = settings;
  const threads = createReaderPool({
    threads: threadsFor(settings.extractThreads),
    entry: PAGE_THREAD,
    data: {
      blobs: { dataDir, databaseUrl, s3Url, spillBytes },
      plugins: settings.plugins,
    } satisfies PageThreadData,
    onHold(reason) {
      parts.onHold(reason);
      metrics.partChanged('blobs', reason === null);
      if (reason === null) logger.info('page bodies can be stored again: fetching goes on');
      else logger.error(reason, 'page bodies cannot be stored: fetching is suspended');
    },
    onReplace(replaced) {
      metrics.pageThreadReplaced(replaced.reason);
      logger.warn(replaced, 'page thread replaced: its pages are read by another one');
    },
  });
  const reader = readerWithLlm(threads, settings);
  const running = createRunningJobs(store, parts.vault);
  const pageListeners: ((pages: readonly Page[]) => void)[] = [];
  let observer: ExchangeObserver | null = null;
  const slots = createSlots(settings.maxConcurrency, resources.budget);
  const ledger = createLedger({
    store,
    now,
    known: createKnownUrls(),
    prices: pricesOf(settings),
    logger,
    metrics,
    ...(isShared ? SHARED_LEDGER : {}),
    onCommit(receipt, kept) {
      if (pageListeners.length > 0) {
        const originals = new Map(receipt.duplicates.map(({ taskId, url }) => [taskId, url]));
        const pages = kept.flatMap(({ taskId, jobSeq, page }) =>
          page === null
            ? []
            : [{ ...page, taskId, jobSeq, duplicateOf: originals.get(taskId) ?? page.duplicateOf }],
        );
        for (const listener of pageListeners) listener(pages);
      } else {
        for (const { page } of kept) if (page !== null && page.record !== null) releaseBytes(page.record);
      }
      for (const id of receipt.finishedJobs) reportEnd(id, kept);
      running.forget(receipt.finishedJobs);
      const hosts = receipt.readyHosts;
      if (hosts.length > 0) bus.publish('host.ready', { hosts: hosts.map(({ key }) => key) });
      const idle = hosts.filter(({ key }) => !worker.owns(key)).map(({ key, rank }) => ({ id: key, rank }));
      // Hosts that the queue does not take are found by the sweep.
      if (idle.length > 0) queue.offer('scrape-http', idle).catch(() => undefined);
      // A job whose budget is spent finishes what has begun; its claimed tasks that have not begun go back.
      const cancelled = receipt.stoppedJobs;
      bus.publish('job.changed', {
        jobs: receipt.changedJobs,
        finished: receipt.finishedJobs,
        ...(cancelled.length === 0 ? {} : { cancelled }),
      });
    },
  });
  /**
   * Logs and counts the end of a job, and traces it where the job is traced. The end of a scrape is that of its one URL; the
   * store knows how other jobs have ended.
   */
  function reportEnd(id: JobId, kept: readonly Completion[]): void {
    const { job, spans = null } = running.peek(id) ?? {};
    const isOne = job !== undefined && traitsOfKind(job.kind).isSinglePage;
    const only = isOne ? kept.find(({ jobSeq }) => jobSeq === job.seq) : undefined;
    if (job !== undefined && only !== undefined && spans === null) {
      const status = only.end.state === 'failed' || only.end.state === 'denied' ? 'failed' : 'completed';
      metrics.jobEnded({ ...job, status, finishedAt: now() });
      logger.info({ jobId: id, kind: job.kind, status }, 'job ended');
      return;
    }
    store
      .getJob(id)
      .then((ended) => {
        if (ended === null) return;
        const { kind, status, counters, options } = ended;
        const { pages, failed } = counters;
        metrics.jobEnded(ended);
        inTraceOf(options.traceParent, () =>
          logger.info({ jobId: id, kind, status, pages, failed }, 'job ended'),
        );
        if (spans !== null) traceJobEnd(ended);
      })
      .catch((error: unknown) =>
        inTraceOf(job?.options.traceParent, () => logger.info({ jobId: id, err: error }, 'job ended')),
      );
  }
  let waitingSlices = 0;
  const look = setInterval(() => {
    queue.depth('scrape-http').then(
      ({ waiting }) => {
        waitingSlices = waiting;
      },
      () => undefined,
    );
  }, LOOK_MS);
  look.unref();
  const worker = createHostWorker({
    store,
    queue,
    bus,
    ledger,
    resources,
    reader,
    robots: createRobotsCache({
      store,
      engine: withBudget(
        observedRobots(resources.web, () => observer, now),
        resources.budget,
      ),
      now,
    }),
    observer: () => observer,
    jobs: running,
    slots,
    quarantine: createQuarantine(now),
    policies,
    isContended: () => waitingSlices > 0,
    now,
    clock: parts.clock,
    random: Math.random,
    taskTimeoutMs: settings.taskTimeoutMs,
    logger,
    metrics,
    owner: parts.owner,
    maxHosts: settings.maxHosts,
    leaseMs: settings.hostLeaseMs,
    ...(isShared ? { sweepMs: SHARED_SWEEP_MS } : {}),
  });

  return {
    activeSlices: () => worker.activeSlices,
    inFlight: () => slots.taken,
    remember: running.remember,
    watchPages: (listener) => void pageListeners.push(listener),
    observeExchanges(one) {
      observer = one;
    },
    async start() {
      await reader.ready;
      await worker.start();
    },
    async stop(deadlineMs) {
      clearInterval(look);
      // Pages whose bodies cannot be stored would outlast any deadline: their tasks are given back at once.
      if (reader.isHolding) await reader.close();
      // A store that takes nothing more must not keep the process: what it did not take is claimed and done again.
      const { promise: givenUp, resolve } = Promise.withResolvers<void>();
      const giveUp = setTimeout(() => {
        ledger.close();
        resolve();
      }, deadlineMs);
      await worker.stop(deadlineMs);
      await Promise.race([ledger.flush(), givenUp]);
      clearTimeout(giveUp);
      ledger.close();
      await Promise.all([resources.close(), reader.close()]);
    },
  };
}

/** The engine that asks for robots.txt; the observer gets each file. */
function observedRobots(web: Engine, observerOf: () => ExchangeObserver | null, now: () => number): Engine {
  return {
    name: web.name,
    async fetch(request) {
      const response = await web.fetch(request);
      await observerOf()?.exchanged({ kind: 'robots', response, fetchedAt: now() });
      return response;
    },
    close: () => web.close(),
  };
}
