import { ERRORS, type ErrorCode, type ErrorSpec } from '../errors/registry.ts';
import type { Logger } from './logger.ts';
import { redactUrl } from './redact.ts';

interface TaskFacts {
  readonly jobId: string;
  readonly taskId: number;
  readonly url: string;
  readonly engine: string;
  readonly durationMs: number;
  readonly attempts: number;
}

export interface CompletedTask extends TaskFacts {
  readonly statusCode: number | null;
  readonly bytes: number;
  /** Characters of visible text, and links, that were read from the page. */
  readonly textLength: number;
  readonly linkCount: number;
}

export interface FailedTask extends TaskFacts {
  /** Null when no response arrived. */
  readonly statusCode: number | null;
  readonly errorCode: ErrorCode;
  readonly reason: string;
  /** Null when the request went out directly. */
  readonly proxyTier: string | null;
}

/** The line about a page that was fetched. Only the host is named: what the page holds may be personal. */
export function logCompleted(logger: Logger, { url, ...facts }: CompletedTask): void {
  if (!logger.isLevelEnabled('debug')) return;
  logger.debug({ status: 'completed', host: hostOf(url), ...facts }, 'task completed');
}

/**
 * The line about a page that was given up, with all that is needed to try it by hand. A site that has no such page, refuses
 * it or is away is nothing that the operator could mend, and neither is a proxy that the caller brings along; a failure of this
 * installation is.
 */
export function logFailed(logger: Logger, { url, ...facts }: FailedTask): void {
  const { isOurs }: ErrorSpec = ERRORS[facts.errorCode];
  const level = isOurs === true && facts.proxyTier !== OWN_PROXY ? 'warn' : 'debug';
  if (!logger.isLevelEnabled(level)) return;
  logger[level]({ status: 'failed', host: hostOf(url), url: redactUrl(url), ...facts }, 'task failed');
}

/** The tier of proxies that a request names itself. */
const OWN_PROXY = 'own';

/** Cheaper than parsing: tasks hold canonical URLs. */
function hostOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(url)?.[1] ?? '';
}
