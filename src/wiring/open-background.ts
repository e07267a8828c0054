import type { Capabilities } from '../capabilities/capabilities.ts';
import { sweepExportFiles } from '../capabilities/exports/export-file.ts';
import { type BlobSweepParts, sweepBlobs } from '../capabilities/jobs/maintenance/blob-sweep.ts';
import {
  createMaintenance,
  type Maintenance,
  type MaintenanceDeps,
} from '../capabilities/jobs/maintenance/maintenance.ts';
import { stopFullAccounts } from '../capabilities/jobs/maintenance/stop-full-accounts.ts';
import { runRechecks } from '../capabilities/monitors/monitor-jobs.ts';
import { sweepIndex } from '../capabilities/query/search/search-reader.ts';
import {
  applyRetention,
  deleteAccounts,
  purgeAll,
  type RetentionParts,
} from '../capabilities/retention/apply-retention.ts';
import {
  eventsMsOf,
  installationLimits,
  limitsOfAccount,
} from '../capabilities/retention/retention-admin.ts';
import { createScheduleClock, type RunDeps } from '../capabilities/schedules/schedule-runs.ts';
import type { Sessions } from '../capabilities/sessions/sessions.ts';
import type { Deliverers } from '../capabilities/webhooks/deliverer.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Files } from '../core/ports/blobs.ts';
import type { ExportStore } from '../core/ports/export-store.ts';
import type { SearchIndex, SearchStore } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import { waitAtMost } from '../lib/waits.ts';
import { openExportWorker } from './open-exports.ts';
import type { OpenLake } from './open-lake.ts';
import type { Places } from './open-places.ts';
import { openDeliveries, openReaders, type Readers } from './open-readers.ts';
import { openScheduledBackups } from './scheduled-backups.ts';
import type { ThisProcess } from './this-process.ts';

/** What a process with the duty does beside requests and crawls. */
export interface Background {
  /** How far its readers of events are behind. */
  readonly lags: Readers['lags'];
  /** Resolves when the readers have read all that could be read when this was called. */
  settle(): Promise<void>;
  start(): Promise<void>;
  /** Begins nothing more, and ends the deliveries under way. Rounds of maintenance are not waited for longer than `limitMs`. */
  stop(limitMs: number): Promise<void>;
  /** Reads and writes what was committed last, for `limitMs` at most. To be called after the crawl has stopped. */
  finish(limitMs: number): Promise<void>;
}

interface BackgroundUses {
  readonly capabilities: Pick<Capabilities, 'jobs' | 'vault'>;
  readonly sessions: Sessions;
  readonly lake: OpenLake;
  readonly deliverers: Deliverers;
  /** Host slices that this process works on. */
  readonly activeSlices: () => number;
  /** False: the caller writes the exports of its jobs. */
  readonly writesExports: boolean;
}

export async function openBackground(
  process: ThisProcess,
  places: Places,
  { capabilities, sessions, lake, deliverers, activeSlices, writesExports }: BackgroundUses,
): Promise<Background> {
  const { owner, isShared, logger, metrics, closers } = process;
  const { settings, store, front, blobs, search, queue, exportFiles, now } = places;
  const { jobs, vault } = capabilities;
  const { bus } = places.links;
  const maintenance = await openMaintenance(process, places, sessions);
  const deliveries = openDeliveries({ settings, deliverers, store, blobs, bus, vault, now, logger, metrics });
  closers.users.push(() => deliveries.close());
  // What jobs leave besides their pages; each reader is at work only while a job asks for it.
  const readers = openReaders({
    ...{ store, blobs, search, bus, logger, metrics, writesExports, activeSlices },
    ...{ owner: isShared ? owner : null, lake: lake.reader },
  });
  const exportWorker = writesExports
    ? openExportWorker({ settings, store, bus, files: exportFiles, logger, metrics })
    : null;
  const lakeKeeper = lake.openKeeper(queue);
  const onDecided: RunDeps['onDecided'] = (decision, { tickAt }) =>
    metrics.runDecided(decision, now() - tickAt);
  const turn = { store: front, jobs, vault, logger, onDecided };
  const scheduleClock = createScheduleClock({ ...turn, queue, alongside: () => runRechecks(turn) });
  return {
    lags: readers.lags,
    settle: readers.settle,
    async start() {
      await maintenance.start();
      await scheduleClock.start();
      deliveries.start();
      readers.start();
      exportWorker?.start();
      await lakeKeeper.start();
    },
    async stop(limitMs) {
      // A round of maintenance that hangs is harmless: another process, or the next start, makes up for it.
      const ticked = waitAtMost(
        limitMs,
        Promise.all([maintenance.stop(), scheduleClock.stop(), lakeKeeper.stop()]),
      );
      await Promise.all([ticked, deliveries.stop(limitMs)]);
    },
    async finish(limitMs) {
      await readers.stop(limitMs);
      await exportWorker?.stop(limitMs);
    },
  };
}

