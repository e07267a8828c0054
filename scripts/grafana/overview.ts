import type { DashboardSource } from './panels.ts';
import { gauge, graph, percentile, query, rate, stacked, stat } from './queries.ts';

export const overview: DashboardSource = {
  name: 'overview',
  title: 'overview',
  description: 'Whether work is done, how fast, how well, and what waits.',
  rows: [
    {
      title: 'Now',
      panels: [
        stat('Pages stored', 'reqps', 'Pages that are committed, a second.', [
          query('scrapifie:pages_stored:rate5m'),
        ]),
        gauge('Success', 'percentunit', 'Of the URLs that ended, the share that did not fail.', [
          query('scrapifie:page_success:ratio5m'),
        ]),
        stat('Open URLs', 'short', 'URLs of all jobs that have not ended.', [
          query('max by (installation) (scrapifie_open_tasks)'),
        ]),
        stat('Open jobs', 'short', 'Jobs that have not ended.', [
          query('sum by (installation) (max by (installation, status) (scrapifie_open_jobs))'),
        ]),
        stat(
          'Longest wait',
          's',
          'How long the oldest work has waited for a worker.',
          [query('max by (installation) (scrapifie:queue_oldest_seconds:max)')],
          { limits: [60, 600] },
        ),
        stat(
          'API p95',
          's',
          'One request in twenty takes longer; requests that wait for pages are left out.',
          [query('scrapifie:http_request_duration_seconds:p95_5m')],
          { limits: [0.5, 2] },
        ),
      ],
    },
    {
      title: 'Crawl',
      panels: [
        stacked('URLs ended', 'reqps', 'By how they ended.', [
          query(rate('scrapifie_tasks_ended_total', 'state'), '{{state}}'),
        ]),
        stacked('Attempts by outcome', 'reqps', 'What responses turned out to be.', [
          query(rate('scrapifie_pages_fetched_total', 'outcome'), '{{outcome}}'),
        ]),
        stacked('Downloaded', 'Bps', 'Bytes of bodies, by engine.', [
          query(rate('scrapifie_downloaded_bytes_total', 'engine'), '{{engine}}'),
        ]),
        graph('Failures by code', 'reqps', 'URLs that failed for good.', [
          query(`topk(10, ${rate('scrapifie_task_failures_total', 'code')})`, '{{code}}'),
        ]),
        graph('Queue depth', 'short', 'Work that waits for a worker.', [
          query('scrapifie:queue_depth:max', '{{queue}}'),
        ]),
        graph('Oldest wait', 's', 'How long the oldest of that work has waited.', [
          query('scrapifie:queue_oldest_seconds:max', '{{queue}}'),
        ]),
      ],
    },
    {
      title: 'Jobs',
      panels: [
        stacked('Jobs accepted', 'reqps', 'By kind.', [
          query(rate('scrapifie_jobs_accepted_total', 'kind'), '{{kind}}'),
        ]),
        stacked('Jobs ended', 'reqps', 'By status.', [
          query(rate('scrapifie_job_duration_seconds_count', 'status'), '{{status}}'),
        ]),
        graph('Job duration p95', 's', 'From acceptance to end.', [
          query(percentile(0.95, 'scrapifie_job_duration_seconds', 'kind'), '{{kind}}'),
        ]),
      ],
    },
    {
      title: 'API',
      panels: [
        stacked('Requests by status', 'reqps', 'Answers of all processes.', [
          query(rate('scrapifie_http_requests_total', 'status'), '{{status}}'),
        ]),
        graph('Request time p95 by route', 's', 'The ten slowest routes; some wait for pages by design.', [
          query(
            `topk(10, ${percentile(0.95, 'scrapifie_http_request_duration_seconds', 'route')})`,
            '{{route}}',
          ),
        ]),
        graph('Refused', 'reqps', 'Wrong keys, and connections that the API closed by itself.', [
          query(rate('scrapifie_failed_logins_total', 'limited'), 'wrong key, limited: {{limited}}'),
          query(rate('scrapifie_closed_connections_total', 'why'), 'closed: {{why}}'),
        ]),
      ],
    },
    {
      title: 'Around the crawl',
      panels: [
        stacked('Webhook attempts', 'reqps', 'By outcome.', [
          query(rate('scrapifie_delivery_attempts_total', 'outcome'), '{{outcome}}'),
        ]),
        graph('Webhooks waiting', 'short', 'Events that wait to be sent.', [
          query('max by (installation) (scrapifie_deliveries_pending)', 'pending'),
        ]),
        graph('Schedules', 'reqps', 'Runs of schedules by decision.', [
          query(rate('scrapifie_schedule_runs_total', 'decision'), '{{decision}}'),
        ]),
        graph('Monitor checks', 'reqps', 'Checks, and the changes that they found.', [
          query(rate('scrapifie_monitor_checks_total', 'result'), 'check: {{result}}'),
          query(rate('scrapifie_monitor_changes_total'), 'changes'),
        ]),
        graph('Exports', 'reqps', 'Attempts to write an export.', [
          query(rate('scrapifie_exports_total', 'format, result'), '{{format}}: {{result}}'),
        ]),
        graph('Exported', 'Bps', 'Bytes of exports that are ready.', [
          query(rate('scrapifie_exported_bytes_total'), 'bytes'),
        ]),
      ],
    },
  ],
};
