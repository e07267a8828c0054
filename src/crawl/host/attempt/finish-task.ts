import { ERRORS, type ErrorCode } from '../../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt, AttemptExtras, EngineName, OutcomeKind } from '../../../core/model/attempt.ts';
import { runsScripts } from '../../../core/model/engine-traits.ts';
import type { NewPage } from '../../../core/model/page.ts';
import type { Task } from '../../../core/model/task.ts';
import type { HostMemory, LeaseRef } from '../../../core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../../core/ports/ledger-store.ts';
import type { FetchResponse } from '../../../fetch/engine.ts';
import { faultOf } from '../../../fetch/proxy/proxy-failure.ts';
import { defined } from '../../../lib/defined.ts';
import { routeOf } from '../../frontier/routes.ts';
import { hasGained, learn, NO_MEMORY } from '../../plan/ladder/host-memory.ts';
import type { LadderStep } from '../../plan/ladder/ladder.ts';
import { isRefusedByHost, outcomeOf, repeatedWithoutCharge, unchargedAttempts } from '../../plan/outcome.ts';
import { parseRetryAfter } from '../../politeness/retry-after.ts';
import type { PageReader, PageReading } from '../../read/page-reading.ts';
import type { HostAccess } from '../access/host-access.ts';
import { readInSpan } from '../process/attempt-spans.ts';
import { expectsLogin, LOGIN_REQUIRED_END } from '../process/login-walls.ts';
import type { RunningJob } from '../process/running-job.ts';
import {
  type AttemptMethod,
  type AttemptResult,
  completionOf,
  endAfter,
  failedPage,
  ownFaultEnd,
  spentMs,
  taskTookTooLong,
} from '../process/task-end.ts';
import type { Fetched } from './fetch-task.ts';
import type { PlannedAttempt } from './plan-attempt.ts';

/** A response that was read, or the reason why there is none to read: the ladder decides on the next step by it. */
export interface ReadAttempt {
  readonly attempt: Attempt;
  readonly result: AttemptResult;
  readonly reading: PageReading | null;
  /** Why the task fails although a page arrived, or why none arrived. */
  readonly failure: ScrapifieError | null;
  /** The end is known without the ladder: a redirect led elsewhere, or the attempt does not count. */
  readonly end: TaskEnd | null;
  readonly fetched: Fetched;
  readonly now: number;
}

export interface Finished {
  readonly completion: Completion;
  readonly attempt: Attempt;
  readonly reading: PageReading | null;
  /** The side that a connection through a proxy holds responsible for its failure. */
  readonly fault: ReturnType<typeof faultOf>;
}

interface ReadParts {
  readonly reader: PageReader;
  readonly lease: LeaseRef;
  readonly method: AttemptMethod;
  readonly now: () => number;
}

const OWN_FAULT_PAUSE_MS = 10_000;

/** The result as far as the host is concerned; known before the page is read. */
export function resultOf(fetched: Fetched, now: number): AttemptResult {
  if (fetched.kind === 'error') {
    const { code, retryAfterMs = null } = fetched.error;
    return { statusCode: null, outcome: 'error', errorCode: code, retryAfterMs };
  }
  const { statusCode, headers } = fetched.response;
  const header = headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, now);
  const isLimited = statusCode === 429 || statusCode === 503;
  const outcome: OutcomeKind = isLimited ? 'rate-limited' : statusCode >= 400 ? 'error' : 'ok';
  return { statusCode, outcome, errorCode: null, retryAfterMs };
}

