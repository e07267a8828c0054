import { LabelGuard, type MetricMakers } from './makers.ts';
import { type HostAttempt, TopHosts } from './top-hosts.ts';

/** One attempt at a page, as far as it is counted. */
export interface CountedAttempt {
  readonly engine: string;
  readonly outcome: string;
  readonly errorCode?: string;
  /** Between the claim of the task and the request. */
  readonly waitedMs?: number;
  readonly ms: number;
  readonly bytes: number;
}

/** How a task ended or goes on, once that is committed, and what the attempt before used. */
export interface CountedCompletion {
  readonly end: { readonly state: string; readonly errorCode?: string };
  readonly page: unknown;
  readonly spent?: { readonly browserMs: number; readonly proxyBytes: number };
  readonly used?: {
    readonly engine: string;
    readonly extras?: { readonly tokens?: number; readonly solverCalls?: number };
  };
  readonly microcredits?: number;
}

/**
 * Why a thread that reads pages was replaced.
 *
 * heap-high      between two pages, because what was kept from page to page had grown too large
 * out-of-memory  while it read a page
 * too-slow       one page took longer than the limit
 * crashed        any other end
 */
export const PAGE_THREAD_ENDS = ['heap-high', 'out-of-memory', 'too-slow', 'crashed'] as const;
export type PageThreadEnd = (typeof PAGE_THREAD_ENDS)[number];

/** What the crawl of this process counts. */
export interface CrawlMetrics {
  fetched(attempt: CountedAttempt, host: string): void;
  extracted(durationMs: number): void;
  pageThreadReplaced(reason: PageThreadEnd): void;
  /** A transaction of the ledger; `kept` are the completions that changed something. */
  committed(durationMs: number, tasks: number, kept: readonly CountedCompletion[]): void;
  robotsDenied(): void;
  retried(): void;
  /** A URL waits on, because no browser shows pages for it at the moment. */
  renderPutOff(code: string): void;
  /** The breaker of a host opened, and leaves the host alone for `pauseMs`. */
  breakerOpened(host: string, pauseMs: number): void;
  /** The breaker of a host closed after a probe. */
  breakerClosed(host: string): void;
  /** A browser of this process has shown a page, or failed to. */
  rendered(engine: string, isShown: boolean, durationMs: number): void;
}

const FAST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const FETCH_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WAIT_SECONDS = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
const MICROCREDITS = 1_000_000;
/** Tasks that go on are no ends. */
const ENDS = ['done', 'failed', 'skipped', 'denied'];
const BLOCKED: ReadonlySet<string> = new Set(['blocked', 'captcha', 'login-wall', 'rate-limited']);
const MOST_BREAKERS = 10_000;

