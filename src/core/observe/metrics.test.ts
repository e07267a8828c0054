import { describe, expect, it } from 'vitest';
import { JOB_KINDS } from '../model/job-kinds.ts';
import type { CountedCompletion } from './metrics/crawl-metrics.ts';
import type { BrowserFigures, InstallationFigures, MetricSources } from './metrics/sources.ts';
import { createMetrics } from './metrics.ts';

const fresh = () => createMetrics({ withProcess: false });
const sources = (given: Partial<MetricSources> = {}): MetricSources => ({
  info: { version: '1.2.3', role: 'all' },
  crawl: { activeSlices: () => 3, hostSlots: 10, inFlightFetches: () => 0, fetchSlots: 20 },
  installation: null,
  browsers: null,
  proxies: () => null,
  readerLags: null,
  redisCommands: null,
  disk: null,
  ...given,
});
const FIGURES: InstallationFigures = {
  openTasks: 7,
  openJobs: { running: 2 },
  scheduleOverdueMs: 1_200,
  deliveries: { pending: 3, oldestMs: 1_500 },
};
const installation = (figures: () => Promise<InstallationFigures> = async () => FIGURES) => ({
  figures,
  waiting: async () => [{ queue: 'http' as const, waiting: 4, oldestMs: 2_500 }],
  processes: () => ({ api: 2 }),
});
const attempt = (given: { engine?: string; outcome?: string; ms?: number; bytes?: number } = {}) => ({
  engine: 'http',
  outcome: 'ok',
  ms: 1,
  bytes: 1,
  ...given,
});

