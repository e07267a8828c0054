import type { MetricMakers } from './makers.ts';

/** What the browsers of a process do and have done. */
export interface BrowserFigures {
  readonly browsers: number;
  readonly pagesOpen: number;
  readonly pagesInUse: number;
  readonly launched: number;
  readonly launchesFailed: number;
  /** How many were replaced, by reason: a short fixed list. */
  readonly replaced: Readonly<Record<string, number>>;
}

/** What a solver service was asked by this process. */
interface SolverMetricFigures {
  readonly solver: string;
  readonly solved: number;
  readonly failed: number;
  readonly refused: number;
  readonly costUsd: number;
}

/** What the proxies of a process have done, by tier. */
interface ProxyMetricFigures {
  readonly tiers: readonly {
    readonly tier: string;
    readonly successes: number;
    readonly failures: number;
    readonly bans: number;
    readonly targetFailures: number;
    readonly bytes: number;
  }[];
  readonly proxies: readonly { readonly tier: string; readonly isHealthy: boolean }[];
  readonly providers: readonly { readonly tier: string; readonly breaker: string }[];
}

/** Work of one kind that waits in the whole installation. */
export interface WaitingWork {
  /** `http`: hosts that no worker owns. `browser` and `stealth`: renders that no worker has begun. */
  readonly queue: 'http' | 'browser' | 'stealth';
  readonly waiting: number;
  /** How long the oldest of it has waited. */
  readonly oldestMs: number;
}

/** What the whole installation has to do, whichever process is asked. */
export interface InstallationFigures {
  readonly openTasks: number;
  readonly openJobs: Readonly<Record<string, number>>;
  /** How long the schedule that is due for longest has been so; 0: none is. */
  readonly scheduleOverdueMs: number;
  readonly deliveries: { readonly pending: number; readonly oldestMs: number };
}

/** Values that are read when the metrics are scraped, and cost nothing in between. */
export interface MetricSources {
  readonly info: { readonly version: string; readonly role: string };
  /** Null when this process owns no hosts. */
  readonly crawl: {
    /** Hosts being worked on, and how many may be. */
    readonly activeSlices: () => number;
    readonly hostSlots: number;
    readonly inFlightFetches: () => number;
    readonly fetchSlots: number;
  } | null;
  /** Null when other processes report these figures: workers are many, and not each of them should ask the store. */
  readonly installation: {
    readonly figures: () => Promise<InstallationFigures>;
    readonly waiting: () => Promise<readonly WaitingWork[]>;
    /** Processes of each role that were heard of lately. */
    readonly processes: () => Readonly<Record<string, number>>;
  } | null;
  /** Null when this process has no browsers. */
  readonly browsers: {
    /** Null while none was started. */
    readonly figures: () => BrowserFigures | null;
    readonly pageSlots: number;
    readonly solvers: () => readonly SolverMetricFigures[];
  } | null;
  /** Answers null while this process has no proxies. */
  readonly proxies: () => ProxyMetricFigures | null;
  /** Null when this process has no readers of events. */
  readonly readerLags: (() => readonly { readonly reader: string; readonly lagMs: number }[]) | null;
  /** Null when the installation has no Redis. */
  readonly redisCommands: (() => number) | null;
  /** Space of the file system with the data folder; null when the folder has nothing but temporary files. */
  readonly disk: (() => Promise<{ readonly freeBytes: number; readonly sizeBytes: number }>) | null;
}

