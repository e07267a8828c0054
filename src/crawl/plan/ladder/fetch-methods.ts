import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import { traitsOf } from '../../../core/model/engine-traits.ts';
import type { IdentityKind } from '../../../core/model/identity.ts';
import type { KeptOptions, PlainRenderOption } from '../../../core/model/page-option.ts';
import { PLAIN_RENDER_OPTIONS } from '../../../core/model/plain-options.ts';
import type { Consent, HostPolicy } from '../../../core/model/policy.ts';
import { PROXY_TIERS, type ProxyTier } from '../../../core/model/proxy.ts';
import { fillWords, type ReasonSpec, reasonWords } from '../../../core/model/reason-spec.ts';
import { PLAN_REASONS, type PlanReason, readReason } from '../../../core/model/reasons.ts';
import type { RenderWish } from '../../../core/model/render.ts';

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

/**
 * What an engine may be able to do. `impersonation`: it can send a browser's headers and handshake. `captcha`: it can
 * hand a captcha to a solver service. `proxies`: it can go through one. `waits`: it can wait for something on the page.
 * `messages`: it sends headers and bodies of the caller's. `devices`: it shows pages on the screen and in the place that
 * the caller chooses, which only a browser without a disguise can.
 */
export type Ability =
  | 'javascript'
  | 'screenshots'
  | 'actions'
  | 'pdf'
  | 'xhr'
  | 'impersonation'
  | 'captcha'
  | 'proxies'
  | 'waits'
  | 'messages'
  | 'devices';

export interface EngineOffer {
  readonly name: EngineName;
  readonly abilities: readonly Ability[];
  /** False when it is installed but no process takes its work at the moment. */
  readonly isAnswering: boolean;
  /**
   * True when an engine that does not answer now has answered this process before: pages that need the engine wait
   * for it.
   */
  readonly isExpected?: boolean;
}

/** The part of a request that decides how it can be made. */
export interface LadderRequest {
  readonly url: string;
  readonly engine: 'auto' | EngineName;
  /** Abilities that the other options need: a screenshot, a wait … */
  readonly needs: readonly Ability[];
  /** When null, the most honest one that is possible. */
  readonly identity: IdentityKind | null;
  /**
   * A tier that was asked for (null: any), or the name under which the caller's own proxy goes. Null: as policy and
   * need say.
   */
  readonly proxy:
    | { readonly tier: string | null; readonly isOwn: false }
    | { readonly tier: string; readonly isOwn: true }
    | null;
  /** The dearest tier that the caller allows; null: any. A proxy of the caller's own is of no tier. */
  readonly maxTier: ProxyTier | null;
  /** The first one included. */
  readonly maxAttempts: number;
}

export interface Installation {
  readonly engines: readonly EngineOffer[];
  /** Tiers with at least one proxy, from cheap to dear. */
  readonly tiers: readonly string[];
  /** Whether a solver service for captchas is set up. */
  readonly hasSolver: boolean;
}

export type LadderPolicy = Pick<HostPolicy, 'engines' | 'proxyTier' | 'maxProxyTier' | 'consent'>;

/** Why no method is left. */
interface PlanRefusal {
  readonly code: ErrorCode;
  readonly reason: PlanReason;
  /** Consents that would open a method. */
  readonly withheld: readonly Consent[];
  /** Methods of engines that do not answer at the moment. */
  readonly silent: readonly FetchMethod[];
}

type Possible =
  | {
      readonly methods: readonly [FetchMethod, ...FetchMethod[]];
      /** Consents that would open further methods. */
      readonly withheld: readonly Consent[];
      /** Methods of engines that do not answer at the moment. */
      readonly silent: readonly FetchMethod[];
    }
  | PlanRefusal;

