import { ERRORS, type ErrorCode, EXIT } from '../errors/registry.ts';
import { isScrapifieError, type ScrapifieError } from '../errors/scrapifie-error.ts';
import type { Attempt, EngineName, OutcomeKind } from '../model/attempt.ts';
import type { NewPage } from '../model/page.ts';
import type { Task } from '../model/task.ts';
import type { PageReader, PageReading } from '../pages/page-reading.ts';
import type { Completion, LeaseRef, TaskEnd } from '../ports/store.ts';
import type { Fetched } from './fetch-task.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { RunningJob } from './running-job.ts';
import { type AttemptResult, endAfter } from './task-end.ts';

export interface FinishParts {
  readonly reader: PageReader;
  readonly lease: LeaseRef;
  readonly engine: EngineName;
  /** Why the attempt was made this way. */
  readonly reason: string;
  readonly now: () => number;
  readonly random: () => number;
}

export interface Finished {
  readonly completion: Completion;
  readonly attempt: Attempt;
  readonly reading: PageReading | null;
}

/** What the attempt came to as far as the host is concerned; known before the page is read. */
export function resultOf(fetched: Fetched, now: number): AttemptResult {
  if (fetched.kind === 'error') {
    const { error } = fetched;
    return {
      statusCode: null,
      outcome: 'error',
      errorCode: error.code,
      retryAfterMs: error.retryAfterMs ?? null,
    };
  }
  const { statusCode, headers } = fetched.response;
  const header = headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, now);
  const isLimited = statusCode === 429 || statusCode === 503;
  const outcome: OutcomeKind = isLimited ? 'rate-limited' : statusCode >= 400 ? 'error' : 'ok';
  return { statusCode, outcome, errorCode: null, retryAfterMs };
}

/** Reads what arrived and turns it into the ledger's one entry for this attempt. */
export async function finishTask(
  task: Task,
  running: RunningJob,
  fetched: Fetched,
  parts: FinishParts,
): Promise<Finished> {
  const now = parts.now();
  const result = resultOf(fetched, now);
  if (fetched.kind === 'end')
    return finished(task, parts, fetched.end, attemptOf(fetched, result, parts, now), null);
  if (fetched.kind === 'error') {
    const attempt = attemptOf(fetched, result, parts, now);
    const given = givenBack(fetched.error.code, now);
    if (given !== null) {
      const completion = { ...completionOf(task, parts, given, attempt, null, []), trace: task.trace };
      return { completion, attempt, reading: null };
    }
    const end = settleSitemap(task, endAfter(result, attemptsOf(task, running), now, parts.random));
    const page = end.state === 'failed' && task.kind === 'page' ? failedPage(task, fetched.error, now) : null;
    return finished(task, parts, end, attempt, null, page);
  }
  let reading: PageReading;
  try {
    reading = await parts.reader.read({
      job: {
        seq: task.jobSeq,
        kind: running.job.kind,
        options: running.job.options,
        seeds: running.job.seeds,
        generation: running.generation,
      },
      task,
      response: fetched.response,
      fetchedAt: now,
    });
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return finishTask(task, running, { kind: 'error', error, ms: fetched.response.ms }, parts);
  }
  const read: AttemptResult = {
    ...result,
    outcome: result.outcome === 'rate-limited' ? 'rate-limited' : reading.outcome,
  };
  const attempt = attemptOf(fetched, read, parts, now, reading);
  const wanted = endAfter(read, attemptsOf(task, running), now, parts.random);
  const end = settleSitemap(task, honourNoindex(wanted, reading, running), reading);
  const keepsPage = task.kind === 'page' && (end.state === 'done' || end.state === 'failed');
  const page = keepsPage ? withError(reading.page, end) : null;
  const isKept = end.state === 'done' || end.state === 'skipped';
  if (!isKept && reading.discovered.length > 0) running.generation += 1;
  const discovered = isKept ? reading.discovered : [];
  return {
    ...finished(task, parts, end, attempt, reading, page),
    completion: completionOf(task, parts, end, attempt, page, discovered),
  };
}