async function openMaintenance(
  { logger, closers }: ThisProcess,
  { settings, store, blobs, exportFiles, search, transit, queue, links: { bus }, now }: Places,
  sessions: Sessions,
): Promise<Maintenance> {
  const installation = installationLimits(settings);
  const backups = await openScheduledBackups(settings, now, logger);
  closers.places.push(() => backups?.close());
  return createMaintenance({
    ...{ store, queue, bus, now, backups, purge: purgeOf(store) },
    sweepSessions: sessions.sweep,
    stopFullAccounts: () => stopFullAccounts({ store, bus }),
    cleanup: cleanupOf(
      settings,
      {
        ...{ store, blobs, search, transit, exportFiles },
        limitsOf: (id) => limitsOfAccount(store, id, installation),
        eventsMs: eventsMsOf(settings),
      },
      logger,
    ),
  });
}

interface ExportSweepParts {
  readonly store: Pick<ExportStore, 'knownExports'>;
  readonly exportFiles: Files;
}

interface SearchSweepParts {
  readonly store: SearchStore;
  readonly search: SearchIndex;
}

/** What maintenance does about data whose time is over, and blobs that nothing refers to; null where the settings say never. */
function cleanupOf(
  settings: Settings,
  parts: BlobSweepParts & RetentionParts & ExportSweepParts & SearchSweepParts,
  logger: Logger,
): MaintenanceDeps['cleanup'] {
  const { cleanupMinutes, cleanupGraceHours } = settings;
  if (cleanupMinutes === 0) return null;
  return {
    everyMs: cleanupMinutes * 60_000,
    async run(signal) {
      try {
        const expired = await applyRetention(parts, { signal });
        if (Object.values(expired).some(({ items }) => items > 0)) {
          logger.info({ ...expired }, 'retention: data whose time was over was deleted');
        }
      } catch (error) {
        // The next one finds what this one has left.
        logger.warn({ err: error }, 'retention: the deletion of old data was not finished');
      }
      try {
        await sweepExportFiles(parts.store, parts.exportFiles, signal);
      } catch (error) {
        // The next one lists what this one has left.
        logger.warn({ err: error }, 'exports: the removal of files without an export was not finished');
      }
      try {
        const removed = await sweepIndex({ store: parts.store, index: parts.search }, signal);
        if (removed > 0) logger.info({ removed }, 'search: entries of deleted pages were removed');
      } catch (error) {
        // The next one finds what this one has left; nothing of it is shown meanwhile.
        logger.warn({ err: error }, 'search: the removal of entries was not finished');
      }
      try {
        const report = await sweepBlobs(parts, { graceMs: cleanupGraceHours * 3_600_000, signal });
        if (report !== null) logger.info({ ...report }, 'blobs: unreferenced ones removed');
      } catch (error) {
        // The next one lists what this one has left.
        logger.warn({ err: error }, 'blobs: the removal of unreferenced ones was not finished');
      }
    },
  };
}

/** Rows that a round of maintenance deletes at most: a thousand times this. */
const PURGES_PER_TICK = 10;

/** Deletes a part of what accounts that are being deleted have, and of what has expired. */
const purgeOf =
  (store: Store) =>
  async (signal: AbortSignal): Promise<void> => {
    await deleteAccounts(store, { signal, mostSteps: PURGES_PER_TICK });
    await purgeAll(store, signal, PURGES_PER_TICK);
  };
