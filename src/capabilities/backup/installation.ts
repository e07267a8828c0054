import type { Settings } from '../../core/config/settings.ts';
import type { VaultSettings } from '../../core/config/vault-keys.ts';
import type { BackupBegin, Figures } from './backup-parts.ts';

/** Where an installation keeps everything, with the keys of its vault. */
export type Installation = VaultSettings &
  Pick<Settings, 'databaseUrl' | 'databasePool' | 'dataDir' | 's3Url' | 'spillBytes'>;

/** A folder, or a prefix of a bucket. */
export type FilePlace = { readonly folder: string } | { readonly s3Url: string };

/** One backup: where it is, and its name there. */
export interface BackupRef {
  readonly place: FilePlace;
  readonly name: string;
}

/** What a backup holds, or what was restored or moved. */
export interface BackupReport extends Figures {
  readonly id: string;
  readonly createdAt: number;
  readonly profile: BackupBegin['profile'];
  readonly vault: VaultReport;
}

export interface VaultReport {
  /** Id of the key that the secrets are sealed with; null when the installation has no vault. */
  readonly keyId: string | null;
  /** Whether the key is in the backup. */
  readonly isIncluded: boolean;
  /** The place has the key, or needs none. */
  readonly isKnown: boolean;
  /** Where the key was written to; null where it was not. */
  readonly writtenTo: string | null;
}

export interface BackupOptions {
  readonly hasVaultKey: boolean;
  /** Reads the backup once more from beginning to end when it is written. */
  readonly isVerified: boolean;
  readonly signal?: AbortSignal;
}

export interface BackupTools {
  /** Writes a backup of an installation, beside running servers. Throws CONFLICT when there is a file of this name. */
  makeBackup(from: Installation, to: BackupRef, options: BackupOptions): Promise<BackupReport>;
  /** Reads a whole backup and checks everything in it. Throws BACKUP_DAMAGED. */
  checkBackup(backup: BackupRef): Promise<BackupReport>;
  /**
   * Restores a backup into an empty place; throws PLACE_NOT_EMPTY. Nothing is written there before the whole backup was
   * found to be right. One that was interrupted goes on when it is called again.
   */
  restoreBackup(backup: BackupRef, to: Installation): Promise<BackupReport>;
  /**
   * Copies an installation that no server works on to an empty place, and leaves it as it is. One that was interrupted
   * goes on when it is called again. Throws DATA_DIR_LOCKED, STORE_IN_USE or PLACE_NOT_EMPTY.
   */
  moveInstallation(from: Installation, to: Installation): Promise<BackupReport>;
}
