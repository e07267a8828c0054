import type { EngineName } from '../../../core/model/attempt.ts';
import { traitsOf } from '../../../core/model/engine-traits.ts';
import type { IdentityKind } from '../../../core/model/identity.ts';
import { PLAN_REASONS } from '../../../core/model/plan-reasons.ts';
import { fillWords, type ReasonSpec, reasonWords } from '../../../core/model/reason-spec.ts';
import { readReason } from '../../../core/model/reasons.ts';

/** How a page is requested: by which engine, through which tier of proxies, under which identity. */
export interface FetchMethod {
  readonly engine: EngineName;
  /** Tier of the proxy; null for a direct connection. */
  readonly proxyTier: string | null;
  readonly identity: IdentityKind;
}

/** The cheapest tier; each further one costs as many times more. */
const FIRST_TIER_COST = 2;
const TIER_FACTOR = 3;
/** Next to nothing, so that the honest identity is preferred where both work. */
const DISGUISE_COST = 0.5;

/** `tiers` from cheap to dear; a tier that is not among them is the caller's own proxy and costs nothing. */
export function costOf({ engine, proxyTier, identity }: FetchMethod, tiers: readonly string[]): number {
  const rank = tierRank(proxyTier, tiers);
  const tierCost = rank === 0 ? 0 : FIRST_TIER_COST * TIER_FACTOR ** (rank - 1);
  return traitsOf(engine).cost + tierCost + (identity === 'browser' ? DISGUISE_COST : 0);
}

/** 0 without a proxy. */
function tierRank(tier: string | null, tiers: readonly string[]): number {
  return tier === null ? 0 : tiers.indexOf(tier) + 1;
}

export function isSameMethod(one: FetchMethod, other: FetchMethod): boolean {
  return one.engine === other.engine && one.proxyTier === other.proxyTier && one.identity === other.identity;
}

/** How many of engine, tier and identity are higher than before; null when one of them is lower. */
export function raisedBy(method: FetchMethod, before: FetchMethod, tiers: readonly string[]): number | null {
  const steps = [
    traitsOf(method.engine).cost - traitsOf(before.engine).cost,
    tierRank(method.proxyTier, tiers) - tierRank(before.proxyTier, tiers),
    Number(method.identity === 'browser') - Number(before.identity === 'browser'),
  ];
  return steps.some((step) => step < 0) ? null : steps.filter((step) => step > 0).length;
}

/** Why a page is fetched the way it is, or cannot be fetched at all: the reason of a step of the ladder as a sentence. */
export function planSentence(reason: string, host: string): string {
  const [code = '', ...notes] = reason.split('; ');
  const sentence = sentenceOf(code, host) ?? `The reason is ${code}.`;
  const consents = notes.flatMap((note) => /^consent-required:(.+)$/.exec(note)?.[1] ?? []);
  if (consents.length === 0) return sentence;
  return `${sentence} The operator's consent to ${quoted(consents.join(','))} for ${host} would open another way.`;
}

function sentenceOf(code: string, host: string): string | null {
  const read = readReason(code);
  const specs: Readonly<Record<string, ReasonSpec>> = PLAN_REASONS;
  const spec = read === null ? undefined : specs[read.name];
  const what = read?.what ?? '';
  const words = spec === undefined ? null : reasonWords(spec, what);
  return words === null
    ? null
    : fillWords(words, { host: () => host, what: () => what, quoted: () => quoted(what) });
}

const quoted = (names: string) =>
  names
    .split(',')
    .map((name) => `\`${name}\``)
    .join(', ');
