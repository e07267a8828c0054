import { describe, expect, it } from 'vitest';
import { type BrowserFigures, createMetrics, type MetricSources } from './metrics.ts';

const fresh = () => createMetrics({ withProcess: false });
const sources = (given: Partial<MetricSources> = {}): MetricSources => ({
  openTasks: () => 0,
  queueDepth: () => 0,
  activeSlices: () => 0,
  inFlightFetches: () => 0,
  redisCommands: () => 0,
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
    metrics.fetched('http', 'ok', 100, 2_000);
    metrics.fetched('http', 'soft-404', 300, 500);
    expect(await sample(metrics, 'scrapifie_pages_fetched_total{engine="http",outcome="soft-404"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_downloaded_bytes_total')).toBe(2_500);
    expect(await sample(metrics, 'scrapifie_fetch_duration_seconds_sum{engine="http"}')).toBeCloseTo(0.4);
  });

  it('count what the ledger, extraction and politeness do', async () => {
    const metrics = fresh();
    metrics.committed(4, 50);
    metrics.extracted(2);
    metrics.robotsDenied();
    metrics.retried();
    metrics.breakerOpened();
    expect(await sample(metrics, 'scrapifie_ledger_commit_tasks_sum')).toBe(50);
    expect(await sample(metrics, 'scrapifie_ledger_commit_duration_seconds_count')).toBe(1);
    expect(await sample(metrics, 'scrapifie_extract_duration_seconds_sum')).toBeCloseTo(0.002);
    expect(await sample(metrics, 'scrapifie_robots_denials_total')).toBe(1);
    expect(await sample(metrics, 'scrapifie_retries_total')).toBe(1);
    expect(await sample(metrics, 'scrapifie_breaker_openings_total')).toBe(1);
  });

  it('count attempts at deliveries by how they ended, and show what waits', async () => {
    const metrics = fresh();
    for (const outcome of ['delivered', 'delivered', 'retried'] as const) metrics.deliveryAttempted(outcome);
    metrics.observe({ ...sources({}), deliveries: async () => ({ pending: 3, oldestMs: 1_500 }) });
    expect(await sample(metrics, 'scrapifie_delivery_attempts_total{outcome="delivered"}')).toBe(2);
    expect(await sample(metrics, 'scrapifie_delivery_attempts_total{outcome="retried"}')).toBe(1);
    expect(await sample(metrics, 'scrapifie_deliveries_pending')).toBe(3);
    expect(await sample(metrics, 'scrapifie_deliveries_oldest_seconds')).toBe(1.5);
  });

  it('tell how far each reader of events is behind', async () => {
    const metrics = fresh();
    metrics.observe({ ...sources({}), readerLags: () => [{ reader: 'search', lagMs: 2_500 }] });
    expect(await sample(metrics, 'scrapifie_reader_lag_seconds{reader="search"}')).toBe(2.5);
  });

  it('ask their sources only when they are read', async () => {
    const metrics = fresh();
    let asked = 0;
    metrics.observe(
      sources({
        openTasks: async () => {
          asked += 1;
          return 7;
        },
      }),
    );
    expect(asked).toBe(0);
    expect(await sample(metrics, 'scrapifie_open_tasks')).toBe(7);
    expect(asked).toBe(1);
  });

  it('survive a source that fails, whose value is then absent', async () => {
    const metrics = fresh();
    metrics.observe(sources({ openTasks: () => Promise.reject(new Error('away')), activeSlices: () => 3 }));
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
        }),
      }),
    );
    expect(await sample(metrics, 'scrapifie_proxies{tier="mobile",healthy="true"}')).toBe(2);
    expect(await sample(metrics, 'scrapifie_proxies{tier="mobile",healthy="false"}')).toBe(1);
    const total = 'scrapifie_proxy_requests_total';
    expect(await sample(metrics, `${total}{tier="mobile",result="served"}`)).toBe(5);
    expect(await sample(metrics, `${total}{tier="mobile",result="banned"}`)).toBe(1);
    expect(await sample(metrics, 'scrapifie_proxy_bytes_total{tier="mobile"}')).toBe(900);
  });

  it('tell what browsers do and why they were replaced, and nothing while there are none', async () => {
    const metrics = fresh();
    let figures: BrowserFigures | null = null;
    metrics.observe({ ...sources({}), browsers: () => figures });
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
    expect(metrics.contentType).toContain('text/plain');
  });

  it('stay few, whatever is passed as a label', async () => {
    const metrics = fresh();
    for (let index = 0; index < 5_000; index += 1) {
      metrics.httpRequest('GET', `/made-up/${index}`, 200, 1);
      metrics.fetched(`engine-${'x'.repeat(index % 50)}`, `outcome-${index}`, 1, 1);
    }
    const lines = (await metrics.render()).split('\n').length;
    expect(lines).toBeLessThan(6_000);
    expect(
      await sample(metrics, 'scrapifie_http_requests_total{method="GET",route="other",status="200"}'),
    ).toBe(4_800);
  });
});
