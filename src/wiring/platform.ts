import type { Capabilities } from '../capabilities/capabilities.ts';
import { reserveFor } from '../capabilities/jobs/accept/job-cost.ts';
import { requestRefusal } from '../capabilities/jobs/accept/request-refusal.ts';
import { createJobs, type Jobs } from '../capabilities/jobs/jobs.ts';
import type { LoadedPlugins } from '../capabilities/plugins/load-plugins.ts';
import type { Sessions } from '../capabilities/sessions/sessions.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import type { Webhooks } from '../capabilities/webhooks/webhooks.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Page } from '../core/model/page.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { WaitingWork } from '../core/observe/metrics/sources.ts';
import type { Metrics } from '../core/observe/metrics.ts';
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
import type { BrowserHealth } from '../fetch/browser/pool/pool-health.ts';
import { metricSourcesOf } from './metric-sources.ts';
import { openProcessAccounts } from './open-accounts.ts';
import { type Background, openBackground } from './open-background.ts';
import type { OpenBlobs } from './open-blobs.ts';
import { openCapabilities } from './open-capabilities.ts';
import { type OpenCrawl, openCrawl } from './open-crawl.ts';
import { type OpenLake, openLake } from './open-lake.ts';
import { openReader } from './open-llm.ts';
import { openPlaces, type Places, takeFolder } from './open-places.ts';
import { openPlugins } from './open-plugins.ts';
import { openTracing } from './open-tracing.ts';
import { shareProcesses, shareProxyFigures } from './other-processes.ts';
import { type Duties, refuseIncompleteFleet } from './roles.ts';
import { withinOpenFiles } from './room-watch.ts';
import { SHIPPED_POLICY } from './shipped-policy.ts';
import type { StorePlace } from './storage.ts';
import { type ThisProcess, thisProcess } from './this-process.ts';

/** What a process of Scrapifie is opened with. */
export interface OpenPlatformOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** URLs of this very server that may be fetched although its address is refused. */
  readonly ownPages?: () => readonly string[];
  /**
   * Where sessions and credentials are, when not with the jobs: a command that works in a folder of its own uses those of
   * the installation, beside servers that work there. A session is stored by its version, so that processes lose nothing
   * of each other.
   */
  readonly accountsIn?: StorePlace;
  /** After which time monitors look again at pages that a check was not sure of; left out: as a server does. */
  readonly recheckMs?: number;
  /** False: the caller writes the exports of its jobs. */
  readonly writesExports?: boolean;
}

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