/** The value of one sample, as a Prometheus server would read it. */
async function sample(metrics: { render(): Promise<string> }, series: string): Promise<number | null> {
  const line = (await metrics.render()).split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

describe('metrics', () => {
  it('count requests by method, route and status', async () => {
    const metrics = fresh();
    metrics.httpRequest('GET', '/v1/jobs/:id', 200, 12);
    metrics.httpRequest('GET', '/v1/jobs/:id', 200, 12);
    metrics.httpRequest('BREW', null, 404, 1);
    const total = 'scrapifie_http_requests_total';
    expect(await sample(metrics, `${total}{method="GET",route="/v1/jobs/:id",status="200"}`)).toBe(2);
    expect(await sample(metrics, `${total}{method="other",route="unmatched",status="404"}`)).toBe(1);
    const seconds = 'scrapifie_http_request_duration_seconds_sum{route="/v1/jobs/:id"}';
    expect(await sample(metrics, seconds)).toBeCloseTo(0.024);
  });

  it('count fetches, their bytes and time', async () => {
    const metrics = fresh();
    metrics.fetched({ ...attempt({ ms: 100, bytes: 2_000 }), waitedMs: 1_500 }, 'a.test');
    const failed = { ...attempt({ outcome: 'error', ms: 300, bytes: 500 }), errorCode: 'DNS_FAILED' };
    metrics.fetched(failed, 'a.test');
    expect(await sample(metrics, 'scrapifie_pages_fetched_total{engine="http",outcome="error"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_fetch_errors_total{engine="http",code="DNS_FAILED"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_admission_wait_seconds_sum')).toBe(1.5);
    expect(await sample(metrics, 'scrapifie_downloaded_bytes_total{engine="http"}')).toBe(2_500);
    expect(await sample(metrics, 'scrapifie_fetch_duration_seconds_sum{engine="http"}')).toBeCloseTo(0.4);
  });

  it('count what the ledger, extraction and politeness do', async () => {
    const metrics = fresh();
    metrics.committed(4, 50, []);
    metrics.extracted(2);
    metrics.robotsDenied();
    metrics.retried();
    expect(await sample(metrics, 'scrapifie_ledger_commit_tasks_sum')).toBe(50);
    expect(await sample(metrics, 'scrapifie_ledger_commit_duration_seconds_count')).toBe(1);
    expect(await sample(metrics, 'scrapifie_extract_duration_seconds_sum')).toBeCloseTo(0.002);
    expect(await sample(metrics, 'scrapifie_robots_denials_total')).toBe(1);
    expect(await sample(metrics, 'scrapifie_retries_total')).toBe(1);
  });

  it('count the ends of URLs once they are committed, and what they cost', async () => {
    const metrics = fresh();
    const done: CountedCompletion = {
      end: { state: 'done' },
      page: {},
      spent: { browserMs: 1_500, proxyBytes: 0 },
      used: { engine: 'browser', extras: { tokens: 120, solverCalls: 2 } },
      microcredits: 2_500_000,
    };
    const failed: CountedCompletion = {
      end: { state: 'failed', errorCode: 'DNS_FAILED' },
      page: null,
      microcredits: -500_000,
    };
    metrics.committed(1, 4, [
      done,
      { ...done, page: null },
      failed,
      { end: { state: 'waiting' }, page: null },
    ]);
    expect(await sample(metrics, 'scrapifie_tasks_ended_total{state="done"}')).toBe(2);
    expect(await sample(metrics, 'scrapifie_tasks_ended_total{state="waiting"}')).toBeNull();
    expect(await sample(metrics, 'scrapifie_pages_stored_total')).toBe(1);
    expect(await sample(metrics, 'scrapifie_task_failures_total{code="DNS_FAILED"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_credits_charged_total{engine="browser"}')).toBe(5);
    expect(await sample(metrics, 'scrapifie_credits_refunded_total')).toBe(0.5);
    expect(await sample(metrics, 'scrapifie_browser_seconds_total')).toBe(3);
    expect(await sample(metrics, 'scrapifie_llm_tokens_total')).toBe(240);
    expect(await sample(metrics, 'scrapifie_solver_calls_total')).toBe(4);
  });

  it('tell which breakers are open until their pause is over', async () => {
    const metrics = fresh();
    metrics.breakerOpened('a.test', 60_000);
    metrics.breakerOpened('b.test', 60_000);
    metrics.breakerOpened('over.test', 0);
    expect(await sample(metrics, 'scrapifie_open_breakers')).toBe(2);
    metrics.breakerClosed('a.test');
    expect(await sample(metrics, 'scrapifie_open_breakers')).toBe(1);
    expect(await sample(metrics, 'scrapifie_breaker_changes_total{to="open"}')).toBe(3);
    expect(await sample(metrics, 'scrapifie_breaker_changes_total{to="closed"}')).toBe(1);
  });

  it.each(JOB_KINDS)('count accepted jobs of the kind %s from the start', async (kind) => {
    expect(await sample(fresh(), `scrapifie_jobs_accepted_total{kind="${kind}"}`)).toBe(0);
  });

  it('time jobs from their acceptance to their end, and those that go on not at all', async () => {
    const metrics = fresh();
    metrics.jobAccepted('crawl');
    metrics.jobEnded({ kind: 'crawl', status: 'completed', createdAt: 1_000, finishedAt: 5_000 });
    metrics.jobEnded({ kind: 'crawl', status: 'cancelled', createdAt: 1_000, finishedAt: null });
    const seconds = 'scrapifie_job_duration_seconds';
    expect(await sample(metrics, `${seconds}_sum{kind="crawl",status="completed"}`)).toBe(4);
    expect(await sample(metrics, `${seconds}_count{kind="crawl",status="cancelled"}`)).toBeNull();
    expect(await sample(metrics, 'scrapifie_jobs_accepted_total{kind="crawl"}')).toBe(1);
  });

  it('count schedules, monitors and exports', async () => {
    const metrics = fresh();
    metrics.runDecided('started', 3_000);
    metrics.runDecided('skipped', 9_000);
    metrics.monitorChecked(0);
    metrics.monitorChecked(4);
    metrics.exportEnded('csv', 'ready', 2_000, 900);
    metrics.exportEnded('csv', 'failed', 1_000, 0);
    expect(await sample(metrics, 'scrapifie_schedule_runs_total{decision="skipped"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_schedule_delay_seconds_sum')).toBe(3);
    expect(await sample(metrics, 'scrapifie_monitor_checks_total{result="changed"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_monitor_changes_total')).toBe(4);
    expect(await sample(metrics, 'scrapifie_exports_total{format="csv",result="failed"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_exported_bytes_total')).toBe(900);
  });

  it('tell which part is away, and count what failed there', async () => {
    const metrics = fresh();
    metrics.partFailed('store', 'STORE_UNAVAILABLE');
    metrics.partChanged('store', false);
    const errors = 'scrapifie_part_errors_total{part="store",code="STORE_UNAVAILABLE"}';
    expect(await sample(metrics, errors)).toBe(1);
    expect(await sample(metrics, 'scrapifie_part_up{part="store"}')).toBe(0);
    expect(await sample(metrics, 'scrapifie_part_up{part="queue"}')).toBe(1);
  });

  it('show the ids of the active trace beside observed times, in OpenMetrics only', async () => {
    const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
    const metrics = createMetrics({ withProcess: false, traceOf: () => trace });
    metrics.httpRequest('GET', '/v1/jobs', 200, 12);
    const { contentType, text } = await metrics.scrape('application/openmetrics-text; version=1.0.0');
    expect(contentType).toContain('application/openmetrics-text');
    expect(text).toMatch(/_bucket\{.*le="0.025".*\} 1 # \{trace_id="a{32}",span_id="b{16}"\} 0.012 \d+/);
    expect(text).toContain('# TYPE scrapifie_http_requests counter\n');
    expect(text).toContain('scrapifie_http_requests_total{method="GET",route="/v1/jobs",status="200"} 1\n');
    expect(text.endsWith('\n# EOF\n')).toBe(true);
    // The other format is as it was before.
    const plain = await metrics.scrape(undefined);
    expect(plain.contentType).toContain('text/plain');
    expect(plain.text).toContain('# TYPE scrapifie_http_requests_total counter\n');
    expect(plain.text).not.toContain('trace_id');
  });

  it('count attempts at deliveries by how they ended, and show what waits', async () => {
    const metrics = fresh();
    for (const outcome of ['delivered', 'delivered', 'retried'] as const)
      metrics.deliveryAttempted(outcome, 20);
    metrics.observe(sources({ installation: installation() }));
    expect(await sample(metrics, 'scrapifie_delivery_attempts_total{outcome="delivered"}')).toBe(2);
    expect(await sample(metrics, 'scrapifie_delivery_attempts_total{outcome="retried"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_deliveries_pending')).toBe(3);
    expect(await sample(metrics, 'scrapifie_deliveries_oldest_seconds')).toBe(1.5);
  });

  it('tell how far each reader of events is behind', async () => {
    const metrics = fresh();
    metrics.observe(sources({ readerLags: () => [{ reader: 'search', lagMs: 2_500 }] }));
    expect(await sample(metrics, 'scrapifie_reader_lag_seconds{reader="search"}')).toBe(2.5);
  });

  it('ask their sources only when they are read', async () => {
    const metrics = fresh();
    let asked = 0;
    const figures = async () => {
      asked += 1;
      return FIGURES;
    };
    metrics.observe(sources({ installation: installation(figures) }));
    expect(asked).toBe(0);
    expect(await sample(metrics, 'scrapifie_open_tasks')).toBe(7);
    expect(asked).toBeGreaterThan(0);
  });

  it('tell what waits in the whole installation, where this process is asked for that', async () => {
    const metrics = fresh();
    metrics.observe(sources({ installation: installation() }));
    expect(await sample(metrics, 'scrapifie_queue_depth{queue="http"}')).toBe(4);
    expect(await sample(metrics, 'scrapifie_queue_oldest_seconds{queue="http"}')).toBe(2.5);
    expect(await sample(metrics, 'scrapifie_open_jobs{status="running"}')).toBe(2);
    expect(await sample(metrics, 'scrapifie_schedule_overdue_seconds')).toBe(1.2);
    expect(await sample(metrics, 'scrapifie_processes{role="api"}')).toBe(2);
    const worker = fresh();
    worker.observe(sources());
    expect(await worker.render()).not.toContain('scrapifie_queue_depth');
  });

  it('survive a source that fails, whose value is then absent', async () => {
    const metrics = fresh();
    metrics.observe(sources({ installation: installation(() => Promise.reject(new Error('away'))) }));
    expect(await sample(metrics, 'scrapifie_open_tasks')).toBeNull();
    expect(await sample(metrics, 'scrapifie_active_slices')).toBe(3);
  });

  it('tell what proxies do, by tier', async () => {
    const metrics = fresh();
    const ends = { successes: 5, failures: 2, bans: 1, targetFailures: 0, bytes: 900 };
    metrics.observe(
      sources({
        proxies: () => ({
          tiers: [{ tier: 'mobile', ...ends }],
          proxies: [
            { tier: 'mobile', isHealthy: true },
            { tier: 'mobile', isHealthy: false },
            { tier: 'mobile', isHealthy: true },
          ],
          providers: [{ tier: 'mobile', breaker: 'open' }],
        }),
      }),
    );
    expect(await sample(metrics, 'scrapifie_proxies{tier="mobile",healthy="true"}')).toBe(2);
    expect(await sample(metrics, 'scrapifie_proxies{tier="mobile",healthy="false"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_proxy_providers{tier="mobile",breaker="open"}')).toBe(1);
    const total = 'scrapifie_proxy_requests_total';
    expect(await sample(metrics, `${total}{tier="mobile",result="served"}`)).toBe(5);
    expect(await sample(metrics, `${total}{tier="mobile",result="banned"}`)).toBe(1);
    expect(await sample(metrics, 'scrapifie_proxy_bytes_total{tier="mobile"}')).toBe(900);
  });

  it('tell what browsers do and why they were replaced, and nothing while there are none', async () => {
    const metrics = fresh();
    let figures: BrowserFigures | null = null;
    const solver = { solver: 'two', solved: 3, failed: 1, refused: 0, costUsd: 0.25 };
    const browsers = { figures: () => figures, pageSlots: 8, solvers: () => [solver] };
    metrics.observe(sources({ browsers }));
    expect(await sample(metrics, 'scrapifie_browsers')).toBe(0);
    figures = {
      browsers: 2,
      pagesOpen: 5,
      pagesInUse: 3,
      launched: 7,
      launchesFailed: 1,
      replaced: { unresponsive: 4, upgraded: 0 },
    };
    expect(await sample(metrics, 'scrapifie_browser_pages_open')).toBe(5);
    expect(await sample(metrics, 'scrapifie_browser_launches_total{result="failed"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_browser_replacements_total{reason="unresponsive"}')).toBe(4);
    expect(await sample(metrics, 'scrapifie_browser_page_slots')).toBe(8);
    expect(await sample(metrics, 'scrapifie_captcha_solutions_total{solver="two",result="solved"}')).toBe(3);
    expect(await sample(metrics, 'scrapifie_captcha_cost_dollars_total{solver="two"}')).toBe(0.25);
    // Read again, a counter has not grown by being read.
    expect(await sample(metrics, 'scrapifie_browser_launches_total{result="ok"}')).toBe(7);
  });

  it('of two processes in one do not mix', async () => {
    const [one, other] = [fresh(), fresh()];
    one.retried();
    expect(await sample(other, 'scrapifie_retries_total')).toBe(0);
  });

  it('include those of the process when asked', async () => {
    const metrics = createMetrics({ withProcess: true });
    expect(await sample(metrics, 'process_resident_memory_bytes')).toBeGreaterThan(0);
    expect(await sample(metrics, 'nodejs_active_handles_total')).toBeNull();
  });

  it('stay few, whatever is passed as a label', async () => {
    const metrics = createMetrics({ withProcess: false, hosts: 20 });
    for (let index = 0; index < 5_000; index += 1) {
      metrics.httpRequest('GET', `/made-up/${index}`, 200, 1);
      const [engine, outcome] = [`engine-${'x'.repeat(index % 50)}`, `outcome-${index}`];
      metrics.fetched({ ...attempt({ engine, outcome }), errorCode: `CODE_${index}` }, `h${index}.test`);
      metrics.partFailed('store', `CODE_${index}`);
      metrics.exportEnded(`format${index}`, 'ready', 1, 1);
      metrics.breakerOpened(`h${index}.test`, 1_000);
    }
    const lines = (await metrics.render()).split('\n').length;
    expect(lines).toBeLessThan(10_000);
    expect(
      await sample(metrics, 'scrapifie_http_requests_total{method="GET",route="other",status="200"}'),
    ).toBe(4_700);
  });
});
