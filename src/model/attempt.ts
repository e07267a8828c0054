import type { ErrorCode } from '../errors/registry.ts';

export type EngineName = 'http' | 'browser' | 'stealth';

/** What a response turned out to be. Everything but `ok` comes with the evidence that decided. */
export type OutcomeKind =
  | 'ok'
  | 'soft-404'
  | 'blocked'
  | 'captcha'
  | 'login-wall'
  | 'needs-javascript'
  | 'rate-limited'
  | 'empty'
  | 'error';

/** One try at one URL, kept in the task's trace. */
export interface Attempt {
  readonly engine: EngineName;
  readonly proxyTier: string | null;
  /** Why this attempt was made this way. */
  readonly reason: string;
  readonly outcome: OutcomeKind;
  /** What decided the outcome, when it is not plainly ok. */
  readonly evidence?: string;
  /** Whose block or challenge it is, where that is known. */
  readonly vendor?: string;
  readonly errorCode?: ErrorCode;
  readonly statusCode: number | null;
  readonly ms: number;
  readonly bytes: number;
  readonly at: string;
}
