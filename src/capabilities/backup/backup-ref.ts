import { basename, dirname, resolve } from 'node:path';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { BackupRef, FilePlace } from './installation.ts';

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
