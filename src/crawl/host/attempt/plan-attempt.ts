import type { SessionUse } from '../../../capabilities/sessions/session.ts';
import { isPluginPart } from '../../../core/config/plugin-part.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import { traitsOf } from '../../../core/model/engine-traits.ts';
import type { PageOptions, ProxyOptions } from '../../../core/model/job.ts';
import type { Consent, HostPolicy } from '../../../core/model/policy.ts';
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