/** Reads the response, and records the attempt. */
export async function readAttempt(
  task: Task,
  running: RunningJob,
  fetched: Fetched,
  parts: ReadParts,
): Promise<ReadAttempt> {
  const now = parts.now();
  const result = resultOf(fetched, now);
  if (fetched.kind !== 'response') {
    const attempt = attemptOf(task, fetched, result, parts.method, now);
    const failure = fetched.kind === 'error' ? fetched.error : null;
    const end =
      fetched.kind === 'end' ? fetched.end : endWithoutCharge(fetched.error.code, parts.method.engine, now);
    return { attempt, result, reading: null, failure, end, fetched, now };
  }
  const { page } = running.job.options;
  let reading: PageReading;
  try {
    reading = await readInSpan(parts.reader, {
      accountId: running.job.accountId,
      job: {
        seq: task.jobSeq,
        kind: running.job.kind,
        options: running.job.options,
        seeds: running.job.seeds,
        generation: running.generation,
        incarnation: parts.lease.incarnation,
      },
      task,
      response: {
        ...fetched.response,
        redirects: [...redirectsOf(task.trace), ...fetched.response.redirects],
        hasSecretCookies: page.session !== null,
      },
      fetchedAt: now,
    });
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return readAttempt(task, running, { kind: 'error', error, ms: fetched.response.ms }, parts);
  }
  // A page that refuses us is the reason why nothing worked on it, whatever failed first.
  const isRefused = isRefusedByHost(reading.outcome);
  const failure = isRefused ? null : (unreadBy(reading) ?? fetched.response.rendered?.failure ?? null);
  const outcome = outcomeOf(fetched.response.statusCode, reading.outcome);
  const read: AttemptResult = { ...result, outcome, errorCode: failure?.code ?? null };
  const attempt = attemptOf(task, fetched, read, parts.method, now, reading, failure);
  return { attempt, result: read, reading, failure, end: null, fetched, now };
}

/**
 * Turns the attempt into the ledger's one entry for it. `next` is the ladder's step after the attempt, `limitMs` the time
 * limit of the task.
 */
export function finishTask(
  task: Task,
  running: RunningJob,
  read: ReadAttempt,
  next: LadderStep | null,
  lease: LeaseRef,
  random: () => number,
  limitMs: number,
): Finished {
  const { result, reading, fetched, now } = read;
  let { attempt, failure } = read;
  const fault = fetched.kind === 'error' ? faultOf(fetched.error) : null;
  let trace = [...task.trace, attempt];
  if (read.end !== null || next === null) {
    const end = read.end ?? { state: 'ready' };
    const isCounted = fetched.kind === 'end' || reading !== null;
    const discovered = reading?.discovered ?? [];
    const entry = { trace: isCounted ? trace : task.trace, ...costOf(attempt, fetched), discovered };
    return { completion: completionOf(lease, task, end, entry), attempt, reading, fault };
  }
  const made = Math.max(1, task.attempts + 1 - unchargedAttempts(trace));
  let wanted = endAfter(result, next, made, now, random);
  if (wanted.state === 'waiting') {
    const pauseMs = result.retryAfterMs === null ? wanted.readyAt - now : 0;
    if (pauseMs > 0) attempt = { ...attempt, pauseMs };
    trace = [...task.trace, attempt];
    if (spentMs(trace) >= limitMs) {
      failure = taskTookTooLong(trace, limitMs);
      wanted = { state: 'failed', rule: `task.time-limit:${limitMs}`, errorCode: failure.code };
    }
  }
  if (reading === null) {
    const end = settleSitemap(task, wanted);
    const isFailed = end.state === 'failed' && task.kind === 'page';
    const page = isFailed && failure !== null ? failedPage(task, failure, now) : null;
    const completion = completionOf(lease, task, end, { trace, ...costOf(attempt, fetched), page });
    return { completion, attempt, reading, fault };
  }
  const settled = settleSitemap(task, notKept(task, wanted, reading, running), reading);
  const end = isUnexpectedWall(task, running, result, settled) ? LOGIN_REQUIRED_END : settled;
  const hasPage = task.kind === 'page' && (end.state === 'done' || end.state === 'failed');
  const page = hasPage ? withError(reading.page, end, failure) : null;
  // A page on which a step failed, such as waiting for an element, has arrived all the same, with its links.
  const isKept =
    end.state === 'done' || end.state === 'skipped' || (end.state === 'failed' && read.failure !== null);
  if (!isKept && reading.discovered.length > 0) running.generation += 1;
  const discovered = isKept ? reading.discovered : [];
  const completion = completionOf(lease, task, end, { trace, ...costOf(attempt, fetched), page, discovered });
  return { completion, attempt, reading, fault };
}

