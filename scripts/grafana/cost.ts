import type { DashboardSource } from './panels.ts';
import { graph, orZero, query, rate, stacked, stat } from './queries.ts';

const range = (counter: string) => `sum by (installation) (increase(${counter}[$__range]))`;

export const cost: DashboardSource = {
  name: 'cost',
  title: 'cost',
  description:
    'What the crawl spends: credits, browser time, proxy traffic, captchas and tokens. Prices are set above.',
  inputs: [
    { name: 'browser_hour', label: 'Price of a browser hour', value: '0.05' },
    { name: 'proxy_gigabyte', label: 'Price of a GB through proxies', value: '4' },
    { name: 'million_tokens', label: 'Price of a million tokens', value: '1' },
  ],
  rows: [
    {
      title: 'In the chosen time',
      panels: [
        stat('Pages', 'short', 'Pages stored.', [query(range('scrapifie_pages_stored_total'))]),
        stat('Credits', 'short', 'Charged, without refunds.', [
          query(orZero(range('scrapifie_credits_charged_total'))),
        ]),
        stat('Browser hours', 'h', 'Time that browsers worked on URLs.', [
          query(`${range('scrapifie_browser_seconds_total')} / 3600`),
        ]),
        stat('Through proxies', 'decbytes', 'Bytes of bodies.', [
          query(orZero(range('scrapifie_proxy_bytes_total'))),
        ]),
        stat('Captchas', 'currencyUSD', 'What solver services have charged.', [
          query(orZero(range('scrapifie_captcha_cost_dollars_total'))),
        ]),
        stat('Tokens', 'short', 'Of language models.', [query(range('scrapifie_llm_tokens_total'))]),
        stat('Estimated cost', 'currencyUSD', 'Browsers, proxies, captchas and tokens by the prices above.', [
          query(
            `${range('scrapifie_browser_seconds_total')} / 3600 * $browser_hour + ${orZero(range('scrapifie_proxy_bytes_total'))} / 1e9 * $proxy_gigabyte + ${orZero(range('scrapifie_captcha_cost_dollars_total'))} + ${range('scrapifie_llm_tokens_total')} / 1e6 * $million_tokens`,
          ),
        ]),
        stat('Cost of 1,000 pages', 'currencyUSD', 'The same, by pages stored.', [
          query(
            `1000 * (${range('scrapifie_browser_seconds_total')} / 3600 * $browser_hour + ${orZero(range('scrapifie_proxy_bytes_total'))} / 1e9 * $proxy_gigabyte + ${orZero(range('scrapifie_captcha_cost_dollars_total'))} + ${range('scrapifie_llm_tokens_total')} / 1e6 * $million_tokens) / (${range('scrapifie_pages_stored_total')} > 0)`,
          ),
        ]),
        stat('CPU of a page', 's', 'CPU seconds of all processes for one stored page.', [
          query(
            `${range('process_cpu_seconds_total{job="scrapifie"}')} / (${range('scrapifie_pages_stored_total')} > 0)`,
          ),
        ]),
      ],
    },
    {
      title: 'Over time',
      panels: [
        stacked('Credits', 'short', 'Charged a minute, by engine.', [
          query(`60 * ${rate('scrapifie_credits_charged_total', 'engine')}`, '{{engine}}'),
        ]),
        graph('Refunds', 'short', 'Credits given back a minute.', [
          query(`60 * ${rate('scrapifie_credits_refunded_total')}`, 'refunded'),
        ]),
        graph('Browser time', 'short', 'Browser seconds a second: browsers at work.', [
          query(rate('scrapifie_browser_seconds_total'), 'browsers'),
        ]),
        stacked('Proxy traffic', 'Bps', 'By tier.', [
          query(rate('scrapifie_proxy_bytes_total', 'tier'), '{{tier}}'),
        ]),
        graph('Solver calls', 'reqps', 'Puzzles of committed URLs that were paid for.', [
          query(rate('scrapifie_solver_calls_total'), 'calls'),
        ]),
        graph('Tokens', 'short', 'Tokens a second.', [query(rate('scrapifie_llm_tokens_total'), 'tokens')]),
      ],
    },
  ],
};
