import { createBackupSchedule } from '../capabilities/backup/backup-schedule.ts';
import {
  type BackupRef,
  type BackupReport,
  filePlaceOf,
  type Installation,
} from '../capabilities/backup/installation.ts';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import { siblingModule } from '../lib/threads/thread.ts';
import { ThreadClient } from '../lib/threads/thread-client.ts';
import { openFiles } from './open-blobs.ts';

export interface BackupThreadData {
  readonly from: Installation;
  readonly to: BackupRef;
}

export interface BackupMethods {
  make(data: BackupThreadData): Promise<BackupReport>;
}

export interface ScheduledBackups {
  readonly everyMs: number;
  /** Makes a backup if one is due. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How often it is asked whether a backup is due. */
const LOOK_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The backups that the settings ask for; null where they ask for none. */
export async function openScheduledBackups(
  settings: Settings,
  now: () => number,
  logger: Logger,
): Promise<ScheduledBackups | null> {
  const { backupTo, backupS3Url, s3Url, backupHours, backupKeepDaily, backupKeepWeekly } = settings;
  if (backupTo === undefined) return null;
  const place = filePlaceOf(backupTo, process.cwd(), backupS3Url ?? s3Url);
  const files = await openFiles(place);
  const run = createBackupSchedule({
    files,
    make: (name, signal) => makeInThread({ from: placesOf(settings), to: { place, name } }, signal),
    now,
    everyMs: backupHours * HOUR_MS,
    keep: { daily: backupKeepDaily, weekly: backupKeepWeekly },
    logger,
  });
  return { everyMs: LOOK_MS, run, close: () => files.close() };
}

/** Plain data, and no more than a backup needs. */
function placesOf(settings: Settings): Installation {
  const { databaseUrl, databasePool, dataDir, s3Url, spillBytes } = settings;
  const { vaultKey, vaultOldKeys, vaultKeyPath, allowPlainSecrets } = settings;
  return {
    ...{ databaseUrl, databasePool, dataDir, s3Url, spillBytes },
    ...{ vaultKey, vaultOldKeys, vaultKeyPath, allowPlainSecrets },
  };
}

/** What a thread that is ended has written by then has no name of a backup yet. */
async function makeInThread(data: BackupThreadData, signal: AbortSignal): Promise<BackupReport> {
  const thread = new ThreadClient<BackupMethods>({
    name: 'backup',
    entry: siblingModule('./backup-thread.ts', import.meta.url),
    memory: { youngMb: 24, oldMb: 1_024 },
    errorOf: ({ cause }) => cause ?? new ScrapifieError('CANCELLED', 'The backup was stopped.'),
  });
  try {
    return await thread.call('make', [data], { signal });
  } finally {
    await thread.close();
  }
}
