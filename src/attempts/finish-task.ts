import { ERRORS, type ErrorCode, EXIT } from '../errors/registry.ts';
import { isScrapifieError, type ScrapifieError } from '../errors/scrapifie-error.ts';
import { faultOf } from '../fetch/proxy/proxy-failure.ts';
import type { Attempt, OutcomeKind } from '../model/attempt.ts';
import type { NewPage } from '../model/page.ts';
import type { Task } from '../model/task.ts';
import type { PageReader, PageReading } from '../pages/page-reading.ts';
import { unchargedAttempts } from '../plan/ladder/charged-attempts.ts';
import { RUNS_SCRIPTS } from '../plan/ladder/fetch-method.ts';
import type { LadderStep } from '../plan/ladder/ladder.ts';
import { parseRetryAfter } from '../politeness/retry-after.ts';
import type { Completion, LeaseRef, TaskEnd } from '../ports/store.ts';
import type { Fetched } from './fetch-task.ts';
import type { RunningJob } from './running-job.ts';
import { type AttemptResult, endAfter } from './task-end.ts';

export interface FinishParts {
  readonly reader: PageReader;
  readonly lease: LeaseRef;
  /** How the attempt was made, and why so. */
  readonly step: Pick<Extract<LadderStep, { kind: 'attempt' }>, keyof AttemptMethod>;
  /** What the ladder says to the attempt. */
  readonly next: (attempt: Attempt) => LadderStep | Promise<LadderStep>;
  readonly now: () => number;
  readonly random: () => number;
}

export type AttemptMethod = Pick<Attempt, 'engine' | 'proxyTier' | 'reason'> & {
  readonly identity: NonNullable<Attempt['identity']>;
  readonly hasSolver: boolean;
};

export interface Finished {
  readonly completion: Completion;
  readonly attempt: Attempt;
  readonly reading: PageReading | null;
  /** Whom a connection through a proxy blames for its failure. */
  readonly fault: ReturnType<typeof faultOf>;
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
      return { completion, attempt, reading: null, fault: faultOf(fetched.error) };
    }
    const end = settleSitemap(task, await endOf(task, result, attempt, parts, now));
    const page = end.state === 'failed' && task.kind === 'page' ? failedPage(task, fetched.error, now) : null;
    return { ...finished(task, parts, end, attempt, null, page), fault: faultOf(fetched.error) };
  }
  const { rendered } = fetched.response;
  let reading: PageReading;
  try {
    reading = await parts.reader.read({
      job: {
        seq: task.jobSeq,
        kind: running.job.kind,
        options: running.job.options,
        seeds: running.job.seeds,
        generation: running.generation,
        incarnation: parts.lease.incarnation,
      },
      task,
      response: fetched.response,
      fetchedAt: now,
    });
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return finishTask(task, running, { kind: 'error', error, ms: fetched.response.ms }, parts);
  }
  const isBarred = reading.outcome === 'blocked' || reading.outcome === 'captcha';
  const isLimited = result.outcome === 'rate-limited' && !isBarred;
  const judge = async (failure: ScrapifieError | null) => {
    const outcome = isLimited ? 'rate-limited' : reading.outcome;
    const read: AttemptResult = { ...result, outcome, errorCode: failure?.code ?? null };
    const attempt = attemptOf(fetched, read, parts, now, reading, failure);
    return { failure, attempt, wanted: await endOf(task, read, attempt, parts, now) };
  };
  // A page that bars us is why nothing worked on it, whatever failed first.
  const failed = isBarred ? null : (rendered?.failure ?? null);
  // A page that is still a shell may be whole in another engine; where there is none left, the failed step is the end.
  let judged = await judge(reading.outcome === 'needs-javascript' ? null : failed);
  if (failed !== null && judged.wanted.state === 'done') judged = await judge(failed);
  const { failure, attempt, wanted } = judged;
  const end = settleSitemap(task, honourNoindex(wanted, reading, running), reading);
  const keepsPage = task.kind === 'page' && (end.state === 'done' || end.state === 'failed');
  const page = keepsPage ? withError(reading.page, end, failure) : null;
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
  // A browser does not install itself while a page waits for it.
  if (ERRORS[code].exitCode !== EXIT.environment || code === 'NO_BROWSER') return null;
  return { state: 'waiting', readyAt: now + OWN_FAULT_PAUSE_MS, rule: `own-fault:${code}` };
}

const OWN_FAULT_PAUSE_MS = 10_000;

async function endOf(
  task: Task,
  result: AttemptResult,
  attempt: Attempt,
  { next, random }: FinishParts,
  now: number,
): Promise<TaskEnd> {
  const made = Math.max(1, task.attempts + 1 - unchargedAttempts([...task.trace, attempt]));
  return endAfter(result, await next(attempt), made, now, random);
}

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
  return { completion: completionOf(task, parts, end, attempt, page, []), attempt, reading, fault: null };
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
  failure: ScrapifieError | null = null,
): Attempt {
  const response = fetched.kind === 'error' ? null : fetched.response;
  const puzzle = response?.rendered?.extra.captcha ?? null;
  const solved =
    puzzle === null || puzzle.outcome === 'none' ? null : `puzzle ${puzzle.outcome}: ${puzzle.note}`;
  const found =
    failure?.message ?? reading?.evidence ?? (fetched.kind === 'error' ? fetched.error.message : null);
  const evidence = [found, solved].filter((words) => words !== null).join('; ') || null;
  const { engine, proxyTier, identity, hasSolver, reason } = parts.step;
  // What rendering has brought can only be told beside what there was without.
  const amount = result.outcome === 'needs-javascript' || RUNS_SCRIPTS[engine] ? reading?.yield : undefined;
  return {
    engine,
    proxyTier,
    ...(identity === 'browser' ? { identity } : {}),
    ...(hasSolver ? { hasSolver } : {}),
    reason,
    outcome: result.outcome,
    ...(evidence === null ? {} : { evidence }),
    ...(reading?.vendor ? { vendor: reading.vendor } : {}),
    ...(result.errorCode === null ? {} : { errorCode: result.errorCode }),
    ...(fetched.kind === 'end' && fetched.end.state === 'moved' ? { ledOn: true as const } : {}),
    ...(amount === undefined ? {} : { yield: amount }),
    statusCode: result.statusCode,
    ms: Math.round(response?.ms ?? (fetched.kind === 'error' ? fetched.ms : 0)),
    bytes: response?.wireBytes ?? 0,
    at: new Date(now).toISOString(),
  };
}

/** A page of which nothing arrived: the reason stands in its place. */
export function failedPage(
  task: Task,
  error: Pick<ScrapifieError, 'code' | 'message'>,
  now: number,
): NewPage {
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

function withError(page: NewPage, end: TaskEnd, failure: ScrapifieError | null): NewPage {
  if (end.state !== 'failed') return page;
  const errorMessage = failure?.message ?? messageOf(end.errorCode, page.statusCode);
  return { ...page, errorCode: end.errorCode, errorMessage };
}

function messageOf(code: ErrorCode, statusCode: number | null): string {
  return code === 'HTTP_ERROR' ? `The host answered ${statusCode}.` : ERRORS[code].meaning;
}
