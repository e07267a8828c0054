import { isScrapifieError, ScrapifieError } from '../errors/scrapifie-error.ts';
import type { HeldBytes } from '../fetch/byte-budget.ts';
import type { Identity } from '../model/identity.ts';
import type { HostKey } from '../model/ids.ts';
import { mustRunAlone } from '../model/interruptions.ts';
import type { Task } from '../model/task.ts';
import type { PageReader } from '../pages/page-reading.ts';
import { RUNS_SCRIPTS } from '../plan/ladder/fetch-method.ts';
import { learn, NO_MEMORY, noteProbe } from '../plan/ladder/host-memory.ts';
import { type LadderInput, type LadderStep, nextStep } from '../plan/ladder/ladder.ts';
import { hasGained } from '../plan/ladder/rendering-gain.ts';
import type { LeaseRef, Store, TaskEnd } from '../ports/store.ts';
import { credentialHeaders, secretsOf } from '../sessions/credential.ts';
import { requireCredentialAccess } from '../sessions/credential-access.ts';
import { fillIn } from '../sessions/fill-in.ts';
import type { SessionUse } from '../sessions/session-use.ts';
import { unplannedMethod } from './fault-end.ts';
import type { FetchResources } from './fetch-resources.ts';
import { type Fetched, fetchTask, type HowToFetch } from './fetch-task.ts';
import { type AttemptMethod, type Finished, finishTask, resultOf } from './finish-task.ts';
import type { HostAccess } from './host-access.ts';
import { ladderPolicy, ladderRequest, OWN_PROXY, proxyWishOf } from './ladder-request.ts';
import { chooseProxyRoute, type ProxyRoute, type ProxyRouteEnd } from './proxy-route.ts';
import type { RunningJob } from './running-job.ts';
import { createUseAudit } from './use-audit.ts';

export interface AttemptParts {
  readonly hostKey: HostKey;
  readonly lease: LeaseRef;
  readonly store: Pick<Store, 'reserveUrl' | 'audit' | 'startTask'>;
  readonly door: HostAccess;
  readonly means: FetchResources;
  readonly reader: PageReader;
  readonly signal: AbortSignal;
  /** The host has answered: the next request may go, although this page is not read yet. */
  readonly onAnswered: () => void;
  readonly now: () => number;
  readonly random: () => number;
}

/** Makes attempts for the owner of a host: the ladder says how, and hears what came of it. */
export interface Attempts {
  /**
   * The gate has admitted a request to the host; this ends that admission, whatever happens. It does not reject: an
   * error that no part foresaw is returned with the way on which it came.
   */
  make(task: Task, running: RunningJob): Promise<Finished | Postponed | Faulted>;
}

/** Nothing was tried: the task comes again. */
export interface Postponed {
  readonly postponed: TaskEnd;
}

/** The attempt ended by an error that is a fault of the program. */
export interface Faulted {
  readonly error: unknown;
  readonly way: AttemptMethod;
}

type Step = Extract<LadderStep, { kind: 'attempt' }>;
type Stop = Extract<LadderStep, { kind: 'stop' }>;

/** What an attempt is about, and with what it is made. */
interface Attempt {
  readonly task: Task;
  readonly running: RunningJob;
  readonly session: SessionUse | null;
  readonly input: LadderInput;
  readonly step: Step;
  /** Why nothing can be tried; `step` is then what would have been. */
  readonly stop: Stop | null;
}

/** How far an attempt has come: what has to be given back when it breaks off. */
interface Progress {
  /** The gate counts a request of this attempt as under way. */
  isAdmitted: boolean;
  /** When the gate admitted it last. */
  admittedAt: number;
  way: AttemptMethod;
  /** The proxy pool waits to hear how this ends. */
  out: ProxyRoute | null;
}

interface Ready {
  readonly out: ProxyRoute;
  readonly identity: Identity | null;
  readonly how: HowToFetch;
}

