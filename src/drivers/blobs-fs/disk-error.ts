import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EACCES: 'DATA_DIR_UNUSABLE',
  EPERM: 'DATA_DIR_UNUSABLE',
  EROFS: 'DATA_DIR_UNUSABLE',
  ENOTDIR: 'DATA_DIR_UNUSABLE',
  EEXIST: 'DATA_DIR_UNUSABLE',
  ENAMETOOLONG: 'DATA_DIR_UNUSABLE',
};

/** Failures of the index, by SQLite's primary result codes; other results, such as damage, are no failure of a file operation. */
const SQLITE_NAMES: Readonly<Record<number, string>> = {
  5: 'EBUSY',
  8: 'EROFS',
  10: 'EIO',
  13: 'ENOSPC',
  14: 'EACCES',
};

/**
 * Gives a failed file operation the code that says what to do about it; one not known here may pass by itself.
 * Errors other than failed file operations are faults and stay as they are.
 */
export function diskError(error: unknown, dir: string): unknown {
  const errno = errnoOf(error);
  if (errno === null) return error;
  const code = CODES[errno] ?? 'STORE_UNAVAILABLE';
  const said =
    code === 'DISK_FULL'
      ? 'No space is left for stored bodies in'
      : code === 'DATA_DIR_UNUSABLE'
        ? 'Cannot write to the folder of stored bodies'
        : 'A file operation failed in the folder of stored bodies';
  return new ScrapifieError(code, `${said} ${dir} (${errno}).`, { cause: error });
}

/** `ENOENT` and the like; null when the error did not come from the operating system. */
export function errnoOf(error: unknown): string | null {
  if (error instanceof Error && 'errcode' in error) return SQLITE_NAMES[Number(error.errcode) & 0xff] ?? null;
  if (!(error instanceof Error) || !('errno' in error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
