/** A backup that a server has written, by its name. */
export interface DatedBackup {
  readonly name: string;
  readonly at: number;
}

export interface BackupKeeping {
  /** Days of which the newest backup is kept. */
  readonly daily: number;
  /** Weeks of which the newest backup is kept. */
  readonly weekly: number;
}

const NAME = /^scrapifie-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.backup$/;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970 began on a Thursday; weeks begin on Monday. */
const MONDAY_MS = 4 * DAY_MS;

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
