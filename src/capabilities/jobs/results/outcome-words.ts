import { ERRORS, type ErrorCode } from '../../../core/errors/registry.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { creditsOf } from '../../../core/model/credits.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { Page } from '../../../core/model/page.ts';
import {
  BUDGET_UNITS,
  type BudgetName,
  fillWords,
  reasonWords,
  TRAPS,
} from '../../../core/model/reason-spec.ts';
import { codeOfReason, readReason, reasonSpec } from '../../../core/model/reasons.ts';
import type { LedgerEntry, TaskState } from '../../../core/model/task.ts';
import { planSentence } from '../../../crawl/plan/ladder/fetch-methods.ts';
import { describeBytes, describeCount, describeMs } from '../../../lib/human-units.ts';

/** The part of a job that the sentences name: its limits and patterns. */
type RuledJob = Pick<Job, 'options'>;

/** What the sentence is about. */
type RuledUrl = Pick<LedgerEntry, 'url' | 'depth' | 'foundOn'>;

/**
 * The rule of a line of the ledger as a sentence; null for a line without a rule. Without the job, the sentence does not
 * name the limits and patterns of the job.
 */
export function ruleSentence(rule: string | null, entry: RuledUrl, job: RuledJob | null): string | null {
  if (rule === null) return null;
  const read = readReason(rule);
  if (read === null || read.name.startsWith('plan.')) return unread(rule, entry);
  const { name, what, isRedirected } = read;
  const spec = reasonSpec(name);
  const words = reasonWords(spec, what);
  if (words === null) return unread(rule, entry);
  const limit = spec.budget === undefined ? null : (job?.options.budgets[spec.budget] ?? null);
  const sentence = fillWords(words, {
    ...wordsFor(what ?? ''),
    host: () => hostOf(entry.url),
    hostName: () => hostNameOf(entry.url),
    foundOn: () => entry.foundOn ?? 'Another URL',
    depth: () => String(entry.depth),
    maxDepth: () => String(job?.options.scope.maxDepth ?? 'some'),
    include: () => list(job?.options.scope.include ?? []),
    ofLimit: () => (limit === null ? '' : ` of ${limitWords(spec.budget, limit)}`),
  });
  return isRedirected ? `It redirects to a URL that is not part of the job. ${sentence}` : sentence;
}

/** A reason of the plan, or of another version. */
const unread = (rule: string, { url }: RuledUrl): string =>
  rule.startsWith('plan.') ? planSentence(rule, hostOf(url)) : `The rule ${rule} decided.`;

/** Why the job ended early, as a sentence; null when it did not. */
export function stopSentence({
  stopReason,
  options: { budgets },
}: { readonly stopReason: string | null } & {
  readonly options: Pick<Job['options'], 'budgets'>;
}): string | null {
  if (stopReason === null) return null;
  const read = readReason(stopReason);
  const { stopWords, budget } = read === null ? {} : reasonSpec(read.name);
  if (stopWords === undefined) return `The job stopped early (${stopReason}).`;
  return fillWords(stopWords, {
    ...wordsFor(read?.what ?? ''),
    limit: () => limitWords(budget, (budget === undefined ? null : budgets[budget]) ?? 0),
  });
}

const wordsFor = (what: string) => ({
  what: () => what,
  meaning: () => meaningOf(what),
  trap: () => (Object.hasOwn(TRAPS, what) ? TRAPS[what as keyof typeof TRAPS] : what),
  time: () => describeMs(Number(what)),
});

const UNITS = {
  pages: (limit) => describeCount(limit, 'page'),
  bytes: describeBytes,
  ms: describeMs,
  microcredits: (limit) => `${creditsOf(limit)} credits`,
} as const satisfies Readonly<Record<(typeof BUDGET_UNITS)[BudgetName], (limit: number) => string>>;

const limitWords = (budget: BudgetName | undefined, limit: number): string =>
  budget === undefined ? String(limit) : UNITS[BUDGET_UNITS[budget]](limit);

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;
const hostNameOf = (url: string): string => URL.parse(url)?.hostname ?? url;

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text);
const meaningOf = (text: string): string => (isCode(text) ? `${text}: ${ERRORS[text].meaning}` : `${text}.`);
const list = (patterns: readonly string[]): string => patterns.map((each) => `\`${each}\``).join(', ');

/** What a caller can do about URLs that ended this way; null when there is nothing to do. */
export function adviceFor(state: TaskState, cause: string | null, code: ErrorCode | null): string | null {
  if (state === 'cancelled') return 'Resume the job to go on with them.';
  if (state === 'failed') return code === null ? null : RETRY_ADVICE[ERRORS[code].retry];
  if (state !== 'skipped' && state !== 'denied') return null;
  const read = cause === null ? null : readReason(cause);
  return read === null ? null : (reasonSpec(read.name).advice ?? null);
}

const RETRY_ADVICE = {
  later: 'Try the failed URLs again: the same request may work after a pause.',
  otherWay: 'Allow another engine, proxy tier or identity for the host, then start the URLs again.',
  never: 'Trying again as it is fails again: change the URLs or the options.',
} as const;

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
