import type { DashboardSource } from './panels.ts';
import { bars, graph, percentiles, query, rate, table } from './queries.ts';

export const hosts: DashboardSource = {
  name: 'hosts',
  title: 'hosts',
  description: 'The hosts that are asked most (SCRAPIFIE_METRICS_HOSTS of each process), and politeness.',
  rows: [
    {
      title: 'Busiest hosts',
      byProcess: true,
      panels: [
        table('Hosts', 'short', 'Attempts a minute over the last quarter of an hour.', [
          query('topk(20, sum by (installation, host) (rate(scrapifie_host_pages_fetched_total[15m])) * 60)'),
        ]),
        bars(
          'Blocked share',
          'percentunit',
          'Of the attempts, those with a block page, challenge or limit.',
          [
            query(
              'topk(20, sum by (installation, host) (rate(scrapifie_host_pages_fetched_total{result="blocked"}[15m])) / (sum by (installation, host) (rate(scrapifie_host_pages_fetched_total[15m])) > 0))',
              '{{host}}',
            ),
          ],
        ),
        graph('Attempts by host', 'reqps', 'All results.', [
          query(`topk(15, ${rate('scrapifie_host_pages_fetched_total', 'host')})`, '{{host}}'),
        ]),
        graph('Failed by host', 'reqps', 'Attempts that ended with an error.', [
          query(
            `topk(15, ${rate('scrapifie_host_pages_fetched_total{result="failed"}', 'host')})`,
            '{{host}}',
          ),
        ]),
        graph('Time of an attempt by host', 's', 'Mean.', [
          query(
            `topk(15, ${rate('scrapifie_host_fetch_seconds_total', 'host')} / (${rate('scrapifie_host_pages_fetched_total', 'host')} > 0))`,
            '{{host}}',
          ),
        ]),
        graph('Downloaded by host', 'Bps', 'Bytes of bodies.', [
          query(`topk(15, ${rate('scrapifie_host_downloaded_bytes_total', 'host')})`, '{{host}}'),
        ]),
      ],
    },
    {
      title: 'Politeness',
      byProcess: true,
      panels: [
        graph('Open breakers', 'short', 'Hosts that are left alone because they keep failing.', [
          query('sum by (installation) (scrapifie_open_breakers)', 'open'),
        ]),
        graph('Breaker changes', 'reqps', 'Breakers that opened and closed.', [
          query(rate('scrapifie_breaker_changes_total', 'to'), '{{to}}'),
        ]),
        graph('robots.txt', 'reqps', 'URLs that robots.txt does not allow.', [
          query(rate('scrapifie_robots_denials_total'), 'denied'),
        ]),
        graph('Wait for admission', 's', 'Between the claim of a URL and its request.', [
          ...percentiles('scrapifie_admission_wait_seconds'),
        ]),
        graph('Retries', 'reqps', 'Attempts that will be made again later.', [
          query(rate('scrapifie_retries_total'), 'retries'),
        ]),
        graph('Hosts at work', 'short', 'Hosts that workers own, and how many they may own.', [
          query('sum by (installation) (scrapifie_active_slices)', 'owned'),
          query('sum by (installation) (scrapifie_host_slots)', 'slots'),
        ]),
      ],
    },
  ],
};
