import type { DashboardSource } from './panels.ts';
import { gauge, graph, percentile, percentiles, query, rate, stat, table } from './queries.ts';

export const fleet: DashboardSource = {
  name: 'fleet',
  title: 'fleet health',
  description: 'Processes, what they depend on, and how much room they have.',
  rows: [
    {
      title: 'Processes',
      panels: [
        stat(
          'Processes down',
          'short',
          'Targets that give no metrics.',
          [query('sum by (installation) (up{job="scrapifie"} == bool 0)')],
          { limits: [1, 2] },
        ),
        stat(
          'Parts down',
          'short',
          'Database, queue or place of bodies, over all processes.',
          [query('sum by (installation) (scrapifie_part_up == bool 0)')],
          { limits: [1, 1] },
        ),
        gauge('Fetch slots used', 'percentunit', 'Mean over workers.', [
          query('avg by (installation) (scrapifie:fetch_slots_used:ratio)'),
        ]),
        gauge('Browser pages used', 'percentunit', 'Mean over processes with browsers.', [
          query('avg by (installation) (scrapifie:browser_pages_used:ratio)'),
        ]),
        table('Versions and roles', 'short', 'Processes of each version.', [
          query('count by (installation, version, role, node) (scrapifie_info)'),
        ]),
        table('Known processes', 'short', 'As the API and the scheduler have heard of them.', [
          query('max by (installation, role) (scrapifie_processes)'),
        ]),
      ],
    },
    {
      title: 'Load',
      byProcess: true,
      panels: [
        graph('CPU', 'percentunit', 'Cores that each process uses.', [
          query('rate(process_cpu_seconds_total{job="scrapifie"}[$__rate_interval])', '{{instance}}'),
        ]),
        graph('Memory', 'bytes', 'Resident, of each process.', [
          query('process_resident_memory_bytes{job="scrapifie"}', '{{instance}}'),
        ]),
        graph('Event loop delay p99', 's', 'How long the main thread was held up.', [
          query(percentile(0.99, 'scrapifie_event_loop_delay_seconds', 'instance'), '{{instance}}'),
        ]),
        graph('Fetches under way', 'short', 'And how many each worker may have.', [
          query('scrapifie_in_flight_fetches', '{{instance}}'),
          query('max by (installation) (scrapifie_fetch_slots)', 'slots of one'),
        ]),
        graph('Unread by clients', 'bytes', 'Answers that clients have not read yet.', [
          query('scrapifie_unread_bytes', '{{instance}}'),
        ]),
        graph('Disk', 'bytes', 'Free where the data folder is, for installations without servers.', [
          query('scrapifie_disk_free_bytes', '{{instance}} free'),
          query('scrapifie_disk_size_bytes', '{{instance}} size'),
        ]),
      ],
    },
    {
      title: 'Database, queue, bodies',
      panels: [
        graph(
          'Commit time',
          's',
          'One transaction of the ledger.',
          percentiles('scrapifie_ledger_commit_duration_seconds'),
        ),
        graph('URLs in a commit', 'short', 'Mean.', [
          query(
            `${rate('scrapifie_ledger_commit_tasks_sum')} / (${rate('scrapifie_ledger_commit_tasks_count')} > 0)`,
            'URLs',
          ),
        ]),
        graph('Errors of parts', 'reqps', 'Calls that failed through no fault of the caller.', [
          query(rate('scrapifie_part_errors_total', 'part, code'), '{{part}}: {{code}}'),
        ]),
        graph('Redis commands', 'reqps', 'Sent by each process.', [
          query('rate(scrapifie_redis_commands_total[$__rate_interval])', '{{instance}}'),
        ]),
        graph('Reader lag', 's', 'How far readers of events are behind.', [
          query('max by (installation, reader) (scrapifie_reader_lag_seconds)', '{{reader}}'),
        ]),
        graph('Late', 's', 'Oldest webhook that waits, and the schedule that is due for longest.', [
          query('max by (installation) (scrapifie_deliveries_oldest_seconds)', 'webhooks'),
          query('max by (installation) (scrapifie_schedule_overdue_seconds)', 'schedules'),
        ]),
        graph(
          'Webhook time',
          's',
          'One attempt at a delivery.',
          percentiles('scrapifie_delivery_duration_seconds'),
        ),
        graph('Schedule delay p95', 's', 'How long after its tick a run was started.', [
          query(percentile(0.95, 'scrapifie_schedule_delay_seconds'), 'p95'),
        ]),
        graph('Export time p95', 's', 'By format.', [
          query(percentile(0.95, 'scrapifie_export_duration_seconds', 'format'), '{{format}}'),
        ]),
      ],
    },
  ],
};