/** What went wrong here and not at the host is no attempt of the task: it is done again when we can. */
function givenBack(code: ErrorCode, now: number): TaskEnd | null {
  if (code === 'CANCELLED' || code === 'SHUTTING_DOWN') return { state: 'ready' };
  if (ERRORS[code].exitCode !== EXIT.environment) return null;
  return { state: 'waiting', readyAt: now + OWN_FAULT_PAUSE_MS, rule: `own-fault:${code}` };
}

const OWN_FAULT_PAUSE_MS = 10_000;

const isRedirect = ({ statusCode }: Attempt) => statusCode !== null && statusCode >= 300 && statusCode < 400;

/** A redirect that led on to another host was no try that failed. */
const attemptsOf = (task: Task, { job }: RunningJob) => ({
  made: task.attempts + 1 - task.trace.filter(isRedirect).length,
  most: job.options.page.maxAttempts,
});

function honourNoindex(end: TaskEnd, reading: PageReading, { job }: RunningJob): TaskEnd {
  const isHidden = end.state === 'done' && reading.isNoindex && job.options.scope.obeyNoindex;
  return isHidden ? { state: 'skipped', rule: 'scope.noindex' } : end;
}

/** A sitemap that was only guessed, or found on the way, is no failure of the job when it is not there. */
function settleSitemap(task: Task, end: TaskEnd, reading?: PageReading): TaskEnd {
  if (task.kind !== 'sitemap') return end;
  if (end.state === 'failed' && task.depth > 0) return { state: 'skipped', rule: `sitemap.${end.errorCode}` };
  const problem = reading?.sitemapProblem ?? null;
  return end.state === 'done' && problem !== null ? { state: 'done', rule: `sitemap.${problem}` } : end;
}

function finished(
  task: Task,
  parts: FinishParts,
  end: TaskEnd,
  attempt: Attempt,
  reading: PageReading | null,
  page: NewPage | null = null,
): Finished {
  return { completion: completionOf(task, parts, end, attempt, page, []), attempt, reading };
}

function completionOf(
  task: Task,
  parts: FinishParts,
  end: TaskEnd,
  attempt: Attempt,
  page: NewPage | null,
  discovered: Completion['discovered'],
): Completion {
  return {
    lease: parts.lease,
    taskId: task.id,
    jobSeq: task.jobSeq,
    end,
    trace: [...task.trace, attempt],
    bytes: attempt.bytes,
    page,
    discovered,
  };
}

function attemptOf(
  fetched: Fetched,
  result: AttemptResult,
  parts: FinishParts,
  now: number,
  reading?: PageReading,
): Attempt {
  const response = fetched.kind === 'error' ? null : fetched.response;
  const evidence = reading?.evidence ?? (fetched.kind === 'error' ? fetched.error.message : null);
  return {
    engine: parts.engine,
    proxyTier: null,
    reason: parts.reason,
    outcome: result.outcome,
    ...(evidence === null ? {} : { evidence }),
    ...(reading?.vendor ? { vendor: reading.vendor } : {}),
    ...(result.errorCode === null ? {} : { errorCode: result.errorCode }),
    statusCode: result.statusCode,
    ms: Math.round(response?.ms ?? (fetched.kind === 'error' ? fetched.ms : 0)),
    bytes: response?.wireBytes ?? 0,
    at: new Date(now).toISOString(),
  };
}

/** A page of which nothing arrived: the reason stands in its place. */
function failedPage(task: Task, error: ScrapifieError, now: number): NewPage {
  return {
    url: task.url,
    finalUrl: task.atUrl,
    statusCode: null,
    contentType: null,
    charset: null,
    fetchedAt: now,
    depth: task.depth,
    contentHash: null,
    textHash: null,
    bytes: 0,
    title: null,
    etag: null,
    lastModified: null,
    duplicateOf: null,
    errorCode: error.code,
    errorMessage: error.message,
    record: null,
  };
}

function withError(page: NewPage, end: TaskEnd): NewPage {
  if (end.state !== 'failed') return page;
  return { ...page, errorCode: end.errorCode, errorMessage: messageOf(end.errorCode, page.statusCode) };
}

function messageOf(code: ErrorCode, statusCode: number | null): string {
  return code === 'HTTP_ERROR' ? `The host answered ${statusCode}.` : ERRORS[code].meaning;
}
