import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { watchStore } from '../api/store-watch.ts';
import { makeFolder } from '../config/make-folder.ts';
import type { Settings } from '../config/settings.ts';
import { lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import type { Policies } from '../hosts/policies.ts';
import { loadPolicyFile } from '../hosts/policy-file.ts';
import { createEngineRefusal } from '../jobs/engine-refusal.ts';
import { createExtraction, type Extraction } from '../jobs/extraction.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import { createScheduler } from '../jobs/scheduler.ts';
import type { Page } from '../model/page.ts';
import { createSteadyClock } from '../model/steady-clock.ts';
import type { Logger } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { PoolFigures } from '../plan/proxies/pool-figures.ts';
import type { Bus } from '../ports/bus.ts';
import type { Limits } from '../ports/limits.ts';
import type { Queue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { createCrawler } from './crawler.ts';
import { DUTIES, type Duties, refuseWrongMix } from './mix.ts';
import { openAccounts } from './open-accounts.ts';
import { type OpenBlobs, openBlobs } from './open-blobs.ts';
import { openExtractor } from './open-extractor.ts';
import { openLinks } from './open-links.ts';
import { llmRefusal, readerWithLlm } from './open-llm.ts';
import { openMeans } from './open-means.ts';
import { openStore } from './open-store.ts';
import { openPolicies } from './policy-source.ts';
import { createRenderer } from './renderer.ts';
import { openStoreClock } from './store-clock.ts';

/** One process of Scrapifie: the whole of it, or the part that its role names. */
export interface Platform {
  readonly settings: Settings;
  readonly duties: Duties;
  readonly store: Store;
  readonly blobs: OpenBlobs;
  readonly queue: Queue;
  readonly bus: Bus;
  readonly limits: Limits;
  readonly jobs: Jobs;
  readonly extraction: Extraction;
  /** What the proxies of this process have done; null where it has none. */
  readonly proxyFigures: () => PoolFigures | null;
  readonly policies: () => Policies;
  /** The time that everybody who shares the store goes by. */
  readonly now: () => number;
  /** What the crawl of this process has under way. */
  load(): { readonly activeSlices: number; readonly inFlightFetches: number };
  /** Hears of every page that this process has stored, once it is. */
  watchPages(listener: (pages: readonly Page[]) => void): void;
  /**
   * Finds out whether pages can be shown, before the first one needs it: until then every request for one is taken.
   * Asking a browser for its version costs as much as a hundred pages, so this is for those who stay.
   */
  lookForBrowsers(): void;
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

export const SHIPPED_POLICY = fileURLToPath(new URL('../../policies/default.yaml', import.meta.url));

/** For each thing that is open on servers: one that hangs must not keep the process from ending. */
const CLOSE_MS = 3_000;

export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  const { settings, logger, metrics, ownPages = () => [] } = options;
  const steady = createSteadyClock();
  refuseWrongMix(settings);
  const filePolicies = loadPolicyFile(settings.policyFile ?? SHIPPED_POLICY);
  const duties = DUTIES[settings.role];
  const isShared = settings.databaseUrl !== undefined;
  const owner = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  /** What is open, to be closed in the opposite order; also when opening fails half-way. */
  const closers: (() => unknown)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) {
      await (isShared ? Promise.race([close(), delay(CLOSE_MS, undefined, { ref: false })]) : close());
    }
  };

  try {
    if (!isShared) {
      makeFolder(settings.dataDir);
      closers.push(lockFolder(settings.dataDir));
    }
    const store = await openStore(
      settings,
      (error) => logger.warn({ err: error }, 'the store had a trouble'),
      steady.now,
    );
    closers.push(() => store.close());
    const blobs = await openBlobs(settings, {
      isFirst: true,
      onAway: (error) => logger.warn({ err: error }, 'the object store is away: bodies are kept elsewhere'),
      onReturn: () => logger.info('the object store is back'),
    });
    closers.push(() => blobs.close());
    const links = await openLinks(settings, owner, logger);
    closers.push(() => links.close());
    const { queue, bus, limits } = links;
    const clock = isShared
      ? await openStoreClock(store, logger, { clock: steady })
      : { now: steady.now, close: () => undefined };
    closers.push(() => clock.close());
    const { now } = clock;
    // This process alone has the folder: whoever owned hosts before is dead.
    if (!isShared) await store.releaseAllHosts();
    const policies = await openPolicies(filePolicies, settings.policyFile, { store, bus, logger });
    closers.push(() => policies.close());

    const accounts = openAccounts(settings, store, now);
    closers.push(() => accounts.close());
    const means = duties.crawl
      ? openMeans({ settings, queue, blobs, ...accounts, ownPages, now, logger })
      : null;
    const crawler =
      means !== null
        ? createCrawler({
            settings,
            store,
            queue,
            bus,
            policies: policies.current,
            owner,
            isShared,
            means,
            now,
            clock: steady,
            logger,
            metrics,
          })
        : null;
    const renderer =
      duties.render === null ? null : createRenderer({ name: duties.render, settings, queue, blobs, logger });
    // Who waits for an answer is told soon when the store is away; the crawl waits as long as it takes.
    const front = isShared
      ? watchStore(store, {
          onChange: (reason) =>
            reason === null
              ? logger.info('the store is back')
              : logger.warn({ reason: reason.message }, 'the store is away'),
        })
      : store;
    const scheduler = duties.schedule
      ? createScheduler({ store, queue, bus, now, sweepSessions: accounts.sessions.sweep })
      : null;
    metrics.observe({
      openTasks: () => front.countOpenTasks(),
      queueDepth: async () => (await queue.depth('scrape-http')).waiting,
      activeSlices: () => crawler?.activeSlices() ?? 0,
      inFlightFetches: () => crawler?.inFlight() ?? 0,
      redisCommands: links.operations,
    });
    // Who shows pages is only known where all of them are shown.
    const engineRefusal = createEngineRefusal(() =>
      settings.role === 'all' ? (means?.offers() ?? null) : null,
    );
    const jobs = createJobs({
      store: front,
      blobs,
      bus,
      queue,
      now,
      random: Math.random,
      maxQueuedUrls: settings.maxQueuedUrls,
      onAccepted: (job) => crawler?.remember(job),
      refusalOf: (page) => engineRefusal(page) ?? llmRefusal(page, settings),
      consents: (host, what) => policies.current().policyFor(host).consent.includes(what),
    });

    // Apart from the crawl: a page that costs its thread must not cost the crawl's.
    const extractor = readerWithLlm(openExtractor(Math.max(1, settings.extractThreads)), settings);
    closers.push(() => extractor.close());

    return {
      settings,
      duties,
      extraction: createExtraction({ reader: extractor, now }),
      store: front,
      blobs,
      queue,
      bus,
      limits,
      jobs,
      proxyFigures: () => means?.proxies?.figures(now()) ?? null,
      policies: policies.current,
      now,
      load: () => ({
        activeSlices: crawler?.activeSlices() ?? 0,
        inFlightFetches: crawler?.inFlight() ?? 0,
      }),
      watchPages: (listener) => crawler?.watchPages(listener),
      lookForBrowsers() {
        if (settings.role === 'all') void means?.look();
      },
      async start() {
        await crawler?.start();
        await scheduler?.start();
        await renderer?.start();
      },
      async close() {
        jobs.close();
        await scheduler?.stop();
        await renderer?.stop(settings.drainMs);
        await crawler?.stop(settings.drainMs);
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
