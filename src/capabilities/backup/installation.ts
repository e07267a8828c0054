import { basename, dirname, resolve } from 'node:path';
import type { Settings } from '../../core/config/settings.ts';
import type { VaultSettings } from '../../core/config/vault-keys.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { urlPart } from '../../lib/url-part.ts';
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

const S3 = /^s3:\/\/([^/]+)\/?(.*)$/;

/** `FILE`, or `s3://bucket/path/name` in the object store of `s3Url`. Throws INVALID_USAGE. */
export function backupRefOf(text: string, cwd: string, s3Url: string | undefined): BackupRef {
  const [, bucket, key = ''] = S3.exec(text) ?? [];
  if (bucket === undefined) {
    const path = resolve(cwd, text);
    return { place: { folder: dirname(path) }, name: basename(path) };
  }
  const name = key.slice(key.lastIndexOf('/') + 1);
  if (name === '') throw new ScrapifieError('INVALID_USAGE', `${text} names no file: s3://bucket/path/name.`);
  return { place: bucketPlace(bucket, key.slice(0, key.length - name.length), s3Url), name };
}

/** A folder, or `s3://bucket/path`. */
export function filePlaceOf(text: string, cwd: string, s3Url: string | undefined): FilePlace {
  const [, bucket, prefix = ''] = S3.exec(text) ?? [];
  return bucket === undefined ? { folder: resolve(cwd, text) } : bucketPlace(bucket, prefix, s3Url);
}

function bucketPlace(bucket: string, prefix: string, s3Url: string | undefined): FilePlace {
  if (s3Url === undefined) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      's3:// needs the address and the keys of an object store: set SCRAPIFIE_BACKUP_S3_URL or SCRAPIFIE_S3_URL.',
    );
  }
  const url = new URL(s3Url);
  if (url.searchParams.get('virtualHost') === 'true') {
    const [label] = url.hostname.split('.');
    if (label !== bucket) {
      throw new ScrapifieError(
        'INVALID_USAGE',
        `The address of the object store is for bucket ${label} alone.`,
      );
    }
  }
  url.pathname = `/${[bucket, ...prefix.split('/')]
    .filter((part) => part !== '')
    .map(urlPart)
    .join('/')}`;
  return { s3Url: url.href };
}
