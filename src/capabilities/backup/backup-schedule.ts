import type { Logger } from '../../core/observe/logger.ts';
import type { Files } from '../../core/ports/files.ts';
import { type BackupKeeping, backupNameAt, backupsToRemove, datedBackupOf } from './retention.ts';

export interface BackupScheduleParts {
  readonly files: Pick<Files, 'list' | 'remove' | 'removeRemains'>;
  /** Writes a backup of this name and verifies it. */
  readonly make: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly now: () => number;
  readonly everyMs: number;
  readonly keep: BackupKeeping;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/** After a failure the next try waits this long, or until the next backup would be due. */
const RETRY_MS = 900_000;

/**
 * Makes a backup when the newest one is old enough. Which ones there are, the place says: so the time of the next one does
 * not depend on when a process was started, nor on which. Old backups are removed right after one was written and
 * verified, and never otherwise.
 */
export function createBackupSchedule(parts: BackupScheduleParts): (signal: AbortSignal) => Promise<void> {
  const { files, make, now, everyMs, keep, logger } = parts;
  let failedAt = Number.NEGATIVE_INFINITY;

  const dated = async () =>
    (await files.list()).flatMap(({ name }) => {
      const backup = datedBackupOf(name);
      return backup === null ? [] : [backup];
    });

  return async (signal) => {
    if (now() - failedAt < Math.min(RETRY_MS, everyMs)) return;
    try {
      const newestAt = Math.max(Number.NEGATIVE_INFINITY, ...(await dated()).map(({ at }) => at));
      if (now() - newestAt < everyMs) return;
      const name = backupNameAt(now());
      await make(name, signal);
      logger.info({ name }, 'backup: written and verified');
      const old = backupsToRemove(await dated(), keep, now());
      for (const backup of old) await files.remove(backup.name);
      if (old.length > 0)
        logger.info({ names: old.map((backup) => backup.name) }, 'backup: old ones removed');
      await files.removeRemains();
    } catch (error) {
      if (signal.aborted) return;
      failedAt = now();
      logger.error({ err: error }, 'backup: failed; the backups before are kept');
    }
  };
}