/** Every method that the request wants, policy allows and this installation has; or the first reason that leaves none. */
export function possibleMethods(
  request: LadderRequest,
  policy: LadderPolicy,
  installation: Installation,
): Possible {
  const { engine, identity } = request;
  const isPlain = request.needs.length === 0 && request.proxy === null && request.maxTier === null;
  if (!isPlain) return findMethods(request, policy, installation);
  const isAskedAgain =
    lastPlain?.policy === policy &&
    lastPlain.installation === installation &&
    lastPlain.engine === engine &&
    lastPlain.identity === identity;
  if (!isAskedAgain || lastPlain === null) {
    lastPlain = {
      policy,
      installation,
      engine,
      identity,
      possible: findMethods(request, policy, installation),
    };
  }
  return lastPlain.possible;
}

// The pages of a crawl ask the same thing one after the other.
let lastPlain:
  | (Pick<LadderRequest, 'engine' | 'identity'> & {
      readonly policy: LadderPolicy;
      readonly installation: Installation;
      readonly possible: Possible;
    })
  | null = null;

function findMethods(request: LadderRequest, policy: LadderPolicy, installation: Installation): Possible {
  const tiers = tiersFor(request, policy, installation.tiers);
  if (typeof tiers === 'string') return refusal('UNSUPPORTED_OPTION', `plan.no-proxy-tier:${tiers}`);

  const asked = request.engine;
  const named = installation.engines.filter(({ name }) => asked === 'auto' || name === asked);
  if (named.length === 0) return refusal('UNSUPPORTED_OPTION', `plan.no-engine:${asked}`);
  const allowed = named.filter(({ name }) => policy.engines.includes(name));
  if (allowed.length === 0) return refusal('UNSUPPORTED_OPTION', `plan.not-allowed:${asked}`);
  const able = allowed.filter((offer) => request.needs.every((need) => offer.abilities.includes(need)));
  if (able.length === 0) {
    const missing = request.needs.filter((need) =>
      allowed.some(({ abilities }) => !abilities.includes(need)),
    );
    return refusal('UNSUPPORTED_OPTION', `plan.cannot:${missing.join(',')}`);
  }
  const conceivable = able.filter((offer) => identitiesFor(offer, request, ALL_CONSENTS).length > 0);
  if (conceivable.length === 0) return refusal('UNSUPPORTED_OPTION', `plan.no-identity:${request.identity}`);
  const consented = conceivable.filter((offer) => identitiesFor(offer, request, policy.consent).length > 0);
  const withheld = missingConsents(able, request, policy.consent);
  if (consented.length === 0) {
    return refusal('CONSENT_REQUIRED', `plan.consent-required:${withheld.join(',')}`, withheld);
  }
  const reaching = consented.filter((offer) => tiers.some((tier) => canGoBy(offer, tier)));
  if (reaching.length === 0) return refusal('UNSUPPORTED_OPTION', 'plan.cannot:proxies');
  const methodsOf = (offers: readonly EngineOffer[]): FetchMethod[] =>
    offers
      .toSorted((one, other) => traitsOf(one.name).cost - traitsOf(other.name).cost)
      .flatMap((offer) =>
        identitiesFor(offer, request, policy.consent).flatMap((identity) =>
          tiers
            .filter((tier) => canGoBy(offer, tier))
            .map((proxyTier): FetchMethod => ({ engine: offer.name, proxyTier, identity })),
        ),
      );
  const silent = methodsOf(reaching.filter(({ isAnswering }) => !isAnswering));
  const [first, ...others] = methodsOf(reaching.filter(({ isAnswering }) => isAnswering));
  if (first === undefined) {
    return { ...refusal('NO_WORKER', noWorkerReason(reaching.map(({ name }) => name))), silent };
  }
  return { methods: [first, ...others], withheld, silent };
}

/** Why a page has to wait for a process that runs one of the engines. */
export const noWorkerReason = (engines: readonly EngineName[]): PlanReason =>
  `plan.no-worker:${engines.join(',')}`;

const ALL_CONSENTS: readonly Consent[] = ['robots', 'stealth', 'captcha', 'identity'];

const refusal = (code: ErrorCode, reason: PlanReason, withheld: readonly Consent[] = []): PlanRefusal => ({
  code,
  reason,
  withheld,
  silent: [],
});

const canGoBy = ({ abilities }: EngineOffer, tier: string | null): boolean =>
  tier === null || abilities.includes('proxies');