const unreadBy = ({ failure }: PageReading): ScrapifieError | null =>
  failure === undefined ? null : new ScrapifieError(failure.code, failure.message);

/** What the job's budgets and its account count of an attempt. */
function costOf(
  attempt: Attempt,
  fetched: Fetched,
): Pick<Completion, 'bytes' | 'spent' | 'used' | 'isUnsent'> {
  const { engine, proxyTier, ms, bytes } = attempt;
  const spent = { browserMs: runsScripts(engine) ? ms : 0, proxyBytes: proxyTier === null ? 0 : bytes };
  return {
    ...{ bytes, used: attempt },
    ...(fetched.kind === 'error' ? defined({ isUnsent: fetched.isUnsent }) : {}),
    ...(spent.browserMs + spent.proxyBytes === 0 ? {} : { spent }),
  };
}

function isUnexpectedWall(
  task: Task,
  { job }: RunningJob,
  { outcome }: AttemptResult,
  end: TaskEnd,
): boolean {
  const isOver = end.state === 'done' || end.state === 'failed' || end.state === 'skipped';
  return isOver && outcome === 'login-wall' && task.kind === 'page' && expectsLogin(job);
}

/** The end of a task whose attempt does not count: the failure was on this side, so the task is repeated. */
function endWithoutCharge(code: ErrorCode, engine: EngineName, now: number): TaskEnd | null {
  const when = repeatedWithoutCharge(code, engine);
  if (when === null) return null;
  if (when === 'now') return { state: 'ready' };
  return ownFaultEnd(code, now + OWN_FAULT_PAUSE_MS);
}

/** The end of a page that was fetched for its links alone: its author, or the caller's route, does not want it kept. */
function notKept(task: Task, end: TaskEnd, reading: PageReading, { job }: RunningJob): TaskEnd {
  if (end.state !== 'done' || task.kind !== 'page') return end;
  if (reading.isNoindex && job.options.scope.obeyNoindex) return { state: 'skipped', rule: 'scope.noindex' };
  const route = routeOf(job.options, task.url);
  return route?.keep === false ? { state: 'skipped', rule: `route.not-kept:${route.match[0]}` } : end;
}

/** A sitemap at a guessed address, or one that another sitemap names, is no failure of the job when it is missing. */
function settleSitemap(task: Task, end: TaskEnd, reading?: PageReading): TaskEnd {
  if (task.kind !== 'sitemap') return end;
  if (end.state === 'failed' && task.depth > 0) return { state: 'skipped', rule: `sitemap.${end.errorCode}` };
  const problem = reading?.sitemapProblem ?? null;
  return end.state === 'done' && problem !== null ? { state: 'done', rule: `sitemap.${problem}` } : end;
}

function attemptOf(
  { claimedAt }: Task,
  fetched: Fetched,
  result: AttemptResult,
  method: AttemptMethod,
  now: number,
  reading?: PageReading,
  failure: ScrapifieError | null = null,
): Attempt {
  const response = fetched.kind === 'error' ? null : fetched.response;
  const captcha = response?.rendered?.extra.captcha ?? null;
  const solved =
    captcha === null || captcha.outcome === 'none' ? null : `puzzle ${captcha.outcome}: ${captcha.note}`;
  const found =
    failure?.message ?? reading?.evidence ?? (fetched.kind === 'error' ? fetched.error.message : null);
  const stored = response?.stored?.reason ?? null;
  const evidence = [found, solved, stored].filter((words) => words !== null).join('; ') || null;
  const { engine, proxyTier, proxyId, identity, hasSolver, reason } = method;
  const ms = Math.round(response?.ms ?? (fetched.kind === 'error' ? fetched.ms : 0));
  // The gain of rendering can be judged only beside the yield without it.
  const amount = result.outcome === 'needs-javascript' || runsScripts(engine) ? reading?.yield : undefined;
  return {
    engine,
    proxyTier,
    ...defined({ proxyId }),
    ...(identity === 'browser' ? { identity } : {}),
    ...(hasSolver ? { hasSolver } : {}),
    reason,
    outcome: result.outcome,
    ...(evidence === null ? {} : { evidence }),
    ...(reading?.vendor ? { vendor: reading.vendor } : {}),
    ...(result.errorCode === null ? {} : { errorCode: result.errorCode }),
    ...(fetched.kind === 'end' && fetched.end.state === 'moved' ? ledOn(fetched.response) : {}),
    ...defined({ yield: amount }),
    statusCode: result.statusCode,
    ...(claimedAt === undefined ? {} : { waitedMs: Math.max(0, Math.round(now - ms - claimedAt)) }),
    ms,
    bytes: response?.wireBytes ?? 0,
    ...extrasOf(response, reading),
    at: new Date(now).toISOString(),
  };
}

