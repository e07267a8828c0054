import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LabelGuard } from './label-guard.ts';

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

/** What the proxies of a process have done, by tier. */
export interface ProxyMetricFigures {
  readonly tiers: readonly {
    readonly tier: string;
    readonly successes: number;
    readonly failures: number;
    readonly bans: number;
    readonly targetFailures: number;
    readonly bytes: number;
  }[];
  readonly proxies: readonly { readonly tier: string; readonly isHealthy: boolean }[];
}

/** Deliveries of webhooks that wait to be sent, over all processes. */
export interface DeliveryMetricFigures {
  readonly pending: number;
  /** How long the oldest of them has waited. */
  readonly oldestMs: number;
}

/** How an attempt at a delivery ended: `retried` ones are made again, `refused` ones never, `gone` disables the webhook. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'refused' | 'gone';

/** Values that are read when the metrics are scraped, and cost nothing in between. */
export interface MetricSources {
  /** Tasks that are ready, waiting or claimed, over all jobs. */
  readonly openTasks: () => number | Promise<number>;
  /** Host slices that wait for a free place. */
  readonly queueDepth: () => number | Promise<number>;
  /** Host slices being worked on. */
  readonly activeSlices: () => number | Promise<number>;
  readonly inFlightFetches: () => number | Promise<number>;
  /** Commands this process has sent to Redis. */
  readonly redisCommands: () => number | Promise<number>;
  /** Null while this process has no browsers. */
  readonly browsers?: (() => BrowserFigures | null) | undefined;
  /** Null while this process has no proxies. */
  readonly proxies?: (() => ProxyMetricFigures | null) | undefined;
  /** Missing where this process sends no webhooks. */
  readonly deliveries?: (() => Promise<DeliveryMetricFigures>) | undefined;
  /** Missing where this process has no readers of events. */
  readonly readerLags?: (() => readonly { readonly reader: string; readonly lagMs: number }[]) | undefined;
}

/**
 * What this process counts. Labels come from short fixed lists (routes, engines, outcomes): no hosts, no URLs,
 * nothing a stranger can choose. Durations go in as milliseconds and come out as seconds, as Prometheus has it.
 */
export interface Metrics {
  readonly contentType: string;
  /** The text a Prometheus server reads. A source that fails leaves its metric without a value. */
  render(): Promise<string>;
  /** Where the gauges look. Called once, when the parts are wired; before that they have no value. */
  observe(sources: MetricSources): void;
  /** `route` is the pattern that matched, such as `/v1/jobs/:id`; null when none did. */
  httpRequest(method: string, route: string | null, statusCode: number, durationMs: number): void;
  /** A connection was closed from this side: `total`, `address` (too many of them) or `unread`. */
  connectionClosed(why: string): void;
  /** Where the gauge of unread bytes looks. Called once, by the API. */
  observeUnread(unreadBytes: () => number): void;
  /** A request came with a key that is unknown, expired or revoked; `isLimited` when it was not even looked up. */
  loginFailed(isLimited: boolean): void;
  /** The event loop was not free for this long. */
  loopDelayed(delayMs: number): void;
  fetched(engine: string, outcome: string, durationMs: number, bytes: number): void;
  extracted(durationMs: number): void;
  committed(durationMs: number, completions: number): void;
  robotsDenied(): void;
  retried(): void;
  breakerOpened(): void;
  deliveryAttempted(outcome: DeliveryOutcome): void;
}

export interface MetricsOptions {
  /** Memory, CPU, event loop and garbage collection too. It starts timers, so only a long-lived process wants it. */
  readonly withProcess: boolean;
}

