import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Codes by SQLSTATE; any other error may pass by itself. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '28000': 'STORE_REFUSED',
  '28P01': 'STORE_REFUSED',
  '3D000': 'STORE_REFUSED',
  '42501': 'STORE_REFUSED',
  '53100': 'DISK_FULL',
};

/** Gives a failed query the code that says what to do about it. The driver's own text stays in the cause. */
export function databaseError(error: unknown): ScrapifieError {
  const name =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  const code = CODES[name ?? ''] ?? 'STORE_UNAVAILABLE';
  const said =
    code === 'DISK_FULL'
      ? 'No space is left in the database for bodies'
      : code === 'STORE_REFUSED'
        ? 'The database does not let us keep bodies in it'
        : 'The database did not answer about a body';
  return new ScrapifieError(code, `${said} (${name ?? 'no answer'}).`, { cause: error });
}
