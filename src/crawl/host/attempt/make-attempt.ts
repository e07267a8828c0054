import { isScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import { mustRunAlone, type Task } from '../../../core/model/task.ts';
import type { LeaseRef } from '../../../core/ports/host-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { pageOptionsFor } from '../../frontier/routes.ts';
import type { LadderStep } from '../../plan/ladder/ladder.ts';
import { isRefusedByHost, isTimeLimit } from '../../plan/outcome.ts';
import type { PageReader } from '../../read/page-reading.ts';
import type { HostAccess } from '../access/host-access.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { RunningJob } from '../process/running-job.ts';
import { type StoredResponse, storedResponse } from '../process/stored-pages.ts';
import {
  type AttemptMethod,
  attemptMs,
  isShortened,
  taskLimitMs,
  unplannedMethod,
} from '../process/task-end.ts';
import { type ExchangeObserver, unkeptExchange } from './exchange-observer.ts';
import { type EarlierPage, type Fetched, fetchTask, judgeRedirect, MAX_REDIRECTS } from './fetch-task.ts';
import {
  type Finished,
  finishTask,
  learnFrom,
  type ReadAttempt,
  readAttempt,
  resultOf,
} from './finish-task.ts';
import {
  type PlannedAttempt,
  type ProxyRoute,
  type ProxyRouteEnd,
  planAttempt,
  stepAfter,
} from './plan-attempt.ts';
import {
  chooseRoute,
  createUseAudit,
  keepSession,
  type Postponed,
  type PreparedAttempt,
  prepareAttempt,
} from './prepare-attempt.ts';

export interface AttemptParts {
  readonly hostKey: HostKey;
  readonly lease: LeaseRef;
  readonly store: Pick<Store, 'reserveUrl' | 'audit' | 'startTask'>;
  readonly access: HostAccess;
  readonly resources: FetchResources;
  readonly reader: PageReader;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly random: () => number;
  /** The time limit of tasks whose request sets none. */
  readonly taskTimeoutMs: number;
  /** Null, or missing: nothing observes what becomes no page. */
  readonly observer?: (() => ExchangeObserver | null) | undefined;
}

/**
 * Makes attempts for the owner of a host, in two steps: `fetch` plans, prepares and sends the request, and `finish` reads
 * the response and decides how the task goes on. Neither rejects: an unexpected error is returned with the method that
 * was being tried.
 */
export interface Attempts {
  /**
   * The gate has admitted a request to the host; `fetch` always releases it. When it resolves, the next request may be
   * sent, although this page is not read yet.
   */
  fetch(task: Task, running: RunningJob): Promise<FetchedAttempt | Postponed | Faulted>;
  /** Reads the response. To be called once for each fetched attempt: its bytes are held until then. */
  finish(fetched: FetchedAttempt): Promise<Finished | Faulted>;
  /** Reads a stored page in place of a response; no request is sent. */
  useStored(task: Task, running: RunningJob, stored: StoredResponse): Promise<Finished | Faulted>;
}

/** A response, or why there is none. */
export interface FetchedAttempt {
  readonly planned: PlannedAttempt;
  readonly fetched: Fetched;
  /** Null when the attempt was refused before a request was sent. */
  readonly prepared: PreparedAttempt | null;
  /** Gives back the bytes that the response holds. */
  readonly releaseBytes: () => void;
}

/** The attempt ended by an error that is a fault of the program. */
export interface Faulted {
  readonly error: unknown;
  readonly method: AttemptMethod;
}

/** How far an attempt has come: what has to be given back when it breaks off. */
interface Progress {
  /** The gate counts a request of this attempt as under way. */
  isAdmitted: boolean;
  /** When the gate admitted it last. */
  admittedAt: number;
  method: AttemptMethod;
  /** The proxy pool waits for a report about this route. */
  route: ProxyRoute | null;
}

export function createAttempts(parts: AttemptParts): Attempts {
  const { hostKey, lease, store, access, resources, now, random } = parts;
  const prepareParts = { hostKey, access, resources, now, audit: createUseAudit(store, hostKey, now) };

  async function fetch(task: Task, running: RunningJob): Promise<FetchedAttempt | Postponed | Faulted> {
    const method = unplannedMethod(task, running);
    const progress: Progress = { isAdmitted: true, admittedAt: now(), method, route: null };
    try {
      return await fetchPlanned(task, running, progress);
    } catch (error) {
      if (progress.isAdmitted) access.release(running);
      progress.route?.ended(NOTHING_SENT);
      return { error, method: progress.method };
    }
  }

  async function fetchPlanned(
    task: Task,
    running: RunningJob,
    progress: Progress,
  ): Promise<FetchedAttempt | Postponed> {
    const { session: sessionName, engine, render } = pageOptionsFor(running.job.options, task.url);
    const isPlain = (engine === 'auto' || engine === 'http') && render === null && task.trace.length === 0;
    if (!isPlain) await resources.discover();
    let planned = planAttempt(task, running, null, access, resources, now(), random);
    let prepared: PreparedAttempt;
    try {
      if (task.interruptions > 0 && !(await recordStart(task))) {
        return postpone(running, progress, { postponed: { state: 'ready' } });
      }
      if (sessionName !== null) {
        const session = await resources.sessions.begin(running.job.accountId, sessionName);
        planned = planAttempt(task, running, session, access, resources, now(), random);
      }
      progress.method = planned.step;
      const route = chooseRoute(planned, prepareParts);
      if ('postponed' in route) return postpone(running, progress, route);
      progress.route = route;
      prepared = await prepareAttempt(planned, route, prepareParts);
    } catch (error) {
      if (!isScrapifieError(error)) throw error;
      release(running, progress);
      progress.route?.ended(NOTHING_SENT);
      const fetched = { kind: 'error', error, ms: 0, isUnsent: true } as const;
      return { planned, prepared: null, fetched, releaseBytes: nothing };
    }
    return send(planned, prepared, progress);
  }

  const recordStart = (task: Task) => store.startTask(lease, task.id, mustRunAlone(task));

  function release(running: RunningJob, progress: Progress): void {
    progress.isAdmitted = false;
    access.release(running);
  }

  function postpone(running: RunningJob, progress: Progress, postponed: Postponed): Postponed {
    release(running, progress);
    return postponed;
  }

  async function send(
    planned: PlannedAttempt,
    prepared: PreparedAttempt,
    progress: Progress,
  ): Promise<FetchedAttempt> {
    const { step, running, task } = planned;
    const url = new URL(task.atUrl);
    const requestedAt = now();
    const { page } = running.job.options;
    const held = resources.budget.open();
    try {
      const earlier = await earlierPage(planned);
      const fetched = await fetchTask(task, running, resources.engine(step.engine, step.identity), {
        ...redirectContext(running),
        signal: parts.signal,
        held,
        mayStart: () => access.mayStart(),
        mayDisguise: access.hasConsent(running, 'identity'),
        async pass(ended) {
          await access.readmit(running, url, ended);
          progress.admittedAt = now();
        },
        timeoutMs: attemptMs(page, task.trace, parts.taskTimeoutMs),
        admittedForMs: () => access.admissionMs(running, url) - (now() - progress.admittedAt),
        how: prepared.how,
        earlier,
      });
      progress.isAdmitted = false;
      const result = resultOf(fetched, now());
      const isOwnLimit =
        isTimeLimit(result.errorCode) &&
        (isShortened(page, task.trace, parts.taskTimeoutMs) || isLateStep(fetched));
      access.settle(running, url, result, requestedAt, isOwnLimit);
      return { planned, prepared, fetched, releaseBytes: () => held.close() };
    } catch (error) {
      held.close();
      throw error;
    }
  }

  /** Only for the first request of a page by plain HTTP: a browser's page is more than its document. */
  async function earlierPage({ task, running, step }: PlannedAttempt): Promise<EarlierPage | null> {
    const { stored } = resources;
    if (stored === undefined || running.job.options.refreshes === undefined) return null;
    if (task.kind !== 'page' || task.trace.length > 0 || step.engine !== 'http') return null;
    const page = await stored.earlier(task, running);
    const hash = page?.contentHash ?? null;
    return page === null || hash === null ? null : { page, body: () => stored.body(hash) };
  }

  async function useStored(
    task: Task,
    running: RunningJob,
    stored: StoredResponse,
  ): Promise<Finished | Faulted> {
    const method: AttemptMethod = { ...unplannedMethod(task, running), reason: 'cache.hit' };
    try {
      const fetched: Fetched = { kind: 'response', response: storedResponse(stored) };
      const read = await readAttempt(task, running, fetched, { reader: parts.reader, lease, method, now });
      return finishTask(task, running, read, STORED_END, lease, random, Number.POSITIVE_INFINITY);
    } catch (error) {
      return { error, method };
    }
  }

  async function finish(attempt: FetchedAttempt): Promise<Finished | Faulted> {
    const { planned, prepared } = attempt;
    let isReported = prepared === null;
    try {
      const fetched =
        prepared === null
          ? attempt.fetched
          : await keepSession(planned, prepared, attempt.fetched, resources);
      const finished = await readAndFinish(planned, fetched, prepared?.route.proxy?.id);
      isReported = true;
      prepared?.route.ended(routeEndOf(finished));
      return finished;
    } catch (error) {
      if (!isReported) prepared?.route.ended(NOTHING_SENT);
      return { error, method: planned.step };
    } finally {
      attempt.releaseBytes();
    }
  }

  async function readAndFinish(
    planned: PlannedAttempt,
    fetched: Fetched,
    proxyId: string | undefined,
  ): Promise<Finished> {
    const { task, running, step } = planned;
    const observer = parts.observer?.() ?? null;
    const isSitemap = task.kind === 'sitemap' && fetched.kind === 'response';
    // A copy, because the body is given away to the thread that reads it.
    const sitemap = observer !== null && isSitemap ? fetched.response.body.slice() : null;
    const read = await readAttempt(task, running, fetched, {
      reader: parts.reader,
      lease,
      method: proxyId === undefined ? step : { ...step, proxyId },
      now,
    });
    const led = await followRefresh(planned, read);
    const next = led.end === null ? await stepAfter(planned, led.attempt, resources, now, random) : null;
    const limitMs = taskLimitMs(running.job.options.page, parts.taskTimeoutMs);
    const finished = finishTask(task, running, led, next, lease, random, limitMs);
    const unkept =
      observer === null ? null : unkeptExchange(running.job, task, read.fetched, finished, sitemap, read.now);
    if (unkept !== null) await observer?.exchanged(unkept);
    // A refusal before anything was sent says nothing about the host.
    if (finished.attempt.statusCode !== null) learnFrom(planned, finished, access, now());
    return finished;
  }

  /** A meta refresh is a redirect: the task goes on where it leads, or ends by the same rules. */
  async function followRefresh({ task, running }: PlannedAttempt, read: ReadAttempt): Promise<ReadAttempt> {
    const target = read.reading?.leadsTo ?? null;
    const found = target === null ? null : running.canonical(target);
    const isPlain = read.end === null && read.failure === null && !isRefusedByHost(read.result.outcome);
    if (target === null || found === null || !isPlain || task.kind !== 'page') return read;
    if (found.urlKey === task.urlKey || task.hops >= MAX_REDIRECTS) return read;
    const judged = await judgeRedirect(task, running, redirectContext(running), target, 1, false);
    const moved = { state: 'moved', atUrl: target, hostKey: found.hostKey, hops: task.hops + 1 } as const;
    const attempt = { ...read.attempt, ledOn: true as const, evidence: 'meta refresh' };
    return { ...read, attempt, end: judged ?? moved };
  }

  const redirectContext = (running: RunningJob) => ({
    hostKey,
    lease,
    store,
    robotsFor: (url: URL) =>
      access.isObeyed(running) ? (access.knownRobots(running, url) ?? ('unknown' as const)) : null,
  });

  return { fetch, finish, useStored };
}

const nothing = () => undefined;

/** The time was over during a wait or an action of the request, after the host had answered. */
function isLateStep(fetched: Fetched): boolean {
  const details: unknown = fetched.kind === 'error' ? fetched.error.details : undefined;
  return typeof details === 'object' && details !== null && 'step' in details;
}

/** After a stored page there is nothing to try. */
const STORED_END: LadderStep = { kind: 'stop', code: null, reason: 'cache.hit' };

function routeEndOf({ attempt, fault }: Finished): ProxyRouteEnd {
  const { outcome, statusCode, errorCode = null, ms, bytes } = attempt;
  return { outcome, statusCode, errorCode, fault, ms, bytes };
}

/** An attempt that broke off by a fault of the program says nothing about its proxy. */
const NOTHING_SENT: ProxyRouteEnd = {
  outcome: 'error',
  statusCode: null,
  errorCode: 'INTERNAL',
  fault: null,
  ms: 0,
  bytes: 0,
};
