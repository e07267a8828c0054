import type { ErrorCode } from '../../errors/registry.ts';
import type { Attempt } from '../../model/attempt.ts';
import type { HostMemory } from '../../model/host-memory.ts';
import type { IdentityKind } from '../../model/identity.ts';
import type { Consent } from '../../model/policy.ts';
import { chargedAttempts, wasRedirect } from './charged-attempts.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { costOf, type FetchMethod, isSameMethod, raisedBy } from './fetch-method.ts';
import { bestFirst, isLikely, isProven } from './host-memory.ts';
import {
  type Ability,
  type Installation,
  type LadderPolicy,
  type LadderRequest,
  possibleMethods,
} from './possible-methods.ts';

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
      /** Whether a puzzle may be given to the solver service. */
      readonly hasSolver: boolean;
      /** A cheaper way than the one that works, to notice when the host changes; tell `noteProbe`. */
      readonly isProbe: boolean;
      /** The same way once more, after an accident: a pause may help. */
      readonly isRetry: boolean;
      readonly reason: string;
    })
  /** With a code: it failed, or was never allowed. Without: what the last attempt brought stands. */
  | { readonly kind: 'stop'; readonly code: ErrorCode | null; readonly reason: string };

/** One page in fifty, and one in an hour. */
const PROBE_SHARE = 0.02;
const PROBE_PAUSE_MS = 3_600_000;

/**
 * The next attempt at a page, or why there is none. The first is the cheapest that is likely to work. An accident is
 * tried again the same way; only evidence against a way leads to a dearer one, and never to a cheaper.
 */
export function nextStep(input: LadderInput, now: number, random: () => number): LadderStep {
  const { request, policy, installation } = input;
  const here = sinceRedirect(input.trace);
  const last = here.at(-1);
  const evidence = last === undefined ? null : evidenceOf(last);
  if (last !== undefined && (evidence === 'worked' || evidence === 'final')) {
    return stop(endCode(last, evidence), `plan.over:${last.errorCode ?? last.outcome}`);
  }
  const possible = possibleMethods(request, policy, installation);
  if ('code' in possible)
    return last === undefined || evidence === null
      ? { kind: 'stop', ...possible }
      : stop(endCode(last, evidence), possible.reason);
  if (last === undefined || evidence === null) return firstStep(input, possible.ways, now, random);

  const made = chargedAttempts(input.trace);
  if (made >= request.maxAttempts) return stop(endCode(last, evidence), `plan.attempts-spent:${made}`);
  const way = methodOf(last, request);
  if (evidence === 'transient') {
    const cause = last.errorCode ?? (last.outcome === 'error' ? String(last.statusCode) : last.outcome);
    if (!possible.ways.some((one) => isSameMethod(one, way)))
      return stop(endCode(last, evidence), `plan.way-gone:${cause}`);
    return { ...attempt(way, `plan.retry:${cause}`, last.hasSolver ?? false), isRetry: true };
  }
  return (
    escalate(input, possible.ways, here, evidence, now) ??
    stop(
      endCode(last, evidence),
      `plan.nothing-left:${evidence}${consentNote(input, evidence, possible.withheld)}`,
    )
  );
}

function firstStep(
  { request, installation, memory }: LadderInput,
  ways: readonly [FetchMethod, ...FetchMethod[]],
  now: number,
  random: () => number,
): LadderStep {
  const { tiers } = installation;
  const best = bestFirst(memory, ways, tiers, request.url, now)[0] ?? ways[0];
  const cheaper = ways.filter((way) => (raisedBy(best, way, tiers) ?? 0) > 0);
  if (cheaper.length > 0) {
    const isDue = now - memory.probedAt >= PROBE_PAUSE_MS;
    if (!isDue || random() >= PROBE_SHARE) return attempt(best, 'plan.remembered');
    const probed = cheaper[Math.floor(random() * cheaper.length)] ?? best;
    return { ...attempt(probed, 'plan.probe'), isProbe: true };
  }
  if (request.engine !== 'auto') return attempt(best, 'plan.requested');
  return attempt(best, request.needs.length > 0 ? `plan.needs:${request.needs.join(',')}` : 'plan.cheapest');
}

