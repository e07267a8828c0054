import { JOB_KINDS } from '../../model/job-kinds.ts';
import { LabelGuard, type MetricMakers } from './makers.ts';

/** How an attempt at a delivery ended: `retried` ones are made again, `refused` ones never, `gone` disables the webhook. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'refused' | 'gone';
/** How a run of a schedule was decided. */
export type RunDecision = 'started' | 'skipped' | 'refused';
/** How an attempt to write an export ended. */
export type ExportResult = 'ready' | 'retried' | 'failed';
/** What this process needs to work: its database, its queue, and the place of bodies. */
export const COUNTED_PARTS = ['store', 'queue', 'blobs'] as const;
export type CountedPart = (typeof COUNTED_PARTS)[number];

/** A job that has ended. */
export interface EndedJob {
  readonly kind: string;
  readonly status: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** What this process counts of the work around the crawl. */
export interface WorkMetrics {
  jobAccepted(kind: string): void;
  /** Called once for each end of a job, by the process that ended it; a job that goes on is not counted. */
  jobEnded(job: EndedJob): void;
  deliveryAttempted(outcome: DeliveryOutcome, durationMs: number): void;
  /** `lateMs`: how long after its tick the run was decided. */
  runDecided(decision: RunDecision, lateMs: number): void;
  monitorChecked(changes: number): void;
  exportEnded(format: string, result: ExportResult, durationMs: number, bytes: number): void;
  /** A call of a part failed through no fault of its caller. */
  partFailed(part: CountedPart, code: string): void;
  /** A part was found to be away, or to be back. */
  partChanged(part: CountedPart, isUp: boolean): void;
}

const JOB_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 21_600, 86_400];
const SEND_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LATE_SECONDS = [1, 2, 5, 15, 60, 300, 1_800, 7_200];
const EXPORT_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

export function createWorkMetrics(make: MetricMakers): WorkMetrics {
  const formats = new LabelGuard(/^[a-z][a-z0-9+.-]{0,19}$/, 20);
  const codes = new LabelGuard(/^[A-Z][A-Z0-9_]{0,39}$/, 50);
  const isUp = new Map<CountedPart, boolean>(COUNTED_PARTS.map((part) => [part, true]));

  const accepted = make.counter(
    'scrapifie_jobs_accepted_total',
    'Jobs that this process accepted.',
    ['kind'],
    JOB_KINDS.map((kind) => ({ kind })),
  );
  const jobTime = make.timer(
    'scrapifie_job_duration_seconds',
    'Time from the acceptance of a job to its end, counted by the process that ended it.',
    JOB_SECONDS,
    ['kind', 'status'],
  );
  const deliveries = make.counter(
    'scrapifie_delivery_attempts_total',
    'Attempts to send an event to a webhook, by how they ended.',
    ['outcome'],
    (['delivered', 'retried', 'refused', 'gone'] as const).map((outcome) => ({ outcome })),
  );
  const deliveryTime = make.timer(
    'scrapifie_delivery_duration_seconds',
    'Time of one attempt to send an event to a webhook.',
    SEND_SECONDS,
  );
  const runs = make.counter(
    'scrapifie_schedule_runs_total',
    'Runs of schedules, by how they were decided.',
    ['decision'],
    (['started', 'skipped', 'refused'] as const).map((decision) => ({ decision })),
  );
  const runDelay = make.timer(
    'scrapifie_schedule_delay_seconds',
    'How long after its tick a run of a schedule was started.',
    LATE_SECONDS,
  );
  const checks = make.counter(
    'scrapifie_monitor_checks_total',
    'Checks of monitors that were evaluated.',
    ['result'],
    [{ result: 'changed' }, { result: 'unchanged' }],
  );
  const changes = make.counter('scrapifie_monitor_changes_total', 'Changes that checks of monitors found.');
  const exports = make.counter('scrapifie_exports_total', 'Attempts to write an export, by how they ended.', [
    'format',
    'result',
  ]);
  const exportTime = make.timer(
    'scrapifie_export_duration_seconds',
    'Time to write one export.',
    EXPORT_SECONDS,
    ['format'],
  );
  const exportedBytes = make.counter('scrapifie_exported_bytes_total', 'Bytes of exports that are ready.');
  const partErrors = make.counter(
    'scrapifie_part_errors_total',
    'Calls of the database, the queue or the place of bodies that failed through no fault of the caller.',
    ['part', 'code'],
    [
      { part: 'store', code: 'STORE_UNAVAILABLE' },
      { part: 'queue', code: 'QUEUE_UNAVAILABLE' },
      { part: 'blobs', code: 'BLOBS_UNAVAILABLE' },
    ],
  );
  make.gauges(
    'scrapifie_part_up',
    'Whether the database, the queue and the place of bodies worked when this process last used them.',
    ['part'],
    () => [...isUp].map(([part, up]) => ({ labels: { part }, value: up ? 1 : 0 })),
  );

  return {
    jobAccepted: (kind) => accepted.inc({ kind }),
    jobEnded({ kind, status, createdAt, finishedAt }) {
      if (finishedAt !== null) jobTime(Math.max(0, finishedAt - createdAt), { kind, status });
    },
    deliveryAttempted(outcome, durationMs) {
      deliveries.inc({ outcome });
      deliveryTime(durationMs);
    },
    runDecided(decision, lateMs) {
      runs.inc({ decision });
      if (decision === 'started') runDelay(Math.max(0, lateMs));
    },
    monitorChecked(found) {
      checks.inc({ result: found === 0 ? 'unchanged' : 'changed' });
      changes.inc(found);
    },
    exportEnded(format, result, durationMs, bytes) {
      const shown = formats.admit(format);
      exports.inc({ format: shown, result });
      exportTime(durationMs, { format: shown });
      if (result === 'ready') exportedBytes.inc(bytes);
    },
    partFailed: (part, code) => partErrors.inc({ part, code: codes.admit(code) }),
    partChanged: (part, up) => void isUp.set(part, up),
  };
}
