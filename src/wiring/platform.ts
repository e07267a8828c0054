import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Capabilities } from '../capabilities/capabilities.ts';
import { reserveFor } from '../capabilities/jobs/accept/job-cost.ts';
import { requestRefusal } from '../capabilities/jobs/accept/request-refusal.ts';
import { createJobs, type Jobs } from '../capabilities/jobs/jobs.ts';
import { createMaintenance } from '../capabilities/jobs/maintenance/maintenance.ts';
import { stopFullAccounts } from '../capabilities/jobs/maintenance/stop-full-accounts.ts';
import { runRechecks } from '../capabilities/monitors/monitor-jobs.ts';
import {
  eventsMsOf,
  installationLimits,
  limitsOfAccount,
} from '../capabilities/retention/retention-admin.ts';
import { createScheduleClock, type RunDeps } from '../capabilities/schedules/schedule-runs.ts';
import type { Sessions } from '../capabilities/sessions/sessions.ts';
import { openVault } from '../capabilities/sessions/vault.ts';
import type { Webhooks } from '../capabilities/webhooks/webhooks.ts';
import { makeFolder, tightenFolder } from '../core/config/private-files.ts';
import type { Settings } from '../core/config/settings.ts';
import { withVaultKeys } from '../core/config/vault-keys.ts';
import type { Page } from '../core/model/page.ts';
import type { WaitingWork } from '../core/observe/metrics/sources.ts';
import type { Files } from '../core/ports/blobs.ts';
import type { Bus, KnownProcess } from '../core/ports/bus.ts';
import type { Limits } from '../core/ports/limits.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { Search } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { ExchangeObserver } from '../crawl/host/attempt/exchange-observer.ts';
import type { PoolFigures } from '../crawl/plan/proxies/fleet-figures.ts';
import type { Policies } from '../crawl/policy/policies.ts';
import { loadPolicyFile, openPolicies } from '../crawl/policy/policy-file.ts';
import { lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import type { BrowserHealth } from '../fetch/browser/pool/pool-health.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { cleanupOf, purgeOf } from './cleanup.ts';
import { createClosers } from './closers.ts';
import {
  countFailures,
  countJobEnds,
  logStoreErrors,
  openCountedBlobs,
  watchSharedStore,
} from './counted-calls.ts';
import { createCrawler } from './crawler.ts';
import { metricSourcesOf } from './metric-sources.ts';
import { type Accounts, openAccounts, withOwnVaultKey } from './open-accounts.ts';
import { type OpenBlobs, openTransit } from './open-blobs.ts';
import { openCapabilities } from './open-capabilities.ts';
import { openExportFiles, openExportWorker } from './open-exports.ts';
import { openResources } from './open-fetch-resources.ts';
import { type OpenLake, openLake } from './open-lake.ts';
import { openLinks } from './open-links.ts';
import { openReader } from './open-llm.ts';
import { openPlugins } from './open-plugins.ts';
import { openDeliveries, openReaders } from './open-readers.ts';
import { openMendingSearch } from './open-search.ts';
import { openTracing } from './open-tracing.ts';
import { shareProcesses, shareProxyFigures } from './other-processes.ts';
import type { OpenPlatformOptions } from './platform-options.ts';
import { createRenderer } from './renderer.ts';
import { DUTIES, type Duties, refuseIncompleteFleet } from './roles.ts';
import { watchRoom, withinOpenFiles } from './room-watch.ts';
import { openScheduledBackups } from './scheduled-backups.ts';
import { SHIPPED_POLICY } from './shipped-policy.ts';
import { openStore, replicaLog } from './storage.ts';
import { openStoreClock } from './store-clock.ts';

/** One process of Scrapifie: the whole of it, or the part that its role names. */
export interface Platform {
  readonly settings: Settings;
  readonly duties: Duties;
  readonly store: Store;
  /** What the store lost before this process had it; null when nothing is known. */
  readonly storeDegradation: () => string | null;
  readonly blobs: OpenBlobs;
  readonly exportFiles: Files;
  readonly search: Search;
  readonly queue: Queue;
  readonly bus: Bus;
  readonly limits: Limits;
  readonly jobs: Jobs;
  readonly capabilities: Capabilities;
  /** Sessions, and the store that has them: that of the platform, or that of `accountsIn`. */
  readonly accounts: { readonly sessions: Sessions; readonly store: Store };
  /** Requests and failures of the proxies, summed over the known processes; null when no process has a proxy. */
  readonly proxyFigures: () => PoolFigures | null;
  /** This process and those of the same installation that were heard of lately. */
  readonly processes: () => readonly KnownProcess[];
  /** Work that waits for a worker, in the whole installation. */
  readonly waiting: () => Promise<readonly WaitingWork[]>;
  /** Whether pages can be shown by the browsers of this process; null where it has none. */
  readonly browserHealth: (() => Promise<BrowserHealth>) | null;
  readonly policies: () => Policies;
  /** The time that all processes of the store share. */
  readonly now: () => number;
  /** What the crawl of this process has under way. */
  load(): { readonly activeSlices: number; readonly inFlightFetches: number };
  /** Hears of every page that this process has stored, once it is. */
  watchPages(listener: (pages: readonly Page[]) => void): void;
  /** Tells the observer of everything that this process fetches and that becomes no page; to be called before `start`. */
  observeExchanges(observer: ExchangeObserver): void;
  /**
   * Finds out whether pages can be shown, before the first one needs it: until then every request for one is taken.
   * Asking a browser for its version costs as much as a hundred pages, so this is for long-running processes.
   */
  lookForBrowsers(): void;
  /** Parquet files of pages, links and records, and SQL over them. */
  readonly lake: OpenLake;
  /** Resolves when all that was committed before has been read by the readers of this process. */
  settleReaders(): Promise<void>;
  /** Begins to work on jobs, those left over from earlier included. */
  start(): Promise<void>;
  /**
   * Takes no more work, finishes tasks under way, up to `drainMs`, and gives the rest back. Requests that wait for a crawl of
   * this process are told that it stops; those that wait for other processes go on waiting. All else still works.
   */
  drain(): Promise<void>;
  /** Drains and closes everything. */
  close(): Promise<void>;
}

/** Enough to write down that jobs are cancelled or deleted. */
const DISK_RESERVE_BYTES = 4_194_304;

export async function openPlatform(options: OpenPlatformOptions): Promise<Platform> {
  const { logger, metrics, ownPages = () => [], accountsIn, writesExports = true } = options;
  const steady = createSteadyClock();
  const given = withinOpenFiles(options.settings, logger);
  refuseIncompleteFleet(given);
  const plugins = await openPlugins(given);
  const { deliverers } = plugins;
  const filePolicies = loadPolicyFile(given.policyFile ?? SHIPPED_POLICY);
  const duties = DUTIES[given.role];
  const isShared = given.databaseUrl !== undefined;
  const owner = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const closers = createClosers(isShared);

  try {
    if (!isShared) {
      makeFolder(given.dataDir);
      closers.last.push(lockFolder(given.dataDir));
    }
    // Spans of what is closed before are sent yet.
    const tracing = await openTracing(given, owner, logger);
    closers.last.push(() => tracing?.close());
    const { onStoreError, storeDegradation } = logStoreErrors(logger);
    const opened = await openStore(given, onStoreError, steady.now, DISK_RESERVE_BYTES, replicaLog(logger));
    const room = watchRoom({
      dataDir: isShared && given.s3Url !== undefined ? null : given.dataDir,
      checkStore: () => store.check(),
      bodyRefusal: () => blobs.refusal(),
    });
    const partFailed: typeof metrics.partFailed = (part, code) => {
      metrics.partFailed(part, code);
      room.noteFailure(code);
    };
    const store = countJobEnds(countFailures('store', opened, { partFailed }), metrics);
    closers.places.push(() => store.close());
    const settings = await withOwnVaultKey(given, store, logger);
    const blobs = await openCountedBlobs(settings, logger, metrics);
    closers.places.push(() => blobs.close());
    const search = openMendingSearch(settings, store, logger);
    closers.places.push(() => search.close());
    if (existsSync(settings.dataDir)) {
      for (const problem of tightenFolder(settings.dataDir)) {
        logger.warn({ problem }, 'data folder: other users of this machine may read it');
      }
    }
    // Only a queue that other processes share leads to one that renders elsewhere.
    const transit = settings.redisUrl === undefined ? null : await openTransit(settings);
    closers.places.push(() => transit?.close());
    const links = await openLinks(settings, owner, logger, metrics);
    closers.places.push(() => links.close());
    const { bus, limits } = links;
    const queue = countFailures('queue', links.queue, metrics);
    const clock = isShared
      ? await openStoreClock(store, logger, { clock: steady })
      : { now: steady.now, close: () => undefined };
    closers.users.push(() => clock.close());
    const { now } = clock;
    // This process alone has the folder: former owners of hosts are dead.
    if (!isShared) {
      await store.releaseAllHosts();
      await store.endExportLeases();
    }
    const policies = await openPolicies(filePolicies, settings.policyFile, { store, bus, logger });
    closers.users.push(() => policies.close());

    const kept = accountsIn === undefined ? store : await openStore(accountsIn, onStoreError, now);
    if (kept !== store) closers.places.push(() => kept.close());
    const keyed =
      kept === store ? settings : await withVaultKeys({ ...given, ...accountsIn }, () => kept.hasSealed());
    // Jobs are sealed by the key of the place that has them.
    const vault = openVault(settings);
    const place = { store: kept, vault: kept === store ? vault : openVault(keyed), now };
    const accounts: Accounts = openAccounts(keyed, place);
    closers.users.push(() => accounts.close());
    const fetchParts = { settings, store, queue, blobs, transit, ...accounts, ownPages, now, logger };
    const pluginEngines = plugins.engines;
    const resources = duties.crawl ? await openResources({ ...fetchParts, pluginEngines }) : null;
    const crawler =
      resources !== null
        ? createCrawler({
            settings,
            store,
            vault,
            queue,
            bus,
            policies: policies.current,
            owner,
            isShared,
            resources,
            now,
            clock: steady,
            logger,
            metrics,
            onHold: room.noteHold,
          })
        : null;
    const renderer =
      duties.render === null || transit === null
        ? null
        : createRenderer({ name: duties.render, settings, queue, blobs, transit, logger });
    const browsers = renderer?.browsers ?? resources?.browsers ?? null;
    // Requests to the API fail soon when the store is unavailable; the crawl waits as long as it takes.
    const front = isShared ? watchSharedStore(store, logger, metrics) : store;
    const exportFiles = await openExportFiles(settings);
    closers.places.push(() => exportFiles.close());
    const retentionLimits = installationLimits(settings);
    const backups = duties.schedule ? await openScheduledBackups(settings, now, logger) : null;
    closers.places.push(() => backups?.close());
    const maintenance = duties.schedule
      ? createMaintenance({
          store,
          queue,
          bus,
          now,
          sweepSessions: accounts.sessions.sweep,
          stopFullAccounts: () => stopFullAccounts({ store, bus }),
          backups,
          purge: purgeOf(store),
          cleanup: cleanupOf(
            settings,
            {
              store,
              blobs,
              search,
              transit,
              exportFiles,
              limitsOf: (id) => limitsOfAccount(store, id, retentionLimits),
              eventsMs: eventsMsOf(settings),
            },
            logger,
          ),
        })
      : null;
    const deliveries = duties.schedule
      ? openDeliveries({ settings, deliverers, store, blobs, bus, vault, now, logger, metrics })
      : null;
    closers.users.push(() => deliveries?.close());
    const lake = openLake(settings, { store, front, now, logger });
    closers.users.push(() => lake.close());
    // What jobs leave besides their pages; each reader is at work only while a job asks for it.
    const readers = duties.schedule
      ? openReaders({
          ...{ store, blobs, search, bus, logger, metrics, writesExports, owner: isShared ? owner : null },
          lake: lake.reader,
          activeSlices: () => crawler?.activeSlices() ?? 0,
        })
      : null;
    const exportWorker =
      duties.schedule && writesExports
        ? openExportWorker({ settings, store, bus, files: exportFiles, logger, metrics })
        : null;
    const lakeKeeper = duties.schedule ? lake.openKeeper(queue) : null;
    const ownProxies = () => resources?.proxies?.figures(now()) ?? null;
    const proxies = shareProxyFigures({ bus, process: owner, own: ownProxies, now });
    closers.users.push(() => proxies.close());
    const processes = shareProcesses({ bus, process: owner, role: settings.role, now });
    closers.users.push(() => processes.close());
    browsers?.renders.onRendered(metrics.rendered);
    const figures = { proxies: ownProxies, processes: processes.processes };
    const parts = { settings, duties, store: front, queue, links, crawler, browsers, readers, ...figures };
    const { sources, waiting } = metricSourcesOf(parts);
    metrics.observe(sources);
    const createOwnJobs = (webhooks: Pick<Webhooks, 'createForJob'>) =>
      createJobs({
        ...{ store: front, vault, blobs, bus, queue, now, random: Math.random },
        maxQueuedUrls: settings.maxQueuedUrls,
        onAccepted(job) {
          metrics.jobAccepted(job.kind);
          logger.info({ jobId: job.id, accountId: job.accountId, kind: job.kind }, 'job accepted');
          crawler?.remember(job);
        },
        addWebhook: webhooks.createForJob,
        storageRefusal: room.refusal,
        reserveFor: reserveFor(settings, policies.current, pluginEngines.keys()),
        refusalOf: requestRefusal(
          settings,
          plugins,
          () => resources?.offers() ?? null,
          () => resources?.browsers?.refusal ?? null,
        ),
        consents: (host, what) => policies.current().policyFor(host).consent.includes(what),
      });

    const extractor = openReader(settings);
    const capabilities = openCapabilities({
      ...{ settings, store: front, blobs, exportFiles, search, bus, vault, deliverers, now },
      ...{ reader: extractor, sql: lake.sql, createJobs: createOwnJobs },
      recheckMs: options.recheckMs,
    });
    closers.users.push(() => Promise.all([extractor.close(), capabilities.close()]));
    const { jobs } = capabilities;

    const onDecided: RunDeps['onDecided'] = (decision, { tickAt }) =>
      metrics.runDecided(decision, now() - tickAt);
    const turn = { store: front, jobs, vault, logger, onDecided };
    const clockParts = { ...turn, queue, alongside: () => runRechecks(turn) };
    const scheduleClock = duties.schedule ? createScheduleClock(clockParts) : null;

    async function drainAll(): Promise<void> {
      const { drainMs } = settings;
      // A round of maintenance that hangs is harmless: another process, or the next start, makes up for it.
      const ticked = Promise.race([
        Promise.all([maintenance?.stop(), scheduleClock?.stop(), lakeKeeper?.stop()]),
        delay(drainMs, undefined, { ref: false }),
      ]);
      await Promise.all([ticked, renderer?.stop(drainMs), crawler?.stop(drainMs), deliveries?.stop(drainMs)]);
      // After the crawl, whose last commits may be read yet.
      await readers?.stop(drainMs);
      await exportWorker?.stop(drainMs);
      if (crawler !== null) jobs.close();
    }
    let drained: Promise<void> | null = null;
    function drain(): Promise<void> {
      drained ??= drainAll();
      return drained;
    }

    return {
      settings,
      duties,
      capabilities,
      accounts: { sessions: accounts.sessions, store: kept === store ? front : kept },
      store: front,
      storeDegradation,
      blobs,
      exportFiles,
      search,
      queue,
      bus,
      limits,
      jobs,
      proxyFigures: proxies.figures,
      processes: processes.processes,
      waiting,
      browserHealth: browsers === null ? null : () => browsers.health(duties.render ?? 'browser'),
      policies: policies.current,
      now,
      load: () => ({
        activeSlices: crawler?.activeSlices() ?? 0,
        inFlightFetches: crawler?.inFlight() ?? 0,
      }),
      watchPages: (listener) => crawler?.watchPages(listener),
      observeExchanges: (observer) => crawler?.observeExchanges(observer),
      lookForBrowsers() {
        if (settings.role === 'all') void resources?.discover();
        browsers?.warm().catch((error) => logger.warn({ err: error }, 'no browser was started in advance'));
      },
      lake,
      settleReaders: async () => readers?.settle(),
      async start() {
        await crawler?.start();
        await maintenance?.start();
        await scheduleClock?.start();
        await renderer?.start();
        deliveries?.start();
        readers?.start();
        exportWorker?.start();
        await lakeKeeper?.start();
      },
      drain,
      async close() {
        jobs.close();
        await drain().finally(closers.closeAll);
      },
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}
