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
  readonly errorCode: string;
  readonly reason: string;
  /** Null when the request went out directly. */
  readonly proxyTier: string | null;
}

/** The line about a page that was fetched. Only the host is named: what the page holds may be personal. */
export function logCompleted(logger: Logger, { url, ...facts }: CompletedTask): void {
  if (!logger.isLevelEnabled('info')) return;
  logger.info({ status: 'completed', host: hostOf(url), ...facts }, 'task completed');
}

/** The line about a page that was given up, with all that is needed to try it by hand. */
export function logFailed(logger: Logger, { url, ...facts }: FailedTask): void {
  if (!logger.isLevelEnabled('error')) return;
  logger.error({ status: 'failed', host: hostOf(url), url: redactUrl(url), ...facts }, 'task failed');
}

/** Cheaper than parsing: tasks hold canonical URLs. */
function hostOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(url)?.[1] ?? '';
}