/** Opens what the settings ask for, one part after the other. What was opened is closed when a later part fails. */
export async function openPlatform(options: OpenPlatformOptions): Promise<Platform> {
  const { logger, metrics, ownPages = () => [], writesExports = true } = options;
  const given = withinOpenFiles(options.settings, logger);
  refuseIncompleteFleet(given);
  const plugins = await openPlugins(given);
  const filePolicies = loadPolicyFile(given.policyFile ?? SHIPPED_POLICY);
  const process = thisProcess(given, logger, metrics);
  const { closers, duties } = process;
  try {
    takeFolder(process);
    // Spans of what is closed before are sent yet.
    const tracing = await openTracing(given, process.owner, logger);
    closers.last.push(() => tracing?.close());
    const places = await openPlaces(process);
    const { settings, store, front, links, now } = places;
    const parts = { store, bus: links.bus, logger };
    const policies = await openPolicies(filePolicies, settings.policyFile, parts);
    closers.users.push(() => policies.close());
    const { accounts, vault, keptIn } = await openProcessAccounts(process, places, options.accountsIn);
    const uses = { accounts, vault, policies: policies.current, plugins };
    const crawl = await openCrawl(process, places, { ...uses, ownPages });
    const lake = openLake(settings, { store, front, now, logger });
    closers.users.push(() => lake.close());
    const capabilities = openOwnCapabilities(process, places, { ...uses, crawl, lake, options });
    const background = duties.schedule
      ? await openBackground(process, places, {
          ...{ capabilities, lake, writesExports, sessions: accounts.sessions },
          deliverers: plugins.deliverers,
          activeSlices: () => crawl.crawler?.activeSlices() ?? 0,
        })
      : null;
    return {
      ...{ settings, duties, capabilities, lake, now, store: front, jobs: capabilities.jobs },
      accounts: { sessions: accounts.sessions, store: keptIn },
      storeDegradation: places.storeDegradation,
      ...{ blobs: places.blobs, exportFiles: places.exportFiles, search: places.search },
      ...{ queue: places.queue, bus: links.bus, limits: links.limits, policies: policies.current },
      ...openFigures(process, places, crawl, background),
      ...crawlSide(process, settings, crawl),
      settleReaders: async () => background?.settle(),
      ...lifeOf(process, settings, { crawl, background, jobs: capabilities.jobs }),
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

interface CapabilityUses {
  readonly vault: Vault | null;
  readonly policies: () => Policies;
  readonly plugins: LoadedPlugins;
  readonly crawl: OpenCrawl;
  readonly lake: OpenLake;
  readonly options: Pick<OpenPlatformOptions, 'recheckMs'>;
}

function openOwnCapabilities(process: ThisProcess, places: Places, uses: CapabilityUses) {
  const { settings, front: store, blobs, exportFiles, search, links, now } = places;
  const { vault, plugins, lake, options } = uses;
  const reader = openReader(settings);
  const capabilities = openCapabilities({
    ...{ settings, store, blobs, exportFiles, search, bus: links.bus, vault, now, reader },
    ...{ sql: lake.sql, deliverers: plugins.deliverers, recheckMs: options.recheckMs },
    createJobs: (webhooks) => createOwnJobs(process, places, uses, webhooks),
  });
  process.closers.users.push(() => Promise.all([reader.close(), capabilities.close()]));
  return capabilities;
}

function createOwnJobs(
  { logger, metrics }: ThisProcess,
  { settings, front: store, blobs, links: { bus }, queue, room, now }: Places,
  { vault, policies, plugins, crawl: { crawler, resources } }: CapabilityUses,
  webhooks: Pick<Webhooks, 'createForJob'>,
): Jobs {
  return createJobs({
    ...{ store, vault, blobs, bus, queue, now, random: Math.random },
    maxQueuedUrls: settings.maxQueuedUrls,
    onAccepted(job) {
      metrics.jobAccepted(job.kind);
      logger.info({ jobId: job.id, accountId: job.accountId, kind: job.kind }, 'job accepted');
      crawler?.remember(job);
    },
    addWebhook: webhooks.createForJob,
    storageRefusal: room.refusal,
    reserveFor: reserveFor(settings, policies, plugins.engines.keys()),
    refusalOf: requestRefusal(
      settings,
      plugins,
      () => resources?.offers() ?? null,
      () => resources?.browsers?.refusal ?? null,
      () => resources?.proxies ?? null,
    ),
    consents: (host, what) => policies().policyFor(host).consent.includes(what),
  });
}

/** What is known of this process and of others of its installation, for metrics and for people. */
function openFigures(
  { owner, duties, metrics, closers }: ThisProcess,
  { settings, front: store, queue, links, now }: Places,
  { resources, crawler, browsers }: OpenCrawl,
  readers: Pick<Background, 'lags'> | null,
): Pick<Platform, 'proxyFigures' | 'processes' | 'waiting'> {
  const own = () => resources?.proxies?.figures(now()) ?? null;
  const here = { bus: links.bus, process: owner, now };
  const proxies = shareProxyFigures({ ...here, own });
  closers.users.push(() => proxies.close());
  const { processes, close } = shareProcesses({ ...here, role: settings.role });
  closers.users.push(close);
  const { sources, waiting } = metricSourcesOf({
    ...{ settings, duties, store, queue, links, crawler, browsers, readers, proxies: own, processes },
  });
  metrics.observe(sources);
  return { proxyFigures: proxies.figures, processes, waiting };
}

function crawlSide(
  { duties, logger }: ThisProcess,
  { role }: Settings,
  { resources, crawler, browsers }: OpenCrawl,
): Pick<Platform, 'browserHealth' | 'load' | 'watchPages' | 'observeExchanges' | 'lookForBrowsers'> {
  return {
    browserHealth: browsers === null ? null : () => browsers.health(duties.render ?? 'browser'),
    load: () => ({
      activeSlices: crawler?.activeSlices() ?? 0,
      inFlightFetches: crawler?.inFlight() ?? 0,
    }),
    watchPages: (listener) => crawler?.watchPages(listener),
    observeExchanges: (observer) => crawler?.observeExchanges(observer),
    lookForBrowsers() {
      if (role === 'all') void resources?.discover();
      browsers?.warm().catch((error) => logger.warn({ err: error }, 'no browser was started in advance'));
    },
  };
}

interface Workers {
  readonly crawl: OpenCrawl;
  readonly background: Background | null;
  readonly jobs: Jobs;
}

function lifeOf(
  { closers }: ThisProcess,
  { drainMs }: Settings,
  { crawl: { crawler, renderer }, background, jobs }: Workers,
): Pick<Platform, 'start' | 'drain' | 'close'> {
  async function drainAll(): Promise<void> {
    await Promise.all([renderer?.stop(drainMs), crawler?.stop(drainMs), background?.stop(drainMs)]);
    // After the crawl, whose last commits may be read yet.
    await background?.finish(drainMs);
    if (crawler !== null) jobs.close();
  }
  let drained: Promise<void> | null = null;
  function drain(): Promise<void> {
    drained ??= drainAll();
    return drained;
  }
  return {
    async start() {
      await crawler?.start();
      await background?.start();
      await renderer?.start();
    },
    drain,
    async close() {
      jobs.close();
      await drain().finally(closers.closeAll);
    },
  };
}