export function createCrawlMetrics(make: MetricMakers, shownHosts: number): CrawlMetrics {
  const engines = new LabelGuard(/^[a-z][a-z0-9:-]{0,39}$/, 10);
  const outcomes = new LabelGuard(/^[a-z][a-z0-9-]{0,29}$/, 30);
  const codes = new LabelGuard(/^[A-Z][A-Z0-9_]{0,39}$/, 150);
  const now = () => performance.now();
  const hosts = new TopHosts(shownHosts, now);
  /** Until when each host is left alone. Bounded by MOST_BREAKERS. */
  const openBreakers = new Map<string, number>();

  const fetches = make.counter(
    'scrapifie_pages_fetched_total',
    'Attempts at a page that have ended, by what the response turned out to be.',
    ['engine', 'outcome'],
  );
  const fetchErrors = make.counter(
    'scrapifie_fetch_errors_total',
    'Attempts at a page that ended with an error, by its code.',
    ['engine', 'code'],
  );
  const fetchTime = make.timer(
    'scrapifie_fetch_duration_seconds',
    'Time of one attempt, redirects included.',
    FETCH_SECONDS,
    ['engine'],
  );
  const waitTime = make.timer(
    'scrapifie_admission_wait_seconds',
    'Time between the claim of a URL and its request: robots.txt, politeness, and a free slot.',
    WAIT_SECONDS,
  );
  const downloaded = make.counter('scrapifie_downloaded_bytes_total', 'Bytes of bodies received.', [
    'engine',
  ]);
  const extractTime = make.timer(
    'scrapifie_extract_duration_seconds',
    'Time to read one page.',
    FAST_SECONDS,
  );
  const threadEnds = make.counter(
    'scrapifie_page_threads_replaced_total',
    'Threads that read pages and were replaced: between pages (heap-high), or lost with a page, which is read again.',
    ['reason'],
    PAGE_THREAD_ENDS.map((reason) => ({ reason })),
  );
  const commitTime = make.timer(
    'scrapifie_ledger_commit_duration_seconds',
    'Time of one transaction of the ledger.',
    FAST_SECONDS,
  );
  const commitSize = make.histogram(
    'scrapifie_ledger_commit_tasks',
    'Tasks ended or moved by one transaction of the ledger.',
    BATCH_SIZES,
  );
  const ends = make.counter(
    'scrapifie_tasks_ended_total',
    'Claimed URLs whose end is committed, sitemaps included; URLs that a stopped job drops are none of them.',
    ['state'],
    ENDS.map((state) => ({ state })),
  );
  const failures = make.counter(
    'scrapifie_task_failures_total',
    'URLs that have failed for good, by the code of the error.',
    ['code'],
  );
  const pages = make.counter(
    'scrapifie_pages_stored_total',
    'Pages that are committed and have no error. Success rate: this against scrapifie_task_failures_total.',
  );
  const charged = make.counter(
    'scrapifie_credits_charged_total',
    'Credits that accounts were charged, by the engine of the attempt.',
    ['engine'],
  );
  const refunded = make.counter(
    'scrapifie_credits_refunded_total',
    'Credits that accounts got back because a URL failed on this side.',
  );
  const browserTime = make.counter('scrapifie_browser_seconds_total', 'Time that browsers worked on URLs.');
  const tokens = make.counter('scrapifie_llm_tokens_total', 'Tokens of questions to a language model.');
  const solverCalls = make.counter(
    'scrapifie_solver_calls_total',
    'Puzzles of committed URLs that a solver service was paid for.',
  );
  const robotsDenials = make.counter(
    'scrapifie_robots_denials_total',
    'URLs that a robots.txt did not allow.',
  );
  const retries = make.counter('scrapifie_retries_total', 'Attempts that will be made again later.');
  const rendersPutOff = make.counter(
    'scrapifie_renders_put_off_total',
    'Times that a URL was put off because no render worker ran, or no browser could be started.',
    ['code'],
    [{ code: 'NO_WORKER' }, { code: 'BROWSER_UNAVAILABLE' }],
  );
  const breakers = make.counter(
    'scrapifie_breaker_changes_total',
    'Times the circuit breaker of a host opened or closed.',
    ['to'],
    [{ to: 'open' }, { to: 'closed' }],
  );
  make.gauge(
    'scrapifie_open_breakers',
    'Hosts that are left alone because the breaker was opened by this process.',
    () => {
      for (const [host, until] of openBreakers) if (until <= now()) openBreakers.delete(host);
      return openBreakers.size;
    },
  );
  const renders = make.counter(
    'scrapifie_renders_total',
    'Pages that browsers of this process were asked to show.',
    ['engine', 'result'],
  );
  const renderTime = make.timer(
    'scrapifie_render_duration_seconds',
    'Time from the request to the rendered page, the wait for a free page of a browser included.',
    FETCH_SECONDS,
    ['engine'],
  );
  make.countOf(
    'scrapifie_host_pages_fetched_total',
    'Attempts at pages of the hosts that this process asks most.',
    ['host', 'result'],
    () =>
      hosts.shown().flatMap(({ host, totals }) =>
        (['ok', 'blocked', 'failed'] as const).map((result) => ({
          labels: { host, result },
          value: totals[result],
        })),
      ),
  );
  make.countOf(
    'scrapifie_host_fetch_seconds_total',
    'Time of the attempts at pages of the hosts that this process asks most.',
    ['host'],
    () => hosts.shown().map(({ host, totals }) => ({ labels: { host }, value: totals.ms / 1_000 })),
  );
  make.countOf(
    'scrapifie_host_downloaded_bytes_total',
    'Bytes of bodies received from the hosts that this process asks most.',
    ['host'],
    () => hosts.shown().map(({ host, totals }) => ({ labels: { host }, value: totals.bytes })),
  );

  function countCompletion({ end, page, spent, used, microcredits = 0 }: CountedCompletion): void {
    if (ENDS.includes(end.state)) ends.inc({ state: end.state });
    if (end.state === 'done' && page !== null) pages.inc();
    if (end.state === 'failed') failures.inc({ code: codes.admit(end.errorCode ?? 'INTERNAL') });
    if (microcredits > 0)
      charged.inc({ engine: engines.admit(used?.engine ?? 'none') }, microcredits / MICROCREDITS);
    else if (microcredits < 0) refunded.inc(-microcredits / MICROCREDITS);
    if (spent !== undefined) browserTime.inc(spent.browserMs / 1_000);
    tokens.inc(used?.extras?.tokens ?? 0);
    solverCalls.inc(used?.extras?.solverCalls ?? 0);
  }

  return {
    fetched({ engine, outcome, errorCode, waitedMs, ms, bytes }, host) {
      const labels = { engine: engines.admit(engine) };
      fetches.inc({ ...labels, outcome: outcomes.admit(outcome) });
      if (errorCode !== undefined) fetchErrors.inc({ ...labels, code: codes.admit(errorCode) });
      fetchTime(ms, labels);
      if (waitedMs !== undefined) waitTime(waitedMs);
      downloaded.inc(labels, bytes);
      hosts.add(host, { result: resultOf(outcome), ms, bytes });
    },
    extracted: (durationMs) => extractTime(durationMs),
    pageThreadReplaced: (reason) => threadEnds.inc({ reason }),
    committed(durationMs, tasks, kept) {
      commitTime(durationMs);
      commitSize.observe(tasks);
      for (const completion of kept) countCompletion(completion);
    },
    robotsDenied: () => robotsDenials.inc(),
    retried: () => retries.inc(),
    renderPutOff: (code) => rendersPutOff.inc({ code }),
    breakerOpened(host, pauseMs) {
      breakers.inc({ to: 'open' });
      if (openBreakers.size < MOST_BREAKERS) openBreakers.set(host, now() + pauseMs);
    },
    breakerClosed(host) {
      breakers.inc({ to: 'closed' });
      openBreakers.delete(host);
    },
    rendered(engine, isShown, durationMs) {
      const labels = { engine: engines.admit(engine) };
      renders.inc({ ...labels, result: isShown ? 'shown' : 'failed' });
      renderTime(durationMs, labels);
    },
  };
}

function resultOf(outcome: string): HostAttempt['result'] {
  if (BLOCKED.has(outcome)) return 'blocked';
  return outcome === 'error' ? 'failed' : 'ok';
}
