import type { Logger } from '../../core/observe/logger.ts';
import type { Files } from '../../core/ports/blobs.ts';

interface BackupScheduleParts {
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

const NAME = /^scrapifie-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.backup$/;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970 began on a Thursday; weeks begin on Monday. */
const MONDAY_MS = 4 * DAY_MS;

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

/** A backup that a server has written, by its name. */
interface DatedBackup {
  readonly name: string;
  readonly at: number;
}

interface BackupKeeping {
  /** Days of which the newest backup is kept. */
  readonly daily: number;
  /** Weeks of which the newest backup is kept. */
  readonly weekly: number;
}

/** Returns the name of a backup that was made then, such as `scrapifie-20260131T120000Z.backup`. */
export function backupNameAt(at: number): string {
  const digits = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');
  return `scrapifie-${digits}.backup`;
}

/** Returns null for a file whose name is not that of a backup by the server: such a file is left alone. */
export function datedBackupOf(name: string): DatedBackup | null {
  const [, ...digits] = NAME.exec(name) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = digits.map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  return digits.length > 0 && backupNameAt(at) === name ? { name, at } : null;
}

/**
 * Which backups are kept no longer: all of the last 24 hours are kept, then the newest of each day and of each week, in
 * UTC, as far back as `keep` says. Days and weeks without a backup do not count. The newest backup is always kept.
 */
export function backupsToRemove(
  backups: readonly DatedBackup[],
  keep: BackupKeeping,
  now: number,
): readonly DatedBackup[] {
  const newestFirst = backups.toSorted((a, b) => b.at - a.at);
  const kept = new Set(newestFirst.filter(({ at }, place) => place === 0 || at > now - DAY_MS));
  const keepNewest = (count: number, periodOf: (at: number) => number) => {
    const periods = new Set<number>();
    for (const backup of newestFirst) {
      const period = periodOf(backup.at);
      if (periods.has(period) || periods.size >= count) continue;
      periods.add(period);
      kept.add(backup);
    }
  };
  keepNewest(keep.daily, (at) => Math.floor(at / DAY_MS));
  keepNewest(keep.weekly, (at) => Math.floor((at - MONDAY_MS) / WEEK_MS));
  return newestFirst.filter((backup) => !kept.has(backup));
}
