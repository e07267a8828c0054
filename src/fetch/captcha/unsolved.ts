import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { UnsolvedDetails } from '../../ports/captcha.ts';

/** Codes after which asking again only angers the service: its owner has to do something first. */
const ACCOUNT_FAULTS: ReadonlySet<string> = new Set([
  'ERROR_WRONG_USER_KEY',
  'ERROR_KEY_DOES_NOT_EXIST',
  'ERROR_ZERO_BALANCE',
  'ERROR_IP_NOT_ALLOWED',
  'ERROR_IP_BLOCKED',
  'ERROR_IP_BANNED',
  'IP_BANNED',
  'ERROR_ACCOUNT_SUSPENDED',
]);

export function unsolved(solver: string, reason: string): ScrapifieError {
  const details: UnsolvedDetails = { solver, reason, isAccountFault: ACCOUNT_FAULTS.has(reason) };
  return new ScrapifieError('CAPTCHA_UNSOLVED', `${solver} did not solve the puzzle: ${reason}`, { details });
}

/** The details of an error that says that nobody solved it; null for every other error. */
export function detailsOf(error: unknown): UnsolvedDetails | null {
  if (!isScrapifieError(error) || error.code !== 'CAPTCHA_UNSOLVED') return null;
  return error.details as UnsolvedDetails;
}

/** What ended the wait for a solution, in the one shape it may leave in. */
export function ended(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'Nobody waits for the solution any more', { cause: reason });
}

/** Services name their errors in capitals. Anything else may be a page of somebody in between, or repeat our key. */
export function codeIn(text: unknown): string | null {
  return typeof text === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(text) ? text : null;
}