const FAST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const SLOW_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LOOP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Each call makes a registry of its own: two servers in one process, as in tests, do not count for each other. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.withProcess) collectDefaultMetrics({ register: registry });

  const routes = new LabelGuard(/^\/[a-z0-9_./:*-]{0,79}$/i, 200);
  const engines = new LabelGuard(/^[a-z][a-z-]{0,19}$/, 10);
  const outcomes = new LabelGuard(/^[a-z][a-z0-9-]{0,29}$/, 30);

  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers });

  const httpRequests = new Counter({
    name: 'scrapifie_http_requests_total',
    help: 'Requests the API answered.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const httpSeconds = new Histogram({
    name: 'scrapifie_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: SLOW_SECONDS,
    registers,
  });
  const closedConnections = new Counter({
    name: 'scrapifie_closed_connections_total',
    help: 'Connections that the API closed by itself: too many in total or from one address, or left unread.',
    labelNames: ['why'],
    registers,
  });
  const failedLogins = new Counter({
    name: 'scrapifie_failed_logins_total',
    help: 'Requests with an API key that is unknown, expired or revoked, and those refused for too many of these.',
    labelNames: ['limited'],
    registers,
  });
  const loopSeconds = histogram(
    'scrapifie_event_loop_delay_seconds',
    'How much later than due the event loop came to a timer: how long something held it up.',
    LOOP_SECONDS,
  );
  const fetches = new Counter({
    name: 'scrapifie_pages_fetched_total',
    help: 'Attempts at a page that have ended, by what the response turned out to be.',
    labelNames: ['engine', 'outcome'],
    registers,
  });
  const fetchSeconds = new Histogram({
    name: 'scrapifie_fetch_duration_seconds',
    help: 'Time of one attempt, redirects included.',
    labelNames: ['engine'],
    buckets: SLOW_SECONDS,
    registers,
  });
  const downloaded = counter('scrapifie_downloaded_bytes_total', 'Bytes of bodies received.');
  const extractSeconds = histogram(
    'scrapifie_extract_duration_seconds',
    'Time to read one page.',
    FAST_SECONDS,
  );
  const commitSeconds = histogram(
    'scrapifie_ledger_commit_duration_seconds',
    'Time of one transaction of the ledger.',
    FAST_SECONDS,
  );
  const commitSize = histogram(
    'scrapifie_ledger_commit_tasks',
    'Tasks ended or moved by one transaction of the ledger.',
    BATCH_SIZES,
  );
  const robotsDenials = counter('scrapifie_robots_denials_total', 'URLs that a robots.txt did not allow.');
  const retries = counter('scrapifie_retries_total', 'Attempts that will be made again later.');
  const breakerOpenings = counter('scrapifie_breaker_openings_total', 'Times a host was left alone.');

  const deliveryAttempts = new Counter({
    name: 'scrapifie_delivery_attempts_total',
    help: 'Attempts to send an event to a webhook, by how they ended.',
    labelNames: ['outcome'],
    registers,
  });

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    observe(sources) {
      addGauge(registry, 'scrapifie_open_tasks', 'Tasks that have not ended.', sources.openTasks);
      addGauge(registry, 'scrapifie_queue_depth', 'Host slices waiting.', sources.queueDepth);
      addGauge(registry, 'scrapifie_active_slices', 'Host slices being worked on.', sources.activeSlices);
      addGauge(registry, 'scrapifie_in_flight_fetches', 'Fetches under way.', sources.inFlightFetches);
      addGauge(
        registry,
        'scrapifie_redis_commands',
        'Commands sent to Redis since the start.',
        sources.redisCommands,
      );
      if (sources.browsers !== undefined) addBrowserFigures(registry, sources.browsers);
      if (sources.proxies !== undefined) addProxyFigures(registry, sources.proxies);
      if (sources.deliveries !== undefined) addDeliveryFigures(registry, sources.deliveries);
      if (sources.readerLags !== undefined) addReaderLags(registry, sources.readerLags);
    },
    connectionClosed: (why) => closedConnections.inc({ why }),
    observeUnread(unreadBytes) {
      addGauge(registry, 'scrapifie_unread_bytes', 'Bytes that clients have not read yet.', unreadBytes);
    },
    loginFailed: (isLimited) => failedLogins.inc({ limited: String(isLimited) }),
    loopDelayed: (delayMs) => loopSeconds.observe(delayMs / 1_000),
    httpRequest(method, route, statusCode, durationMs) {
      const shownRoute = route === null ? 'unmatched' : routes.admit(route);
      httpRequests.inc({
        method: METHODS.has(method) ? method : 'other',
        route: shownRoute,
        status: String(statusCode),
      });
      httpSeconds.observe({ route: shownRoute }, durationMs / 1_000);
    },
    fetched(engine, outcome, durationMs, bytes) {
      const shownEngine = engines.admit(engine);
      fetches.inc({ engine: shownEngine, outcome: outcomes.admit(outcome) });
      fetchSeconds.observe({ engine: shownEngine }, durationMs / 1_000);
      downloaded.inc(bytes);
    },
    extracted: (durationMs) => extractSeconds.observe(durationMs / 1_000),
    committed(durationMs, completions) {
      commitSeconds.observe(durationMs / 1_000);
      commitSize.observe(completions);
    },
    robotsDenied: () => robotsDenials.inc(),
    retried: () => retries.inc(),
    breakerOpened: () => breakerOpenings.inc(),
    deliveryAttempted: (outcome) => deliveryAttempts.inc({ outcome }),
  };
}

