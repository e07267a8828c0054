import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import { isDisguised } from '../../../core/model/engine-traits.ts';
import type { IdentityKind } from '../../../core/model/identity.ts';
import type { Consent } from '../../../core/model/policy.ts';
import type { PlanReason } from '../../../core/model/reasons.ts';
import type { HostMemory } from '../../../core/ports/host-store.ts';
import { chargedAttempts, errorCodeOf, evidenceOf, type MethodEvidence, wasRedirect } from '../outcome.ts';
import {
  type Ability,
  costOf,
  type FetchMethod,
  type Installation,
  isSameMethod,
  type LadderPolicy,
  type LadderRequest,
  possibleMethods,
  raisedBy,
} from './fetch-methods.ts';
import { bestFirst, isLikely, isProven } from './host-memory.ts';

/** An attempt of the task's trace; without an identity it was made as honestly as its engine can. */
export type PastAttempt = Pick<
  Attempt,
  'engine' | 'proxyTier' | 'outcome' | 'errorCode' | 'statusCode' | 'ledOn'
> & {
  readonly identity?: IdentityKind;
  readonly hasSolver?: boolean;
};

export interface LadderInput {
  readonly request: LadderRequest;
  readonly policy: LadderPolicy;
  readonly installation: Installation;
  readonly memory: HostMemory;
  /** Oldest first. What came before a redirect to this host happened elsewhere and says nothing here. */
  readonly trace: readonly PastAttempt[];
}

export type LadderStep =
  | (FetchMethod & {
      readonly kind: 'attempt';
      /** Whether a captcha may be given to the solver service. */
      readonly hasSolver: boolean;
      /** A cheaper method than the one that works, to notice when the host changes; call `noteProbe`. */
      readonly isProbe: boolean;
      /** The method of the last attempt once more, after an accident: a pause may help. */
      readonly isRetry: boolean;
      readonly reason: PlanReason;
    })
  /** A code says that the task failed, or was never allowed; null leaves the result of the last attempt. */
  | {
      readonly kind: 'stop';
      readonly code: ErrorCode | null;
      readonly reason: PlanReason;
      /** The consents of the operator that would have opened a further method; missing when none would. */
      readonly missingConsents?: readonly Consent[];
    };

/** One page in fifty, and one in an hour. */
const PROBE_SHARE = 0.02;
const PROBE_PAUSE_MS = 3_600_000;

/**
 * The next attempt at a page, or why there is none. The first is the cheapest that is likely to work. An accident is
 * tried again the same method; only evidence against a method leads to a dearer one, and never to a cheaper.
 *
 * A later attempt may be planned with an engine that does not answer at the moment: the page then waits for it.
 */
export function nextStep(input: LadderInput, now: number, random: () => number): LadderStep {
  const { request, policy, installation } = input;
  const here = sinceRedirect(input.trace);
  const last = here.at(-1);
  const evidence = last === undefined ? null : evidenceOf(last);
  if (last !== undefined && (evidence === 'worked' || evidence === 'final')) {
    return stop(errorCodeOf(last), `plan.over:${last.errorCode ?? last.outcome}`);
  }
  // An archive answers the same each time.
  if (last?.engine === 'replay')
    return stop(errorCodeOf(last), `plan.over:${last.errorCode ?? last.outcome}`);
  const possible = possibleMethods(request, policy, installation);
  const isFirst = last === undefined || evidence === null;
  if ('code' in possible) {
    if (isFirst) return stop(possible.code, possible.reason, possible.withheld);
    if (possible.silent.length === 0) return stop(errorCodeOf(last), possible.reason, possible.withheld);
  } else if (isFirst) return firstStep(input, possible.methods, now, random);
  const methods = 'code' in possible ? [] : possible.methods;
  const awaited = possible.silent.filter(({ engine }) =>
    installation.engines.some(({ name, isExpected }) => name === engine && isExpected === true),
  );

  const made = chargedAttempts(input.trace);
  if (made >= request.maxAttempts) return stop(errorCodeOf(last), `plan.attempts-spent:${made}`);
  const method = methodOf(last, request);
  if (evidence === 'transient') {
    const cause = last.errorCode ?? (last.outcome === 'error' ? String(last.statusCode) : last.outcome);
    // A browser reads responses that the parser of plain HTTP refuses.
    const rendered =
      last.errorCode === 'PROTOCOL_ERROR' && last.engine === 'http'
        ? escalate(input, methods, awaited, here, 'needs-javascript', now)
        : null;
    if (rendered?.kind === 'attempt') return { ...rendered, reason: `plan.render:${cause}` };
    if (![...methods, ...possible.silent].some((one) => isSameMethod(one, method)))
      return stop(errorCodeOf(last), `plan.way-gone:${cause}`);
    return { ...attempt(method, `plan.retry:${cause}`, last.hasSolver ?? false), isRetry: true };
  }
  const next = escalate(input, methods, awaited, here, evidence, now);
  if (next !== null) return next;
  const missing = missingConsents(input, evidence, possible.withheld);
  const note = missing.length === 0 ? '' : `; consent-required:${missing.join(',')}`;
  return stop(errorCodeOf(last), `plan.nothing-left:${evidence}${note}`, missing);
}

