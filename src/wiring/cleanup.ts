import { sweepExportFiles } from '../capabilities/exports/export-file.ts';
import { type BlobSweepParts, sweepBlobs } from '../capabilities/jobs/maintenance/blob-sweep.ts';
import type { MaintenanceDeps } from '../capabilities/jobs/maintenance/maintenance.ts';
import { sweepIndex } from '../capabilities/query/search/search-reader.ts';
import {
  applyRetention,
  deleteAccounts,
  purgeAll,
  type RetentionParts,
} from '../capabilities/retention/apply-retention.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Files } from '../core/ports/blobs.ts';
import type { ExportStore } from '../core/ports/export-store.ts';
import type { SearchIndex, SearchStore } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';

interface ExportSweepParts {
  readonly store: Pick<ExportStore, 'knownExports'>;
  readonly exportFiles: Files;
}

interface SearchSweepParts {
  readonly store: SearchStore;
  readonly search: SearchIndex;
}

/** What maintenance does about data whose time is over, and blobs that nothing refers to; null where the settings say never. */
export function cleanupOf(
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
export const purgeOf =
  (store: Store) =>
  async (signal: AbortSignal): Promise<void> => {
    await deleteAccounts(store, { signal, mostSteps: PURGES_PER_TICK });
    await purgeAll(store, signal, PURGES_PER_TICK);
  };