/** What is priced beside the request. */
function extrasOf(response: FetchResponse | null, reading: PageReading | undefined): Pick<Attempt, 'extras'> {
  const extra = response?.rendered?.extra;
  const solver = extra?.captcha?.solver ?? null;
  const extras: AttemptExtras = {
    ...(reading?.tokens === undefined ? {} : { tokens: reading.tokens }),
    ...(solver === null ? {} : { solverCalls: 1 }),
    ...(extra === undefined || extra.screenshot === null ? {} : { screenshots: 1 }),
    ...(extra === undefined || extra.pdf === null ? {} : { pdfs: 1 }),
  };
  return Object.keys(extras).length === 0 ? {} : { extras };
}

/** The redirects of this attempt are kept for the page, which another host will send. */
function ledOn({ redirects, finalUrl, statusCode }: FetchResponse): Pick<Attempt, 'ledOn' | 'redirects'> {
  return { ledOn: true, redirects: [...redirects, { url: finalUrl, statusCode }] };
}

/** The redirects that led the task to the host where it is now. */
const redirectsOf = (trace: readonly Attempt[]) =>
  trace.flatMap(({ ledOn, redirects = [] }) => (ledOn === true ? redirects : []));

function withError(page: NewPage, end: TaskEnd, failure: ScrapifieError | null): NewPage {
  if (end.state !== 'failed') return page;
  const errorMessage = failure?.message ?? messageOf(end.errorCode, page.statusCode);
  return { ...page, errorCode: end.errorCode, errorMessage };
}

function messageOf(code: ErrorCode, statusCode: number | null): string {
  return code === 'HTTP_ERROR' ? `The host answered ${statusCode}.` : ERRORS[code].meaning;
}

/** Updates the host memory by an attempt whose request was answered. */
export function learnFrom(
  { task, step, running }: PlannedAttempt,
  { attempt }: Finished,
  access: Pick<HostAccess, 'memoryFor' | 'remember'>,
  now: number,
): void {
  const plain = task.trace.findLast(({ engine, yield: found }) => engine === 'http' && found !== undefined);
  const canCompare = plain?.yield !== undefined && attempt.yield !== undefined && runsScripts(attempt.engine);
  const gain = canCompare ? hasGained(plain.yield, attempt.yield) : undefined;
  const memory = withUnreadable(access.memoryFor(running) ?? NO_MEMORY, task, attempt, now);
  const lesson = { ...attempt, identity: step.identity, url: task.atUrl, hasGained: gain };
  access.remember(running, learn(memory, lesson, now));
}

/** A browser has read what plain HTTP could not: pages like this one are rendered at once. */
function withUnreadable(memory: HostMemory, task: Task, attempt: Attempt, now: number): HostMemory {
  const last = task.trace.at(-1);
  const wasRefused = last?.engine === 'http' && last.errorCode === 'PROTOCOL_ERROR';
  if (!wasRefused || attempt.outcome !== 'ok' || !runsScripts(attempt.engine)) return memory;
  const { engine, proxyTier, identity = 'bot' } = last;
  const end = { outcome: 'needs-javascript', statusCode: attempt.statusCode } as const;
  return learn(memory, { engine, proxyTier, identity, url: task.atUrl, ...end }, now);
}
