import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Page } from '../../core/model/page.ts';
import { codeOfReason } from '../../core/model/reasons.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { ruleSentence } from './rule-words.ts';

/**
 * Errors of pages that were answered, if not always worked through to the end: the caller gets what there is, with the
 * error beside it.
 */
const ANSWERED: ReadonlySet<ErrorCode> = new Set([
  'HTTP_ERROR',
  'HOST_RATE_LIMITED',
  'BLOCKED',
  'CAPTCHA',
  'EXTRACTION_FAILED',
  'ACTION_FAILED',
  'TASK_TIMEOUT',
  'CAPTCHA_UNSOLVED',
]);

export function isAnswered(page: Page | undefined): page is Page {
  if (page === undefined || page.statusCode === null) return false;
  return page.errorCode === null || ANSWERED.has(page.errorCode);
}

/** Why a single scrape has nothing to show. `until`: when trying again may help, where that is known. */
export function scrapeFailure(
  jobId: JobId,
  entry: LedgerEntry | undefined,
  page?: Page,
  until: number | null = null,
): ScrapifieError {
  const code = failureCode(entry, page);
  const rule = entry?.rule ?? null;
  const message = page?.errorMessage ?? failureMessage(code, entry);
  const details = { jobId, url: entry?.url ?? null, rule, attempts: entry?.attempts ?? [] };
  // A robots.txt behind a refused address is asked for again at some time, and refused again.
  const isFinal = ERRORS[code].retry === 'never';
  if (isFinal || until === null || entry?.finishedAt == null) {
    return new ScrapifieError(code, message, { details });
  }
  return new ScrapifieError(code, message, {
    details: { ...details, until: new Date(until).toISOString() },
    retryAfterMs: Math.max(0, until - Date.parse(entry.finishedAt)),
  });
}

/** What a URL without a page failed of, in words: of its last attempt, or of what kept it from being made. */
export function failureMessage(code: ErrorCode, entry: LedgerEntry | undefined): string {
  const sentence = entry === undefined ? null : ruleSentence(entry.rule, entry, null);
  return entry?.attempts.at(-1)?.evidence ?? sentence ?? ERRORS[code].meaning;
}

/** The code that stands for why a URL has no page. */
export function failureCode(entry: LedgerEntry | undefined, page?: Page): ErrorCode {
  if (page?.errorCode) return page.errorCode;
  if (entry === undefined) return 'NOT_FOUND';
  if (entry.errorCode !== null) return entry.errorCode;
  if (entry.state === 'cancelled') return 'CANCELLED';
  const byRule = entry.rule === null ? null : codeOfReason(entry.rule);
  const byAttempt = entry.attempts.at(-1)?.errorCode;
  if (entry.state === 'denied') return byRule ?? byAttempt ?? 'DOMAIN_DENIED';
  return byRule ?? byAttempt ?? 'CONFLICT';
}