export function addSources(make: MetricMakers, sources: MetricSources): void {
  const { info, crawl, installation, browsers, readerLags, redisCommands, disk } = sources;
  make.gauges('scrapifie_info', 'This process: always 1.', ['version', 'role', 'node'], () => [
    { labels: { ...info, node: process.version }, value: 1 },
  ]);
  if (crawl !== null) addCrawl(make, crawl);
  if (installation !== null) addInstallation(make, installation);
  if (browsers !== null) addBrowsers(make, browsers);
  if (crawl !== null) addProxies(make, sources.proxies);
  if (readerLags !== null) {
    make.gauges(
      'scrapifie_reader_lag_seconds',
      'How long the first committed event has waited that a reader of this process has not read; 0: none waits.',
      ['reader'],
      () => readerLags().map(({ reader, lagMs }) => ({ labels: { reader }, value: lagMs / 1_000 })),
    );
  }
  if (redisCommands !== null) {
    make.countOf('scrapifie_redis_commands_total', 'Commands sent to Redis.', [], () => [
      { labels: {}, value: redisCommands() },
    ]);
  }
  if (disk !== null) {
    make.gauge(
      'scrapifie_disk_free_bytes',
      'Room that is left where the data folder is.',
      async () => (await disk()).freeBytes,
    );
    make.gauge(
      'scrapifie_disk_size_bytes',
      'Size of the file system that has the data folder.',
      async () => (await disk()).sizeBytes,
    );
  }
}

function addCrawl(make: MetricMakers, crawl: NonNullable<MetricSources['crawl']>): void {
  make.gauge('scrapifie_active_slices', 'Hosts that this process owns and works on.', crawl.activeSlices);
  make.gauge('scrapifie_host_slots', 'Hosts that this process may own at once.', () => crawl.hostSlots);
  make.gauge('scrapifie_in_flight_fetches', 'Fetches under way in this process.', crawl.inFlightFetches);
  make.gauge(
    'scrapifie_fetch_slots',
    'Fetches that this process may have under way at once.',
    () => crawl.fetchSlots,
  );
}

function addInstallation(make: MetricMakers, from: NonNullable<MetricSources['installation']>): void {
  const { figures, waiting, processes } = from;
  make.gauge(
    'scrapifie_open_tasks',
    'URLs of all jobs that have not ended, over all processes.',
    async () => (await figures()).openTasks,
  );
  make.gauges('scrapifie_open_jobs', 'Jobs that have not ended, over all processes.', ['status'], async () =>
    Object.entries({ queued: 0, running: 0, ...(await figures()).openJobs }).map(([status, value]) => ({
      labels: { status },
      value,
    })),
  );
  make.gauges(
    'scrapifie_queue_depth',
    'Work that waits for a worker, over all processes: hosts with URLs that are due (http), and renders.',
    ['queue'],
    async () => (await waiting()).map(({ queue, waiting: value }) => ({ labels: { queue }, value })),
  );
  make.gauges(
    'scrapifie_queue_oldest_seconds',
    'How long the oldest work that waits for a worker has waited, over all processes.',
    ['queue'],
    async () =>
      (await waiting()).map(({ queue, oldestMs }) => ({ labels: { queue }, value: oldestMs / 1_000 })),
  );
  make.gauge(
    'scrapifie_schedule_overdue_seconds',
    'How long the schedule that is due for longest has been so, over all processes; 0: none is due.',
    async () => (await figures()).scheduleOverdueMs / 1_000,
  );
  make.gauge(
    'scrapifie_deliveries_pending',
    'Events that wait to be sent to webhooks, over all processes.',
    async () => (await figures()).deliveries.pending,
  );
  make.gauge(
    'scrapifie_deliveries_oldest_seconds',
    'How long the oldest event that waits to be sent has waited, over all processes.',
    async () => (await figures()).deliveries.oldestMs / 1_000,
  );
  make.gauges(
    'scrapifie_processes',
    'Processes of the installation that this one has heard of lately, itself included.',
    ['role'],
    () => Object.entries(processes()).map(([role, value]) => ({ labels: { role }, value })),
  );
}

