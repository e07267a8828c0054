import type { SessionUse } from '../../../capabilities/sessions/session.ts';
import { isPluginPart } from '../../../core/config/plugin-part.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import { traitsOf } from '../../../core/model/engine-traits.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { PageOptions, ProxyOptions } from '../../../core/model/job.ts';
import type { Consent, HostPolicy } from '../../../core/model/policy.ts';
import { PROXY_TIERS, type ProxyEndpoint, type ProxyTier } from '../../../core/model/proxy.ts';
import type { PlanReason } from '../../../core/model/reasons.ts';
import type { Task } from '../../../core/model/task.ts';
import { pageOptionsFor } from '../../frontier/routes.ts';
import {
  type LadderPolicy,
  type LadderRequest,
  neededAbilities,
  noWorkerReason,
  planSentence,
} from '../../plan/ladder/fetch-methods.ts';
import { NO_MEMORY } from '../../plan/ladder/host-memory.ts';
import { type LadderInput, type LadderStep, nextStep } from '../../plan/ladder/ladder.ts';
import { type ProxiedAttemptEnd, proxyOutcomeOf } from '../../plan/outcome.ts';
import type { ProxyUse } from '../../plan/proxies/proxy-pool.ts';
import type { HostAccess } from '../access/host-access.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { RunningJob } from '../process/running-job.ts';

export type AttemptStep = Extract<LadderStep, { kind: 'attempt' }>;
type Stop = Extract<LadderStep, { kind: 'stop' }>;

/** An attempt as the ladder plans it. */
export interface PlannedAttempt {
  readonly task: Task;
  readonly running: RunningJob;
  readonly session: SessionUse | null;
  readonly input: LadderInput;
  readonly step: AttemptStep;
  /** Why nothing can be tried; `step` is then the attempt that is recorded with that reason. */
  readonly refusal: ScrapifieError | null;
}

export function planAttempt(
  task: Task,
  running: RunningJob,
  session: SessionUse | null,
  access: Pick<HostAccess, 'policy' | 'memoryFor'>,
  resources: Pick<FetchResources, 'installation' | 'isReplay'>,
  now: number,
  random: () => number,
): PlannedAttempt {
  const request = ladderRequest(task, running, session);
  const policy = ladderPolicy(access.policy(), running);
  const isReplay = resources.isReplay === true;
  const input: LadderInput = {
    request: isReplay ? { ...request, ...REPLAYED } : request,
    policy: isReplay ? { ...policy, ...REPLAY_POLICY } : policy,
    installation: resources.installation(),
    memory: access.memoryFor(running) ?? NO_MEMORY,
    trace: task.trace,
  };
  const next = nextStep(input, now, random);
  if (next.kind === 'attempt') {
    const offer = input.installation.engines.find(({ name }) => name === next.engine);
    const refusal = offer?.isAnswering === false ? noWorker(next.engine, task.atUrl) : null;
    return { task, running, session, input, step: next, refusal: running.refusal ?? refusal };
  }
  const refusal = running.refusal ?? refusalOf(next, task.atUrl);
  return { task, running, session, input, step: untried(next.reason, input), refusal };
}

/** Whatever was asked for: the archive is all there is. */
const REPLAYED = { engine: 'replay', identity: null, proxy: null, maxTier: null } as const;
const REPLAY_POLICY = { engines: ['replay'], proxyTier: null, maxProxyTier: null } as const;

/**
 * The ladder's step after the attempt. Engines that were not needed so far are discovered only now, and only after an
 * attempt that did not work.
 */
export async function stepAfter(
  { task, input }: PlannedAttempt,
  made: Task['trace'][number],
  resources: Pick<FetchResources, 'discover' | 'installation'>,
  now: () => number,
  random: () => number,
): Promise<LadderStep> {
  const isOver = made.outcome === 'ok';
  if (!isOver) await resources.discover();
  const installation = isOver ? input.installation : resources.installation();
  return nextStep({ ...input, installation, trace: [...task.trace, made] }, now(), random);
}

/** The tier under which the caller's own proxy stands in the trace. */
export const OWN_PROXY = 'own';

/** The part of a task that the ladder decides by. */
function ladderRequest(task: Task, { job }: RunningJob, session: SessionUse | null): LadderRequest {
  const page = pageOptionsFor(job.options, task.url);
  // A sitemap is a file: it is neither rendered nor acted on.
  const isPage = task.kind === 'page';
  const proxy = requestedProxy(page.proxy, session);
  return {
    url: task.atUrl,
    engine: isPage ? page.engine : 'http',
    needs: isPage ? needsOf(page) : [],
    identity: page.identity ?? session?.session.wish.identity ?? null,
    proxy:
      proxy === null
        ? null
        : proxy.url === null
          ? { tier: proxy.tier, isOwn: false }
          : { tier: OWN_PROXY, isOwn: true },
    maxTier: page.maxProxyTier ?? null,
    maxAttempts: page.maxAttempts,
  };
}

/** By the options of a job, which all its tasks share. */
const NEEDS = new WeakMap<PageOptions, LadderRequest['needs']>();

export function needsOf(page: PageOptions): LadderRequest['needs'] {
  const known = NEEDS.get(page);
  if (known !== undefined) return known;
  const { render, formats, headers, method } = page;
  const needs = neededAbilities({ ...render, formats, headers, method });
  NEEDS.set(page, needs);
  return needs;
}

