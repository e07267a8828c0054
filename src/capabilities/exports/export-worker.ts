import { ERRORS, type ErrorCode, EXIT } from '../../core/errors/registry.ts';
import { asScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Export } from '../../core/model/export.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { ExportResult, WorkMetrics } from '../../core/observe/metrics/work-metrics.ts';
import type { Files } from '../../core/ports/blobs.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { ExportEnd, ExportLease, ExportProgress, ExportStore } from '../../core/ports/export-store.ts';
import { waitAtMost } from '../../lib/waits.ts';
import { removeFiles } from './export-file.ts';

/** Writes the exports that are due, in each process that has the duty; any number of them may. */
export interface ExportWorker {
  start(): void;
  /** Gives back what is being written, and takes nothing more. */
  stop(limitMs: number): Promise<void>;
}

/** The error as the export tells its clients: faults of this installation are described without paths and addresses. */
export function toldError(error: unknown): { readonly code: ErrorCode; readonly message: string } {
  const { code, message, spec } = asScrapifieError(error);
  return { code, message: spec.exitCode === EXIT.environment ? spec.meaning : message };
}

/** Writes the file of one export. Rejects when the signal ends, and when it makes no progress for too long. */
export type MakeExport = (
  claimed: Export,
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
) => Promise<ExportEnd>;

export interface ExportWorkerDeps {
  readonly store: Pick<
    ExportStore,
    'claimExport' | 'renewExport' | 'finishExport' | 'failExport' | 'releaseExport'
  >;
  /** Tells of new exports; one that is not heard of is found a second later. */
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly files: Files;
  readonly make: MakeExport;
  readonly logger: Logger;
  readonly metrics: Pick<WorkMetrics, 'exportEnded'>;
}

/**
 * The memory of a thread that writes an export. Rows die young or with their batch: a small nursery keeps the process small.
 */
export const EXPORT_THREAD = { youngMb: 6, oldMb: 512 };

/** How often to look when nothing happens. */
const IDLE_MS = 1_000;
const ERROR_MS = 5_000;
const LEASE_MS = 30_000;
const RENEW_MS = 5_000;
/** Exports that this process writes at once: each takes a thread. */
const MOST_AT_ONCE = 1;
/** Failures after which an export is given up; an export whose process died counts too, because it may have killed it. */
const MOST_FAILURES = 4;
const FIRST_RETRY_MS = 5_000;

export function createExportWorker(deps: ExportWorkerDeps): ExportWorker {
  const { store, bus, files, make, logger, metrics } = deps;
  let unsubscribe = (): void => undefined;
  const stopping = new AbortController();
  let wake = (): void => undefined;
  let loops: Promise<unknown> = Promise.resolve();

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (stopping.signal.aborted) wake();
    });

  /** Accounts take turns: one whose exports wait in number must not keep those of others waiting. */
  async function loop(): Promise<void> {
    let lastServed: AccountId | null = null;
    while (!stopping.signal.aborted) {
      try {
        const claimed: Export | null = await store.claimExport(LEASE_MS, lastServed);
        lastServed = claimed?.accountId ?? lastServed;
        if (claimed === null) await pause(IDLE_MS);
        else await work(claimed);
      } catch (error) {
        if (stopping.signal.aborted) return;
        logger.warn({ err: error }, 'exports: none was claimed');
        await pause(ERROR_MS);
      }
    }
  }

  async function work(claimed: Export): Promise<void> {
    const lease: ExportLease = { id: claimed.id, attempt: claimed.attempts };
    const details = { exportId: claimed.id, jobId: claimed.jobId, attempt: claimed.attempts };
    if (claimed.failures > MOST_FAILURES) {
      const message = `The export was begun ${claimed.attempts} times, and each time the process ended before it was written.`;
      await store.failExport(lease, { code: 'EXPORT_FAILED', message }, null);
      logger.error(details, 'exports: an export was given up');
      return;
    }
    const lost = new AbortController();
    let progress: ExportProgress = { rows: 0, sizeBytes: 0 };
    const startedAt = performance.now();
    const count = (result: ExportResult, bytes: number) =>
      metrics.exportEnded(claimed.spec.format, result, performance.now() - startedAt, bytes);
    const renewing = setInterval(() => {
      store.renewExport(lease, progress, LEASE_MS).then(
        (isHeld) => {
          if (!isHeld) lost.abort();
        },
        // The lease outlasts a short absence of the store; after a long one another process has it.
        (error) => logger.warn({ err: error, ...details }, 'exports: a lease was not renewed'),
      );
    }, RENEW_MS);
    try {
      const end = await make(
        claimed,
        (now) => {
          progress = now;
        },
        AbortSignal.any([stopping.signal, lost.signal]),
      );
      if (await store.finishExport(lease, end)) {
        count('ready', end.sizeBytes);
        logger.info({ ...details, ...end }, 'exports: an export is ready');
        return;
      }
      lost.abort();
      await removeFiles(claimed, files);
    } catch (error) {
      if (lost.signal.aborted) return;
      if (stopping.signal.aborted) return await store.releaseExport(lease);
      const shown = toldError(error);
      const isOver = ERRORS[shown.code].retry === 'never' || claimed.failures + 1 > MOST_FAILURES;
      logger.warn({ err: error, ...details, isOver }, 'exports: an export was not written');
      await store.failExport(lease, shown, isOver ? null : retryMs(claimed.failures));
      count(isOver ? 'failed' : 'retried', 0);
    } finally {
      clearInterval(renewing);
    }
  }

  return {
    start() {
      unsubscribe = bus.subscribe('export.created', () => wake());
      loops = Promise.all(Array.from({ length: MOST_AT_ONCE }, loop));
    },
    async stop(limitMs) {
      unsubscribe();
      stopping.abort();
      wake();
      await waitAtMost(limitMs, loops);
    },
  };
}

const retryMs = (failures: number): number => FIRST_RETRY_MS * 4 ** Math.min(failures, 4);