export function createAttempts(parts: AttemptParts): Attempts {
  const { hostKey, door, means, now, random } = parts;
  const audit = createUseAudit(parts.store, hostKey, now);

  async function make(task: Task, running: RunningJob): Promise<Finished | Postponed | Faulted> {
    const progress: Progress = {
      isAdmitted: true,
      admittedAt: now(),
      way: unplannedMethod(task, running),
      out: null,
    };
    try {
      return await plan(task, running, progress);
    } catch (error) {
      if (progress.isAdmitted) door.left(running);
      progress.out?.ended(NOTHING_SENT);
      return { error, way: progress.way };
    }
  }

  async function plan(task: Task, running: RunningJob, progress: Progress): Promise<Finished | Postponed> {
    const leave = () => {
      progress.isAdmitted = false;
      door.left(running);
    };
    const { session: name, engine, render } = running.job.options.page;
    const isPlain = (engine === 'auto' || engine === 'http') && render === null && task.trace.length === 0;
    if (!isPlain) await means.look();
    let attempt = attemptAt(task, running, null);
    let ready: Ready | Postponed;
    try {
      if (task.interruptions > 0 && !(await recordStart(task))) {
        leave();
        return { postponed: { state: 'ready' } };
      }
      if (name !== null) {
        attempt = attemptAt(task, running, await means.sessions.begin(running.job.accountId, name));
      }
      progress.way = attempt.step;
      ready = await prepare(attempt, progress);
    } catch (error) {
      if (!isScrapifieError(error)) throw error;
      leave();
      return finish(attempt, { kind: 'error', error, ms: 0 });
    }
    if ('postponed' in ready) {
      leave();
      return ready;
    }
    return go(attempt, ready, progress);
  }

  const recordStart = (task: Task) => parts.store.startTask(parts.lease, task.id, mustRunAlone(task));

  /** Everything that can be refused before the host is asked. */
  async function prepare(attempt: Attempt, progress: Progress): Promise<Ready | Postponed> {
    const { step, stop, session, running } = attempt;
    if (running.refusal !== null) throw running.refusal;
    if (stop !== null) throw refusal(stop);
    const wish = proxyWishOf(running.job.options.page.proxy, session);
    const way = chooseProxyRoute(step.proxyTier, wish, hostKey, session?.sticky ?? null, means, now);
    if (way.kind === 'wait') {
      return { postponed: { state: 'waiting', readyAt: way.until, rule: 'proxy.resting' } };
    }
    progress.out = way.out;
    if (step.isProbe) door.remember(running, noteProbe(attempt.input.memory, now()));
    await audit(step, running, session?.session.wish.credentials ?? null);
    const identity = step.identity === 'browser' ? await identityFor(attempt, way.out) : null;
    return { out: way.out, identity, how: await howToFetch(attempt, way.out, identity) };
  }

  function attemptAt(task: Task, running: RunningJob, session: SessionUse | null): Attempt {
    const input: LadderInput = {
      request: ladderRequest(task, running, session),
      policy: ladderPolicy(door.policy(), running),
      installation: means.installation(),
      memory: door.memoryFor(running) ?? NO_MEMORY,
      trace: task.trace,
    };
    const next = nextStep(input, now(), random);
    const stop = next.kind === 'stop' ? next : null;
    const step = next.kind === 'stop' ? untried(next.reason, input) : next;
    return { task, running, session, input, step, stop };
  }

  /** What the page holds is given back when it is read and stored. */
  async function go(attempt: Attempt, ready: Ready, progress: Progress): Promise<Finished> {
    const held = means.budget.open();
    try {
      return await fetchAndFinish(attempt, ready, progress, held);
    } finally {
      held.close();
    }
  }

  async function fetchAndFinish(
    attempt: Attempt,
    { out, identity, how }: Ready,
    progress: Progress,
    held: HeldBytes,
  ): Promise<Finished> {
    const { step, running, task } = attempt;
    const url = new URL(task.atUrl);
    const requestedAt = now();
    const fetched = await fetchTask(task, running, means.engine(step.engine, step.identity), {
      hostKey,
      lease: parts.lease,
      store: parts.store,
      signal: parts.signal,
      held,
      mayStart: door.mayStart,
      mayDisguise: door.hasConsent(running, 'identity'),
      robotsFor: (url) => (door.isObeyed(running) ? (door.knownRobots(running, url) ?? 'unknown') : null),
      async pass(ended) {
        await door.enterAgain(running, url, ended);
        progress.admittedAt = now();
      },
      admittedForMs: () => door.admissionMs(running, url) - (now() - progress.admittedAt),
      how,
    });
    const result = resultOf(fetched, now());
    progress.isAdmitted = false;
    door.answered(running, result, requestedAt);
    parts.onAnswered();
    const finished = await finish(attempt, await keepSession(attempt, out, identity, fetched));
    const { outcome, statusCode, errorCode = null, ms, bytes } = finished.attempt;
    progress.out = null;
    out.ended({ outcome, statusCode, errorCode, fault: finished.fault, ms, bytes });
    return finished;
  }

  /** A page whose cookies could not be kept is fetched again: the next one would not be logged in. */
  async function keepSession(
    { session, step }: Attempt,
    { proxy }: ProxyRoute,
    identity: Identity | null,
    fetched: Fetched,
  ): Promise<Fetched> {
    if (session === null) return fetched;
    const storage = fetched.kind === 'error' ? null : (fetched.response.rendered?.extra.storage ?? null);
    // A proxy of the caller's belongs to the request, not to the session.
    const isOurs = proxy !== null && step.proxyTier !== OWN_PROXY;
    const kept = isOurs ? { id: proxy.id, tier: proxy.tier, country: proxy.country } : null;
    try {
      await means.sessions.end(session, { proxy: kept, identity, storage });
      return fetched;
    } catch (error) {
      if (!isScrapifieError(error)) throw error;
      return { kind: 'error', error, ms: 0 };
    }
  }

  /** A session keeps its own; others get one for the job, so that the pages of a site see one visitor. */
  function identityFor({ session, running }: Attempt, { proxy }: ProxyRoute): Promise<Identity> {
    const region = proxy?.country ?? null;
    const kept = session?.session.identity ?? null;
    if (kept !== null && (region === null || kept.region === region)) return Promise.resolve(kept);
    return means.identity(session?.key ?? `${running.job.id} ${hostKey}`, region);
  }

  async function howToFetch(
    { step, session, running, task }: Attempt,
    { proxy }: ProxyRoute,
    identity: Identity | null,
  ): Promise<HowToFetch> {
    const { job } = running;
    const { render } = job.options.page;
    const common: HowToFetch = {
      ...(proxy === null ? {} : { proxy }),
      ...(identity === null ? {} : { identity }),
      ...(step.hasSolver ? { maySolve: true } : {}),
      ...(session === null ? {} : { jar: session.jar }),
    };
    const credential = session === null ? null : await means.credentials.forSession(session.session);
    if (credential !== null) requireCredentialAccess(job.options);
    const mayShow = credential === null || job.options.credentials === 'read';
    const given = {
      ...common,
      ...(credential === null ? {} : { personal: credentialHeaders(credential, task.atUrl) }),
      ...(mayShow ? {} : { secrets: secretsOf(credential) }),
    };
    if (!RUNS_SCRIPTS[step.engine]) return given;
    const { actions } = render ?? {};
    return {
      ...given,
      ...(hasLostBrowser(task) ? { runsAlone: true } : {}),
      key: session?.key ?? `${job.accountId} ${job.id} ${hostKey}`,
      ...(session === null ? {} : { jar: undefined, storage: session.storage, wantsStorage: true }),
      ...(render === null
        ? {}
        : {
            render:
              actions === undefined
                ? render
                : { ...render, actions: fillIn(actions, credential, task.atUrl) },
          }),
    };
  }

  async function finish(attempt: Attempt, fetched: Fetched): Promise<Finished> {
    const { task, running, input, step } = attempt;
    const finished = await finishTask(task, running, fetched, {
      reader: parts.reader,
      lease: parts.lease,
      step,
      async next(made) {
        const isOver = made.outcome === 'ok';
        if (!isOver) await means.look();
        const installation = isOver ? input.installation : means.installation();
        return nextStep({ ...input, installation, trace: [...task.trace, made] }, now(), random);
      },
      now,
      random,
    });
    // What was refused before anything was sent says nothing about the host.
    if (finished.attempt.statusCode !== null) keepLesson(attempt, finished);
    return finished;
  }

  function keepLesson({ task, step, running }: Attempt, { attempt }: Finished): void {
    const plain = task.trace.findLast(({ engine, yield: found }) => engine === 'http' && found !== undefined);
    const canTell = plain?.yield !== undefined && attempt.yield !== undefined && RUNS_SCRIPTS[attempt.engine];
    const gain = canTell ? hasGained(plain.yield, attempt.yield) : undefined;
    const memory = door.memoryFor(running) ?? NO_MEMORY;
    door.remember(
      running,
      learn(memory, { ...attempt, identity: step.identity, url: task.atUrl, hasGained: gain }, now()),
    );
  }

  return { make };
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

/** What would have been the attempt, written down with the reason why there was none. */
function untried(reason: string, { request }: LadderInput): Step {
  const engine = request.engine === 'auto' ? 'http' : request.engine;
  const identity = request.identity ?? 'bot';
  return {
    kind: 'attempt',
    engine,
    proxyTier: null,
    identity,
    hasSolver: false,
    isProbe: false,
    isRetry: false,
    reason,
  };
}

function refusal({ code, reason }: Stop): ScrapifieError {
  return new ScrapifieError(code ?? 'INTERNAL', REFUSALS[code ?? ''] ?? `It was not tried: ${reason}.`);
}

const REFUSALS: Readonly<Record<string, string>> = {
  CONSENT_REQUIRED: "The operator's policy does not allow what was asked on this host.",
  NO_WORKER: 'No process that renders pages answers at the moment.',
};

/** The page may be what ended the browser, so no other page is to be beside it. */
function hasLostBrowser({ trace }: Task): boolean {
  return trace.some(({ errorCode }) => errorCode === 'BROWSER_LOST' || errorCode === 'BROWSER_CRASHED');
}