function addGauge(
  registry: Registry,
  name: string,
  help: string,
  source: () => number | Promise<number>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      try {
        this.set(await source());
      } catch {
        // The store being away must not hide every other figure. An unset gauge is how that shows.
        this.remove();
      }
    },
  });
}

function addBrowserFigures(registry: Registry, source: () => BrowserFigures | null): void {
  const registers = [registry];
  const gauge = (name: string, help: string, value: (figures: BrowserFigures) => number) =>
    addGauge(registry, name, help, () => {
      const figures = source();
      return figures === null ? 0 : value(figures);
    });
  gauge('scrapifie_browsers', 'Browsers that run.', ({ browsers }) => browsers);
  gauge('scrapifie_browser_pages_open', 'Pages open in browsers.', ({ pagesOpen }) => pagesOpen);
  gauge('scrapifie_browser_pages_in_use', 'Pages being rendered.', ({ pagesInUse }) => pagesInUse);
  new Counter({
    name: 'scrapifie_browser_launches_total',
    help: 'Browsers launched or connected to, by how that ended.',
    labelNames: ['result'],
    registers,
    collect() {
      const { launched = 0, launchesFailed = 0 } = source() ?? {};
      this.reset();
      this.inc({ result: 'ok' }, launched);
      this.inc({ result: 'failed' }, launchesFailed);
    },
  });
  new Counter({
    name: 'scrapifie_browser_replacements_total',
    help: 'Browsers replaced, by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(source()?.replaced ?? {})) this.inc({ reason }, count);
    },
  });
}

function addDeliveryFigures(registry: Registry, source: () => Promise<DeliveryMetricFigures>): void {
  const waiting = 'Events that wait to be sent to webhooks, over all processes.';
  addGauge(registry, 'scrapifie_deliveries_pending', waiting, async () => (await source()).pending);
  addGauge(
    registry,
    'scrapifie_deliveries_oldest_seconds',
    'How long the oldest event that waits to be sent has waited.',
    async () => (await source()).oldestMs / 1_000,
  );
}

function addReaderLags(registry: Registry, source: NonNullable<MetricSources['readerLags']>): void {
  new Gauge({
    name: 'scrapifie_reader_lag_seconds',
    help: 'How long the first committed event has waited that a reader of this process has not read; 0: none waits.',
    labelNames: ['reader'],
    registers: [registry],
    collect() {
      for (const { reader, lagMs } of source()) this.set({ reader }, lagMs / 1_000);
    },
  });
}

function addProxyFigures(registry: Registry, source: () => ProxyMetricFigures | null): void {
  const registers = [registry];
  new Gauge({
    name: 'scrapifie_proxies',
    help: 'Proxies of this process, by tier and by whether they can be used.',
    labelNames: ['tier', 'healthy'],
    registers,
    collect() {
      this.reset();
      for (const { tier, isHealthy } of source()?.proxies ?? [])
        this.inc({ tier, healthy: String(isHealthy) });
    },
  });
  new Counter({
    name: 'scrapifie_proxy_requests_total',
    help: 'Requests through proxies, by how they ended: served, failed, banned by the host, failed at the host.',
    labelNames: ['tier', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { tier, ...ends } of source()?.tiers ?? []) {
        this.inc({ tier, result: 'served' }, ends.successes);
        this.inc({ tier, result: 'failed' }, ends.failures);
        this.inc({ tier, result: 'banned' }, ends.bans);
        this.inc({ tier, result: 'target-failed' }, ends.targetFailures);
      }
    },
  });
  new Counter({
    name: 'scrapifie_proxy_bytes_total',
    help: 'Bytes of bodies received through proxies.',
    labelNames: ['tier'],
    registers,
    collect() {
      this.reset();
      for (const { tier, bytes } of source()?.tiers ?? []) this.inc({ tier }, bytes);
    },
  });
}