/** The tiers that may be tried; the name of the missing tier when there are none. */
function tiersFor(
  { proxy, maxTier }: LadderRequest,
  { proxyTier, maxProxyTier }: LadderPolicy,
  installed: readonly string[],
): readonly (string | null)[] | string {
  if (proxy?.isOwn === true) return [proxy.tier];
  const dear = [maxTier, maxProxyTier].flatMap((tier) =>
    tier === null ? [] : PROXY_TIERS.slice(PROXY_TIERS.indexOf(tier) + 1),
  );
  const tiers = installed.filter((tier) => !dear.some((one) => one === tier));
  if (proxy !== null) {
    if (proxy.tier !== null) return tiers.includes(proxy.tier) ? [proxy.tier] : proxy.tier;
    return tiers.length > 0 ? tiers : 'any';
  }
  if (proxyTier === null) return [null, ...tiers];
  // Without the tier that the operator wants to begin with, our own address must not be shown instead.
  return tiers.includes(proxyTier) ? tiers.slice(tiers.indexOf(proxyTier)) : proxyTier;
}

function identitiesFor(
  { name, abilities }: EngineOffer,
  { identity, needs }: LadderRequest,
  consent: readonly Consent[],
): readonly IdentityKind[] {
  const { isDisguised, consent: needed } = traitsOf(name);
  if (needed !== null && !consent.includes(needed)) return [];
  if (isDisguised) return identity === 'bot' ? [] : ['browser'];
  // The identity of a browser has a screen and a place of its own.
  const isFree = !needs.includes('devices');
  const canDisguise = isFree && abilities.includes('impersonation') && consent.includes('identity');
  if (identity === 'bot') return ['bot'];
  if (identity === 'browser') return canDisguise ? ['browser'] : [];
  return canDisguise ? ['bot', 'browser'] : ['bot'];
}

function missingConsents(
  offers: readonly EngineOffer[],
  request: LadderRequest,
  consent: readonly Consent[],
): Consent[] {
  return (['stealth', 'identity'] as const).filter((one) => {
    if (consent.includes(one)) return false;
    const more = [...consent, one];
    return offers.some(
      (offer) => identitiesFor(offer, request, more).length > identitiesFor(offer, request, consent).length,
    );
  });
}

/** The options that plain HTTP cannot honour, as far as they were given. */
interface BrowserOptions extends KeptOptions<typeof PLAIN_RENDER_OPTIONS> {
  readonly wait?: RenderWish['wait'] | null;
  readonly scroll?: unknown;
  readonly actions?: readonly unknown[] | null | undefined;
  readonly screenshot?: unknown;
  readonly device?: unknown;
  readonly formats: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

const BY_FORMAT: Readonly<Record<string, Ability>> = { screenshot: 'screenshots', pdf: 'pdf', xhr: 'xhr' };

/** The abilities that an engine needs to honour the options; empty when every engine can. */
export function neededAbilities(options: BrowserOptions): Ability[] {
  const { wait, scroll, actions, screenshot, device, formats, headers = {}, method = 'GET' } = options;
  const needs = new Set<Ability>();
  if (isGiven(wait) || isGiven(scroll) || needsBrowser(options)) needs.add('javascript');
  if (isGiven(scroll) || wait?.selector !== undefined || wait?.until !== undefined) needs.add('waits');
  if (method !== 'GET' || Object.keys(headers).length > 0) needs.add('messages');
  if (isGiven(actions) && actions.length > 0) needs.add('actions');
  if (isGiven(screenshot)) needs.add('screenshots');
  if (isGiven(device)) needs.add('devices');
  for (const format of formats) {
    const ability = BY_FORMAT[format];
    if (ability !== undefined) needs.add(ability);
  }
  return [...needs];
}

const needsBrowser = (options: BrowserOptions): boolean =>
  Object.entries<PlainRenderOption>(PLAIN_RENDER_OPTIONS).some(
    ([name, option]) => option.needsBrowser && isGiven({ ...options }[name]),
  );

const isGiven = <T>(option: T): option is NonNullable<T> => option !== undefined && option !== null;