/** Up to what is proven on this host, else by one step in everything that can be raised. Null when nothing can. */
function escalate(
  { request, policy, installation, memory }: LadderInput,
  ways: readonly FetchMethod[],
  tried: readonly PastAttempt[],
  evidence: Evidence,
  now: number,
): LadderStep | null {
  const last = tried.at(-1);
  if (last === undefined) return null;
  const { tiers } = installation;
  const before = methodOf(last, request);
  const can = (way: FetchMethod, ability: Ability): boolean =>
    installation.engines.some(({ name, abilities }) => name === way.engine && abilities.includes(ability));
  const maySolve = evidence === 'captcha' && installation.hasSolver && policy.consent.includes('captcha');
  if (
    maySolve &&
    !last.hasSolver &&
    can(before, 'captcha') &&
    ways.some((way) => isSameMethod(way, before))
  ) {
    return attempt(before, 'plan.solve:captcha', true);
  }
  const higher = ways.filter((way) => {
    const raised = raisedBy(way, before, tiers);
    return raised !== null && raised > 0 && !tried.some((past) => isSameMethod(methodOf(past, request), way));
  });
  const needsScripts = evidence === 'needs-javascript';
  const fitting =
    needsScripts || evidence === 'captcha' ? higher.filter((way) => can(way, 'javascript')) : higher;
  const likely = fitting.filter((way) => isLikely(memory, way, request.url, now));
  const candidates = likely.length > 0 ? likely : fitting;
  const byCost = candidates.toSorted((a, b) => costOf(a, tiers) - costOf(b, tiers));
  // A shell is no objection to who we are or where we come from: only the engine has to change.
  const next = needsScripts
    ? bestFirst(memory, candidates, tiers, request.url, now)[0]
    : (byCost.find((way) => isProven(memory, way, request.url, now)) ?? mostRaised(byCost, before, tiers));
  if (next === undefined) return null;
  return attempt(
    next,
    `plan.${needsScripts ? 'render' : 'escalate'}:${evidence}`,
    maySolve && can(next, 'captcha'),
  );
}

/** The cheapest of those that differ in most; `ways` come cheapest first. */
function mostRaised(
  ways: readonly FetchMethod[],
  before: FetchMethod,
  tiers: readonly string[],
): FetchMethod | undefined {
  let best: FetchMethod | undefined;
  let most = 0;
  for (const way of ways) {
    const raised = raisedBy(way, before, tiers) ?? 0;
    if (raised > most) [best, most] = [way, raised];
  }
  return best;
}

function attempt(way: FetchMethod, reason: string, hasSolver = false): LadderStep & { kind: 'attempt' } {
  const { engine, proxyTier, identity } = way;
  return { kind: 'attempt', engine, proxyTier, identity, hasSolver, isProbe: false, isRetry: false, reason };
}

const stop = (code: ErrorCode | null, reason: string): LadderStep => ({ kind: 'stop', code, reason });

/** Names the consents that would have opened a further way. */
function consentNote(
  { policy, installation }: LadderInput,
  evidence: Evidence,
  withheld: readonly Consent[],
): string {
  // Another name does not run scripts.
  const helpful = evidence === 'needs-javascript' ? withheld.filter((one) => one === 'stealth') : withheld;
  const wantsSolver = evidence === 'captcha' && installation.hasSolver && !policy.consent.includes('captcha');
  const missing = wantsSolver ? [...helpful, 'captcha'] : helpful;
  return missing.length === 0 ? '' : `; consent-required:${missing.join(',')}`;
}

function endCode(last: PastAttempt, evidence: Evidence): ErrorCode | null {
  if (last.errorCode !== undefined) return last.errorCode;
  if (evidence === 'blocked') return 'BLOCKED';
  if (evidence === 'captcha') return 'CAPTCHA';
  if (last.outcome === 'rate-limited') return 'HOST_RATE_LIMITED';
  return last.outcome === 'error' || (last.statusCode ?? 0) >= 400 ? 'HTTP_ERROR' : null;
}

export function methodOf({ engine, proxyTier, identity }: PastAttempt, request: LadderRequest): FetchMethod {
  const honest = engine === 'stealth' || engine === 'flaresolverr' ? 'browser' : (request.identity ?? 'bot');
  return { engine, proxyTier, identity: identity ?? honest };
}

function sinceRedirect(trace: readonly PastAttempt[]): readonly PastAttempt[] {
  return trace.slice(trace.findLastIndex(wasRedirect) + 1);
}