function firstStep(
  { request, installation, memory }: LadderInput,
  methods: readonly [FetchMethod, ...FetchMethod[]],
  now: number,
  random: () => number,
): LadderStep {
  const { tiers } = installation;
  const best = bestFirst(memory, methods, tiers, request.url, now)[0] ?? methods[0];
  const cheaper = methods.filter((method) => (raisedBy(best, method, tiers) ?? 0) > 0);
  if (cheaper.length > 0) {
    const isDue = now - memory.probedAt >= PROBE_PAUSE_MS;
    if (!isDue || random() >= PROBE_SHARE) return attempt(best, 'plan.remembered');
    const probed = cheaper[Math.floor(random() * cheaper.length)] ?? best;
    return { ...attempt(probed, 'plan.probe'), isProbe: true };
  }
  if (request.engine !== 'auto') return attempt(best, 'plan.requested');
  return attempt(best, request.needs.length > 0 ? `plan.needs:${request.needs.join(',')}` : 'plan.cheapest');
}

/**
 * The cheapest method that is proven on this host, else one step higher in everything that can be raised. Where only engines
 * that are away for a while could do that, the page waits for one of them. Null when nothing can.
 */
function escalate(
  input: LadderInput,
  methods: readonly FetchMethod[],
  awaited: readonly FetchMethod[],
  tried: readonly PastAttempt[],
  evidence: MethodEvidence,
  now: number,
): LadderStep | null {
  const step = escalateAmong(input, methods, tried, evidence, now);
  return step ?? (awaited.length === 0 ? null : escalateAmong(input, awaited, tried, evidence, now));
}

function escalateAmong(
  { request, policy, installation, memory }: LadderInput,
  methods: readonly FetchMethod[],
  tried: readonly PastAttempt[],
  evidence: MethodEvidence,
  now: number,
): LadderStep | null {
  const last = tried.at(-1);
  if (last === undefined) return null;
  const { tiers } = installation;
  const before = methodOf(last, request);
  const can = (method: FetchMethod, ability: Ability): boolean =>
    installation.engines.some(({ name, abilities }) => name === method.engine && abilities.includes(ability));
  const maySolve = evidence === 'captcha' && installation.hasSolver && policy.consent.includes('captcha');
  if (
    maySolve &&
    !last.hasSolver &&
    can(before, 'captcha') &&
    methods.some((method) => isSameMethod(method, before))
  ) {
    return attempt(before, 'plan.solve:captcha', true);
  }
  const higher = methods.filter((method) => {
    const raised = raisedBy(method, before, tiers);
    return (
      raised !== null && raised > 0 && !tried.some((past) => isSameMethod(methodOf(past, request), method))
    );
  });
  const needsScripts = evidence === 'needs-javascript';
  const fitting =
    needsScripts || evidence === 'captcha' ? higher.filter((method) => can(method, 'javascript')) : higher;
  const likely = fitting.filter((method) => isLikely(memory, method, request.url, now));
  const candidates = likely.length > 0 ? likely : fitting;
  const byCost = candidates.toSorted((a, b) => costOf(a, tiers) - costOf(b, tiers));
  // A shell is no objection to the identity or the address: only the engine has to change.
  const next = needsScripts
    ? bestFirst(memory, candidates, tiers, request.url, now)[0]
    : (byCost.find((method) => isProven(memory, method, request.url, now)) ??
      mostRaised(byCost, before, tiers));
  if (next === undefined) return null;
  return attempt(
    next,
    needsScripts ? `plan.render:${evidence}` : `plan.escalate:${evidence}`,
    maySolve && can(next, 'captcha'),
  );
}

/** The cheapest of those that differ in most; `methods` come cheapest first. */
function mostRaised(
  methods: readonly FetchMethod[],
  before: FetchMethod,
  tiers: readonly string[],
): FetchMethod | undefined {
  let best: FetchMethod | undefined;
  let most = 0;
  for (const method of methods) {
    const raised = raisedBy(method, before, tiers) ?? 0;
    if (raised > most) [best, most] = [method, raised];
  }
  return best;
}

function attempt(
  method: FetchMethod,
  reason: PlanReason,
  hasSolver = false,
): LadderStep & { kind: 'attempt' } {
  const { engine, proxyTier, identity } = method;
  return { kind: 'attempt', engine, proxyTier, identity, hasSolver, isProbe: false, isRetry: false, reason };
}

const stop = (code: ErrorCode | null, reason: PlanReason, missing: readonly Consent[] = []): LadderStep => ({
  kind: 'stop',
  code,
  reason,
  ...(missing.length === 0 ? {} : { missingConsents: missing }),
});

/** The consents that would have opened a further method. */
function missingConsents(
  { policy, installation }: LadderInput,
  evidence: MethodEvidence,
  withheld: readonly Consent[],
): readonly Consent[] {
  // Another identity does not run scripts.
  const helpful = evidence === 'needs-javascript' ? withheld.filter((one) => one === 'stealth') : withheld;
  const wantsSolver = evidence === 'captcha' && installation.hasSolver && !policy.consent.includes('captcha');
  return wantsSolver ? [...helpful, 'captcha'] : helpful;
}

export function methodOf({ engine, proxyTier, identity }: PastAttempt, request: LadderRequest): FetchMethod {
  const honest = isDisguised(engine) ? 'browser' : (request.identity ?? 'bot');
  return { engine, proxyTier, identity: identity ?? honest };
}

function sinceRedirect(trace: readonly PastAttempt[]): readonly PastAttempt[] {
  return trace.slice(trace.findLastIndex(wasRedirect) + 1);
}