function addBrowsers(make: MetricMakers, from: NonNullable<MetricSources['browsers']>): void {
  const { figures, pageSlots, solvers } = from;
  const gauge = (name: string, help: string, value: (figures: BrowserFigures) => number) =>
    make.gauge(name, help, () => {
      const found = figures();
      return found === null ? 0 : value(found);
    });
  gauge('scrapifie_browsers', 'Browsers that run.', ({ browsers }) => browsers);
  gauge('scrapifie_browser_pages_open', 'Pages open in browsers.', ({ pagesOpen }) => pagesOpen);
  gauge('scrapifie_browser_pages_in_use', 'Pages being rendered.', ({ pagesInUse }) => pagesInUse);
  make.gauge(
    'scrapifie_browser_page_slots',
    'Pages that this process may have rendered at once.',
    () => pageSlots,
  );
  make.countOf(
    'scrapifie_browser_launches_total',
    'Browsers launched or connected to, by how that ended.',
    ['result'],
    () => {
      const { launched = 0, launchesFailed = 0 } = figures() ?? {};
      return [
        { labels: { result: 'ok' }, value: launched },
        { labels: { result: 'failed' }, value: launchesFailed },
      ];
    },
  );
  make.countOf('scrapifie_browser_replacements_total', 'Browsers replaced, by reason.', ['reason'], () =>
    Object.entries(figures()?.replaced ?? {}).map(([reason, value]) => ({ labels: { reason }, value })),
  );
  make.countOf(
    'scrapifie_captcha_solutions_total',
    'Captchas that a solver service was asked for, by how that ended: solved, failed, or refused by the site.',
    ['solver', 'result'],
    () =>
      solvers().flatMap(({ solver, ...ends }) =>
        (['solved', 'failed', 'refused'] as const).map((result) => ({
          labels: { solver, result },
          value: ends[result],
        })),
      ),
  );
  make.countOf(
    'scrapifie_captcha_cost_dollars_total',
    'What solver services have charged, as far as they say.',
    ['solver'],
    () => solvers().map(({ solver, costUsd }) => ({ labels: { solver }, value: costUsd })),
  );
}

function addProxies(make: MetricMakers, source: MetricSources['proxies']): void {
  make.gauges(
    'scrapifie_proxies',
    'Proxies of this process, by tier and by whether they can be used.',
    ['tier', 'healthy'],
    () => tallied(source()?.proxies ?? [], ({ tier, isHealthy }) => ({ tier, healthy: String(isHealthy) })),
  );
  make.gauges(
    'scrapifie_proxy_providers',
    'Providers of proxies, by tier and by the phase of their circuit breaker.',
    ['tier', 'breaker'],
    () => tallied(source()?.providers ?? [], ({ tier, breaker }) => ({ tier, breaker })),
  );
  make.countOf(
    'scrapifie_proxy_requests_total',
    'Requests through proxies, by how they ended: served, failed, banned by the host, failed at the host.',
    ['tier', 'result'],
    () =>
      (source()?.tiers ?? []).flatMap(({ tier, successes, failures, bans, targetFailures }) => [
        { labels: { tier, result: 'served' }, value: successes },
        { labels: { tier, result: 'failed' }, value: failures },
        { labels: { tier, result: 'banned' }, value: bans },
        { labels: { tier, result: 'target-failed' }, value: targetFailures },
      ]),
  );
  make.countOf('scrapifie_proxy_bytes_total', 'Bytes of bodies received through proxies.', ['tier'], () =>
    (source()?.tiers ?? []).map(({ tier, bytes }) => ({ labels: { tier }, value: bytes })),
  );
}

/** How many there are with each set of labels. */
function tallied<T, L extends string>(
  all: readonly T[],
  labelsOf: (one: T) => Readonly<Record<L, string>>,
): { labels: Readonly<Record<L, string>>; value: number }[] {
  const counts = new Map<string, { labels: Readonly<Record<L, string>>; value: number }>();
  for (const one of all) {
    const labels = labelsOf(one);
    const key = JSON.stringify(labels);
    counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + 1 });
  }
  return [...counts.values()];
}