/** The proxy options of the request take precedence over those of its session. */
export function requestedProxy(asked: ProxyOptions | null, session: SessionUse | null): ProxyOptions | null {
  const kept = session?.session.wish.proxy ?? null;
  return asked ?? (kept === null ? null : { ...kept, url: null });
}

/**
 * The policy with the consents that a command of the operator adds: naming an engine or an identity is the consent to it,
 * and to nothing else.
 */
function ladderPolicy(policy: HostPolicy, { job }: RunningJob): LadderPolicy {
  const { isOperated, page } = job.options;
  if (!isOperated) return policy;
  const ordered: Consent[] = [];
  const { engine } = page;
  const consent = engine === 'auto' ? null : traitsOf(engine).consent;
  if (consent !== null) ordered.push(consent);
  if (page.identity === 'browser') ordered.push('identity');
  const isNamed = engine !== 'auto' && (consent !== null || isPluginPart(engine));
  if (ordered.length === 0 && !isNamed) return policy;
  return {
    ...policy,
    engines: isNamed ? [...new Set([...policy.engines, engine])] : policy.engines,
    consent: [...new Set([...policy.consent, ...ordered])],
  };
}

/** The attempt that is recorded when none was made, with the reason. */
function untried(reason: PlanReason, { request }: LadderInput): AttemptStep {
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

const noWorker = (engine: EngineName, url: string): ScrapifieError =>
  new ScrapifieError('NO_WORKER', planSentence(noWorkerReason([engine]), new URL(url).host));

function refusalOf({ code, reason }: Stop, url: string): ScrapifieError {
  return new ScrapifieError(code ?? 'INTERNAL', planSentence(reason, new URL(url).host));
}

/** The proxy through which a request leaves, or none. Its user reports how the request ended. */
export interface ProxyRoute {
  readonly proxy: ProxyEndpoint | null;
  ended(end: ProxyRouteEnd): void;
}

export interface ProxyRouteEnd extends ProxiedAttemptEnd {
  readonly ms: number;
  readonly bytes: number;
}

type ProxyRouteDecision =
  | { readonly kind: 'go'; readonly route: ProxyRoute }
  /** Every proxy that fits was used for this host a moment ago. */
  | { readonly kind: 'wait'; readonly until: number; readonly reason: string };

/** Keeps one proxy for several requests. */
interface StickyProxy {
  readonly id: string;
  readonly proxyId: string | null;
}

const DIRECT: ProxyRoute = { proxy: null, ended: () => undefined };

/**
 * `ownTurn` says which of several proxies of the caller's is next. Throws NO_HEALTHY_PROXY when none can be used, and VALIDATION_FAILED for a proxy of the
 * caller's that is none.
 */
export function chooseProxyRoute(
  tier: string | null,
  wish: ProxyOptions | null,
  host: HostKey,
  sticky: StickyProxy | null,
  { proxies, ownProxy }: Pick<FetchResources, 'proxies' | 'ownProxy'>,
  now: () => number,
  ownTurn = 0,
): ProxyRouteDecision {
  if (tier === null) return { kind: 'go', route: DIRECT };
  if (tier === OWN_PROXY && wish?.url) {
    const url = wish.urls?.[ownTurn % wish.urls.length] ?? wish.url;
    return { kind: 'go', route: { proxy: ownProxy(url), ended: () => undefined } };
  }
  if (proxies === null || !isTier(tier)) {
    throw new ScrapifieError('NO_HEALTHY_PROXY', `No ${tier} proxy is set up.`);
  }
  const decision = proxies.choose({ host, tier, country: wish?.country ?? null, session: sticky }, now());
  if (decision.kind === 'wait') return decision;
  if (decision.kind === 'none') {
    const retryAfterMs = decision.retryAt === null ? undefined : Math.max(0, decision.retryAt - now());
    throw new ScrapifieError(
      'NO_HEALTHY_PROXY',
      decision.reason,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  const { use } = decision;
  return { kind: 'go', route: { proxy: use.proxy, ended: (end) => report(proxies, use, end, now()) } };
}

function report(
  proxies: NonNullable<FetchResources['proxies']>,
  use: ProxyUse,
  end: ProxyRouteEnd,
  now: number,
): void {
  proxies.ended(use, { outcome: proxyOutcomeOf(end), ms: end.ms, bytes: end.bytes }, now);
}

/**
 * The route of a request for robots.txt. Where pages go through a proxy, this request must not show our own address. Throws like `chooseProxyRoute`.
 */
export function chooseRobotsRoute(
  running: RunningJob,
  { proxyTier }: Pick<HostPolicy, 'proxyTier'>,
  host: HostKey,
  resources: FetchResources,
  now: () => number,
): ProxyRouteDecision {
  if (resources.isReplay === true) return { kind: 'go', route: DIRECT };
  const wish = running.job.options.page.proxy;
  const cheapest = () => resources.installation().tiers[0] ?? null;
  const wished = wish?.url == null ? (wish?.tier ?? cheapest()) : OWN_PROXY;
  if (wish !== null && wished === null) throw new ScrapifieError('NO_HEALTHY_PROXY', 'No proxy is set up.');
  const tier = wish === null ? proxyTier : wished;
  return chooseProxyRoute(tier, wish, host, null, resources, now, nextOwnTurn(running));
}

/** The pages of a job, and its requests for robots.txt, take the caller's proxies in turn. */
export function nextOwnTurn(running: RunningJob): number {
  running.ownTurn += 1;
  return running.ownTurn - 1;
}

const isTier = (tier: string): tier is ProxyTier => PROXY_TIERS.some((one) => one === tier);
