import type { DashboardSource } from './panels.ts';
import { graph, percentile, percentiles, query, rate, stacked } from './queries.ts';

export const engines: DashboardSource = {
  name: 'engines',
  title: 'engines and proxies',
  description: 'What each engine, proxy tier and solver achieves.',
  rows: [
    {
      title: 'Engines',
      panels: [
        graph('Success by engine', 'percentunit', 'Attempts that got the page, or that it is not there.', [
          query('scrapifie:engine_success:ratio5m', '{{engine}}'),
        ]),
        stacked('Attempts by engine', 'reqps', 'All outcomes.', [
          query(rate('scrapifie_pages_fetched_total', 'engine'), '{{engine}}'),
        ]),
        graph('Time of an attempt p95', 's', 'By engine.', [
          query(percentile(0.95, 'scrapifie_fetch_duration_seconds', 'engine'), '{{engine}}'),
        ]),
        stacked('Blocked and challenged', 'reqps', 'By engine and outcome.', [
          query(
            rate(
              'scrapifie_pages_fetched_total{outcome=~"blocked|captcha|login-wall|rate-limited"}',
              'engine, outcome',
            ),
            '{{engine}}: {{outcome}}',
          ),
        ]),
        graph('Errors by code', 'reqps', 'The ten most frequent errors of attempts.', [
          query(`topk(10, ${rate('scrapifie_fetch_errors_total', 'engine, code')})`, '{{engine}}: {{code}}'),
        ]),
        graph(
          'Reading a page',
          's',
          'Extraction in page threads.',
          percentiles('scrapifie_extract_duration_seconds'),
        ),
      ],
    },
    {
      title: 'Browsers',
      byProcess: true,
      panels: [
        graph('Render time', 's', 'From the request to the rendered page.', [
          query(percentile(0.5, 'scrapifie_render_duration_seconds', 'engine'), '{{engine}} p50'),
          query(percentile(0.95, 'scrapifie_render_duration_seconds', 'engine'), '{{engine}} p95'),
        ]),
        stacked('Renders', 'reqps', 'By engine and result.', [
          query(rate('scrapifie_renders_total', 'engine, result'), '{{engine}}: {{result}}'),
        ]),
        graph('Pages in browsers', 'short', 'In use, open, and the most at once.', [
          query('sum by (installation) (scrapifie_browser_pages_in_use)', 'in use'),
          query('sum by (installation) (scrapifie_browser_pages_open)', 'open'),
          query('sum by (installation) (scrapifie_browser_page_slots)', 'slots'),
        ]),
        graph('Browsers', 'short', 'Browsers that run.', [
          query('sum by (installation) (scrapifie_browsers)', 'browsers'),
        ]),
        graph('Launches', 'reqps', 'By result.', [
          query(rate('scrapifie_browser_launches_total', 'result'), '{{result}}'),
        ]),
        graph('Replacements', 'reqps', 'Browsers that were replaced, by reason.', [
          query(rate('scrapifie_browser_replacements_total', 'reason'), '{{reason}}'),
        ]),
      ],
    },
    {
      title: 'Proxies and captchas',
      byProcess: true,
      panels: [
        stacked('Requests through proxies', 'reqps', 'By tier and result.', [
          query(rate('scrapifie_proxy_requests_total', 'tier, result'), '{{tier}}: {{result}}'),
        ]),
        graph('Healthy proxies', 'short', 'Proxies that can be used; each worker has its own view.', [
          query('max by (installation, tier, healthy) (scrapifie_proxies)', '{{tier}}, healthy: {{healthy}}'),
        ]),
        graph('Bans', 'percentunit', 'Share of the requests that hosts banned.', [
          query(
            `${rate('scrapifie_proxy_requests_total{result="banned"}', 'tier')} / (${rate('scrapifie_proxy_requests_total', 'tier')} > 0)`,
            '{{tier}}',
          ),
        ]),
        graph('Providers by breaker', 'short', 'Providers of proxies.', [
          query('max by (installation, tier, breaker) (scrapifie_proxy_providers)', '{{tier}}: {{breaker}}'),
        ]),
        stacked('Through proxies', 'Bps', 'Bytes of bodies, by tier.', [
          query(rate('scrapifie_proxy_bytes_total', 'tier'), '{{tier}}'),
        ]),
        stacked('Captchas', 'reqps', 'What solver services were asked, by result.', [
          query(rate('scrapifie_captcha_solutions_total', 'solver, result'), '{{solver}}: {{result}}'),
        ]),
      ],
    },
  ],
};
