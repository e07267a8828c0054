import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** The error for a file that cannot be written, in words for the user who named it or its folder. */
export function cannotWrite(path: string, error: unknown): ScrapifieError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ScrapifieError('DISK_FULL', `No space left to write ${path}.`, { cause: error });
  }
  return new ScrapifieError('DATA_DIR_UNUSABLE', `${path} cannot be written: ${message}`, { cause: error });
}
