import {
  credentialHeaders,
  credentialSecrets,
  fillBody,
  fillIn,
  requireCredentialAccess,
} from '../../../capabilities/sessions/credential.ts';
import { isScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { runsScripts, traitsOf } from '../../../core/model/engine-traits.ts';
import type { Identity } from '../../../core/model/identity.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { JobOptions, PageOptions } from '../../../core/model/job.ts';
import type { Consent, HostPolicy } from '../../../core/model/policy.ts';
import type { HumanManner, RenderScroll, RenderWish } from '../../../core/model/render.ts';
import type { Task } from '../../../core/model/task.ts';
import type { AuditEntry, AuditStore } from '../../../core/ports/audit-store.ts';
import type { TaskEnd } from '../../../core/ports/ledger-store.ts';
import { pageOptionsFor } from '../../frontier/routes.ts';
import { noteProbe } from '../../plan/ladder/host-memory.ts';
import { hasLostBrowser } from '../../plan/outcome.ts';
import type { HostAccess } from '../access/host-access.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { RunningJob } from '../process/running-job.ts';
import type { Fetched, HowToFetch } from './fetch-task.ts';
import {
  type AttemptStep,
  chooseProxyRoute,
  nextOwnTurn,
  OWN_PROXY,
  type PlannedAttempt,
  type ProxyRoute,
  requestedProxy,
} from './plan-attempt.ts';

/** Nothing was tried: the task comes again. */
export interface Postponed {
  readonly postponed: TaskEnd;
}

/** Proxy, identity, credentials and options of an attempt. The user of the route reports how the request ended. */
export interface PreparedAttempt {
  readonly route: ProxyRoute;
  readonly identity: Identity | null;
  readonly how: HowToFetch;
}

interface PrepareParts {
  readonly hostKey: HostKey;
  readonly access: Pick<HostAccess, 'remember' | 'policy'>;
  readonly resources: FetchResources;
  readonly audit: ReturnType<typeof createUseAudit>;
  readonly now: () => number;
}

/** Chooses the route; the request is not sent when every proxy rests. Throws when the attempt is refused. */
export function chooseRoute(planned: PlannedAttempt, parts: PrepareParts): ProxyRoute | Postponed {
  const { step, refusal, session, running, task } = planned;
  if (refusal !== null) throw refusal;
  const proxy = requestedProxy(running.job.options.page.proxy, session);
  const { hostKey, resources, now } = parts;
  // A session keeps its proxy until that has failed.
  const ownTurn = session === null ? nextOwnTurn(running) : proxyFailures(task.trace);
  const sticky = session?.sticky ?? null;
  const decision = chooseProxyRoute(step.proxyTier, proxy, hostKey, sticky, resources, now, ownTurn);
  if (decision.kind === 'go') return decision.route;
  return { postponed: { state: 'waiting', readyAt: decision.until, rule: 'proxy.resting' } };
}

const proxyFailures = (trace: Task['trace']): number =>
  trace.filter(({ errorCode }) => errorCode === 'PROXY_FAILED').length;

/** Everything else that can be refused before the host is asked. */
export async function prepareAttempt(
  planned: PlannedAttempt,
  route: ProxyRoute,
  parts: PrepareParts,
): Promise<PreparedAttempt> {
  const { step, running, input, session } = planned;
  if (step.isProbe) parts.access.remember(running, noteProbe(input.memory, parts.now()));
  await parts.audit(step, running, session?.session.wish.credentials ?? null);
  const identity = step.identity === 'browser' ? await identityFor(planned, route, parts) : null;
  return { route, identity, how: await howToFetch(planned, route, identity, parts) };
}

/** A page whose cookies could not be kept is fetched again: the next one would not be logged in. */
export async function keepSession(
  { session, step }: PlannedAttempt,
  { route: { proxy }, identity }: PreparedAttempt,
  fetched: Fetched,
  resources: Pick<FetchResources, 'sessions'>,
): Promise<Fetched> {
  if (session === null) return fetched;
  const storage = fetched.kind === 'error' ? null : (fetched.response.rendered?.extra.storage ?? null);
  // A proxy of the caller's belongs to the request, not to the session.
  const isOurs = proxy !== null && step.proxyTier !== OWN_PROXY;
  const kept = isOurs ? { id: proxy.id, tier: proxy.tier, country: proxy.country } : null;
  try {
    await resources.sessions.end(session, { proxy: kept, identity, storage });
    return fetched;
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return { kind: 'error', error, ms: 0 };
  }
}

/** A session keeps its own; others get one for the job, so that the pages of a site see one visitor. */
function identityFor(
  { session, running }: PlannedAttempt,
  { proxy }: ProxyRoute,
  { hostKey, resources }: PrepareParts,
): Promise<Identity> {
  const region = proxy?.country ?? null;
  const family = running.job.options.page.identityBrowser;
  const kept = session?.session.identity ?? null;
  const isRight = kept !== null && (region === null || kept.region === region) && kept.family === family;
  if (isRight) return Promise.resolve(kept);
  return resources.identity(session?.key ?? `${running.job.id} ${hostKey}`, region, family);
}

/** The way in which nearly all pages are fetched. */
const PLAINLY: HowToFetch = {};

async function howToFetch(
  { step, session, running, task }: PlannedAttempt,
  { proxy }: ProxyRoute,
  identity: Identity | null,
  { hostKey, resources, access }: PrepareParts,
): Promise<HowToFetch> {
  if (step.engine === 'replay') return howToReplay(running.job.options, task, session);
  const isScripted = runsScripts(step.engine);
  if (proxy === null && identity === null && session === null && !step.hasSolver && !isScripted)
    return PLAINLY;
  const { job } = running;
  const page = pageOptionsFor(job.options, task.url);
  const { body, fillBodyFrom } = page;
  const render = renderFor(page, step, access.policy(), resources.manner);
  const common: HowToFetch = {
    ...(proxy === null ? {} : { proxy }),
    ...(identity === null ? {} : { identity }),
    ...(step.hasSolver ? { maySolve: true } : {}),
    ...(session === null ? {} : { jar: session.jar }),
  };
  const credential = session === null ? null : await resources.credentials.forSession(session.session);
  if (credential !== null) requireCredentialAccess(job.options);
  const mayShow = credential === null || job.options.credentials === 'read';
  const given = {
    ...common,
    ...(credential === null ? {} : { personal: credentialHeaders(credential, task.atUrl) }),
    ...(mayShow ? {} : { secrets: credentialSecrets(credential) }),
    // The body is not sent on to another host by a redirect.
    ...(fillBodyFrom === undefined || body === null || task.hops > 0
      ? {}
      : { body: fillBody(body, credential, { url: task.atUrl, pageUrl: fillBodyFrom }) }),
  };
  if (!isScripted) return given;
  const { actions } = render ?? {};
  return {
    ...given,
    ...(hasLostBrowser(task.trace) ? { runsAlone: true } : {}),
    key: session?.key ?? `${job.accountId} ${job.id} ${hostKey}`,
    ...(session === null ? {} : { jar: undefined, storage: session.storage, wantsStorage: true }),
    ...(render === null
      ? {}
      : {
          render:
            actions === undefined ? render : { ...render, actions: fillIn(actions, credential, task.atUrl) },
        }),
  };
}

/** An archive is told what a browser was to do, and says where it has nothing of it. Nothing is logged in to. */
function howToReplay(options: JobOptions, { url }: Task, session: PlannedAttempt['session']): HowToFetch {
  const { render } = pageOptionsFor(options, url);
  if (render === null && session === null) return PLAINLY;
  return { ...(render === null ? {} : { render }), ...(session === null ? {} : { jar: session.jar }) };
}

/** Screens that the pages of these types are scrolled by, because parts of them load on the way. */
const TYPE_SCROLL: RenderScroll = { maxSteps: 10, pauseMs: 300 };

/** The wish of the request, with the scrolling of its type and the manner of a disguised browser. */
function renderFor(
  { render, scrollsByType = false }: Pick<PageOptions, 'render' | 'scrollsByType'>,
  { engine, identity }: Pick<PlannedAttempt['step'], 'engine' | 'identity'>,
  { actionPauseMs }: Pick<HostPolicy, 'actionPauseMs'>,
  usual: HumanManner,
): RenderWish | null {
  if (engine !== 'browser' && engine !== 'stealth') return render;
  const isDisguised = engine === 'stealth' || identity === 'browser';
  if (!scrollsByType && !isDisguised) return render;
  const pauses =
    actionPauseMs === null ? {} : { minPauseMs: actionPauseMs.min, maxPauseMs: actionPauseMs.max };
  return {
    ...(scrollsByType ? { scroll: TYPE_SCROLL } : {}),
    ...render,
    ...(isDisguised ? { manner: { ...usual, ...pauses } } : {}),
  };
}

/**
 * Writes to the audit log each use of what needs the operator's consent, and each use of stored credentials: once for
 * each job of this owner of the host.
 */
export function createUseAudit(
  store: Pick<AuditStore, 'audit'>,
  host: HostKey,
  now: () => number,
): (step: AttemptStep, running: RunningJob, credentials: string | null) => Promise<void> {
  /** Bounded by the jobs of one slice. */
  const written = new Set<string>();
  const isNew = (use: string) => !written.has(use) && written.add(use) !== undefined;
  return async (step, { job }, credentials) => {
    const needed = consentsOf(step);
    if (needed.length === 0 && credentials === null) return;
    const entries: AuditEntry[] = [];
    const common = { at: now(), actor: job.accountId, target: host };
    const consents = needed.filter((consent) => isNew(`${job.id} consent ${consent}`));
    const { engine, reason } = step;
    if (consents.length > 0) {
      const details = { jobId: job.id, consents, engine, reason };
      entries.push({ ...common, action: 'consent.use', details });
    }
    if (credentials !== null && isNew(`${job.id} credentials ${credentials}`)) {
      entries.push({ ...common, action: 'credential.use', details: { jobId: job.id, credentials, engine } });
    }
    if (entries.length > 0) await store.audit(entries);
  };
}

function consentsOf({ engine, identity, hasSolver }: AttemptStep): Consent[] {
  const consents: Consent[] = [];
  const { consent } = traitsOf(engine);
  if (consent !== null) consents.push(consent);
  else if (identity === 'browser') consents.push('identity');
  if (hasSolver) consents.push('captcha');
  return consents;
}
