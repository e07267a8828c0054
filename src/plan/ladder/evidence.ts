import { ERRORS, type ErrorCode } from '../../errors/registry.ts';
import type { OutcomeKind } from '../../model/attempt.ts';

/** What an attempt came to, as far as the next one is concerned. */
export interface AttemptEnd {
  readonly outcome: OutcomeKind;
  readonly errorCode?: ErrorCode | undefined;
  readonly statusCode: number | null;
}

/**
 * What an attempt says about the way it was made.
 *
 * worked           the host answered as it answers visitors, a shell of a page included
 * final            it is over, and nothing was learned: a page that is not there, a login
 * transient        an accident: the same way may work in a moment
 * blocked, captcha the host does not want to be asked this way
 * needs-javascript it answered, and only a browser can read the answer
 */
export type Evidence = 'worked' | 'final' | 'transient' | 'blocked' | 'captcha' | 'needs-javascript';

export function evidenceOf({ outcome, errorCode, statusCode }: AttemptEnd): Evidence {
  if (errorCode !== undefined) return byErrorCode(errorCode);
  switch (outcome) {
    case 'ok':
    case 'soft-404':
      return 'worked';
    case 'blocked':
    case 'captcha':
    case 'needs-javascript':
      return outcome;
    case 'rate-limited':
      return 'transient';
    case 'login-wall':
    case 'empty':
      return 'final';
    case 'error':
      return isServerFault(statusCode) ? 'transient' : 'final';
  }
}

function byErrorCode(code: ErrorCode): Evidence {
  const { retry } = ERRORS[code];
  if (retry === 'otherWay') return code === 'CAPTCHA' ? 'captcha' : 'blocked';
  return retry === 'later' ? 'transient' : 'final';
}

function isServerFault(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 500 && statusCode !== 501 && statusCode !== 505;
}
