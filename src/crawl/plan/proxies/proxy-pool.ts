import { PROXY_TIERS, type ProxyEndpoint, type ProxyTier } from '../../../core/model/proxy.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { ProxyOutcome } from '../outcome.ts';
import { figuresOf, type PoolFigures } from './fleet-figures.ts';
import {
  BAN_SCORE,
  buildGroup,
  describeObstacles,
  endpointFor,
  HostMarks,
  isIn,
  loadOf,
  noteUse,
  type Obstacles,
  type PoolMember,
  type ProviderGroup,
} from './pool-members.ts';
import type { ProxyConfig } from './proxy-config.ts';
import {
  afterOutcome,
  canPass,
  type HealthRules,
  isHealthy,
  onEnd,
  onPass,
  opensAgainAt,
  type RequestEnd,
  RequestTally,
  restored,
} from './proxy-health.ts';

export interface ProxyQuery {
  /** The host that is to be fetched. */
  readonly host: string;
  /** Exactly this tier; null: the cheapest that there is. */
  readonly tier: ProxyTier | null;
  /** ISO 3166 in lower case; null: anywhere. */
  readonly country: string | null;
  /** Keeps one proxy for as long as that works; `proxyId` is what a stored session had, if anything. */
  readonly session: { readonly id: string; readonly proxyId: string | null } | null;
}

/** One use of a proxy. Its user reports how it ended. */
export interface ProxyUse {
  readonly proxy: ProxyEndpoint;
  readonly host: string;
  readonly chosenAt: number;
}

export type ProxyDecision =
  | { readonly kind: 'use'; readonly use: ProxyUse; readonly reason: string }
  /** There are proxies, but each was used for this host a moment ago. */
  | { readonly kind: 'wait'; readonly until: number; readonly reason: string }
  | {
      readonly kind: 'none';
      readonly code: 'NO_HEALTHY_PROXY';
      readonly reason: string;
      /** When asking again may help; null: not before the configuration changes. */
      readonly retryAt: number | null;
    };

/** How a check of a proxy ended; `sentAt` is when it began. */
export interface CheckEnd {
  readonly outcome: ProxyOutcome;
  readonly host: string;
  readonly sentAt: number;
}

export interface PoolRules {
  /** Pairs of proxy and host that are remembered. */
  readonly maxPairs: number;
  readonly maxSessions: number;
  readonly maxRetryMs: number;
}

const RULES: PoolRules = { maxPairs: 50_000, maxSessions: 20_000, maxRetryMs: 900_000 };

interface Pin {
  readonly proxyId: string;
  readonly country: string | null;
}

/**
 * Chooses proxies: within a tier the first or the least loaded provider that can serve, within a provider the next in turn among
 * those that are healthy, not banned by the host and not used for it a moment ago. Does no I/O and asks no clock:
 * its decisions follow from its arguments. Its memory is bounded by the rules and by the number of proxies.
 */
export class ProxyPool {
  private readonly groups: readonly ProviderGroup[];
  private readonly members = new Map<string, PoolMember>();
  private readonly tiers = new Map<ProxyTier, RequestTally>();
  private readonly marks: HostMarks;
  private readonly pins: BoundedMap<string, Pin>;
  private readonly cooldownMs: number;
  private readonly checkEveryMs: number;
  private readonly selection: ProxyConfig['selection'];
  private readonly health: HealthRules;
  private readonly random: () => number;

  constructor(config: ProxyConfig, random: () => number, rules: Partial<PoolRules> = {}) {
    const { maxPairs, maxSessions, maxRetryMs } = { ...RULES, ...rules };
    this.random = random;
    this.groups = config.providers.map((provider) => buildGroup(provider, random));
    for (const { members, provider } of this.groups) {
      this.tiers.set(provider.tier, this.tiers.get(provider.tier) ?? new RequestTally());
      for (const member of members) this.members.set(member.endpoint.id, member);
    }
    this.marks = new HostMarks(maxPairs);
    this.pins = new BoundedMap(maxSessions);
    this.cooldownMs = config.cooldownMs;
    this.checkEveryMs = config.checkEveryMs;
    this.selection = config.selection;
    this.health = { retryMs: config.checkEveryMs, maxRetryMs, hasChecks: config.checkUrl !== null };
  }

  choose(query: ProxyQuery, now: number): ProxyDecision {
    const { session } = query;
    const pin = session === null ? null : this.pinOf(session.id, session.proxyId, query);
    const kept = pin === null ? null : this.keep(pin, query, now);
    if (kept?.kind === 'use') return kept;

    const decision = this.chooseNew(query, now);
    if (decision.kind !== 'use' || session === null) return decision;
    this.pins.set(session.id, { proxyId: decision.use.proxy.id, country: query.country });
    const left = kept === null ? '' : `the session leaves ${pin?.proxyId ?? ''} (${kept.why}) for `;
    return { ...decision, reason: left + decision.reason };
  }

  /** Whether a configured proxy is of the tier, or of any when it is null, and in the country, healthy or not. */
  has(tier: ProxyTier | null, country: string | null): boolean {
    return this.groups.some(
      ({ provider, members }) =>
        (tier === null || provider.tier === tier) && members.some((member) => isIn(member, country)),
    );
  }

  /** How a use ended. To be called once for each; a use without a report counts for nothing. */
  ended({ proxy, host, chosenAt }: ProxyUse, end: RequestEnd, now: number): void {
    const member = this.members.get(proxy.id);
    if (member === undefined) return;
    const { outcome } = end;
    const wasHealthy = member.health.failedAt === null;
    for (const tally of [member.tally, member.group.tally, this.tiers.get(proxy.tier)]) tally?.add(end);
    member.health = afterOutcome(
      member.health,
      outcome,
      { host, sentAt: chosenAt, now },
      this.health,
      this.random,
    );
    if (outcome === 'banned') this.marks.blamed(proxy.id, host, BAN_SCORE.ban, now);
    if (outcome === 'throttled' || outcome === 'unclear') {
      this.marks.blamed(proxy.id, host, BAN_SCORE.suspicion, now);
    }
    if (outcome === 'served') this.marks.served(proxy.id, host, now);

    // A doubt counts against the provider only once it has turned into a failure of the proxy.
    const isConfirmed = outcome === 'unclear' && wasHealthy && member.health.failedAt !== null;
    const isFailure = outcome === 'proxy-failed' || isConfirmed;
    const saysNothing = outcome === 'nothing' || (outcome === 'unclear' && !isConfirmed);
    const { group } = member;
    group.breaker = onEnd(group.breaker, saysNothing ? null : isFailure, chosenAt, now);
  }

  /**
   * Proxies to check now: those that failed, once their pause is over, and listed ones of which nothing was heard for
   * a while. A gateway's exits are not checked without need, because their bytes cost money. Without a URL to fetch, a
   * check does not bring a failed proxy back, so that one is checked as seldom as the others.
   */
  due(now: number): readonly ProxyEndpoint[] {
    const isRested = ({ checkedAt }: PoolMember) =>
      this.health.hasChecks || now - checkedAt >= this.checkEveryMs;
    return [...this.members.values()]
      .filter((member) => {
        const { health, group } = member;
        if (health.failedAt !== null) return now >= health.retryAt && isRested(member);
        return group.provider.kind === 'list' && now - health.heardAt >= this.checkEveryMs;
      })
      .map((member) => endpointFor(member, null, null));
  }

  checked(proxyId: string, { outcome, host, sentAt }: CheckEnd, now: number): void {
    const member = this.members.get(proxyId);
    if (member === undefined) return;
    const { health } = member;
    member.checkedAt = now;
    const isAlive = outcome !== 'proxy-failed' && outcome !== 'unclear' && outcome !== 'nothing';
    // A proxy that listens need not carry requests: only a request that it carries brings it back.
    if (isAlive && health.failedAt !== null && !this.health.hasChecks) return;
    const hasFailedSince = health.failedAt !== null && health.failedAt > sentAt;
    member.health =
      isAlive && health.failedAt !== null && !hasFailedSince
        ? restored(health, now)
        : afterOutcome(health, outcome, { host, sentAt, now }, this.health, this.random);
  }

  figures(now: number): PoolFigures {
    return figuresOf(this.groups, this.tiers, this.health, now);
  }

  /** How much is remembered, for tests of the bound. */
  get remembered(): { readonly pairs: number; readonly sessions: number } {
    return { pairs: this.marks.size, sessions: this.pins.size };
  }

  private pinOf(sessionId: string, proxyId: string | null, { country }: ProxyQuery): Pin | null {
    return this.pins.peek(sessionId) ?? (proxyId === null ? null : { proxyId, country });
  }

  /** The session's proxy, cooldown or not: a visitor does not change address between two pages. */
  private keep(
    pin: Pin,
    query: ProxyQuery,
    now: number,
  ): Extract<ProxyDecision, { kind: 'use' }> | { readonly kind: 'leave'; readonly why: string } {
    const leave = (why: string) => ({ kind: 'leave', why }) as const;
    const member = this.members.get(pin.proxyId);
    if (member === undefined) return leave('no longer configured');
    const { tier } = member.endpoint;
    if (query.tier !== null && query.tier !== tier) return leave(`it is ${tier}`);
    const country = query.country ?? pin.country;
    if (!isIn(member, country)) return leave(`it is not in ${country}`);
    if (!canPass(member.group.breaker, now)) return leave('its provider kept failing');
    if (!isHealthy(member.health, this.health, now)) return leave('it failed');
    if (this.marks.bannedUntil(pin.proxyId, query.host) > now) return leave(`${query.host} banned it`);
    // Another country at a gateway is another address.
    const isMoved = country !== pin.country && member.group.provider.kind !== 'list';
    if (query.session !== null) this.pins.set(query.session.id, { proxyId: pin.proxyId, country });
    const reason = isMoved
      ? `the session moves to ${country} at ${pin.proxyId}`
      : `the session keeps ${pin.proxyId}`;
    return this.use(member, { ...query, country }, reason, now);
  }

  private chooseNew(query: ProxyQuery, now: number): ProxyDecision {
    const wanted = query.tier === null ? PROXY_TIERS.filter((tier) => this.tiers.has(tier)) : [query.tier];
    const inWay: string[] = [];
    let retryAt = Number.POSITIVE_INFINITY;

    for (const tier of wanted) {
      let restsUntil = Number.POSITIVE_INFINITY;
      for (const group of this.groupsOf(tier, now)) {
        const found = this.lookIn(group, query, now);
        const words = describeObstacles(found.obstacles, query.host, query.country, now);
        if (found.member !== null) {
          const turn = `next ${tier} proxy in turn`;
          const why = [...inWay, words].filter((text) => text !== '').join('; ');
          return this.use(found.member, query, why === '' ? turn : `${turn} (${why})`, now);
        }
        if (words !== '') inWay.push(words);
        restsUntil = Math.min(restsUntil, found.restsUntil);
        retryAt = Math.min(retryAt, found.retryAt);
      }
      // A dearer tier is not spent on what a pause solves.
      if (restsUntil !== Number.POSITIVE_INFINITY) {
        return { kind: 'wait', until: restsUntil, reason: inWay.join('; ') };
      }
    }
    const subject = query.tier === null ? 'no proxy' : `no ${query.tier} proxy`;
    const why = inWay.length === 0 ? 'none is configured' : inWay.join('; ');
    return {
      kind: 'none',
      code: 'NO_HEALTHY_PROXY',
      reason: `${subject} can be used for ${query.host}: ${why}`,
      retryAt: retryAt === Number.POSITIVE_INFINITY ? null : retryAt,
    };
  }

  /** The providers of a tier in the order in which they are asked. */
  private groupsOf(tier: ProxyTier, now: number): readonly ProviderGroup[] {
    const groups = this.groups.filter(({ provider }) => provider.tier === tier);
    if (this.selection === 'first') return groups;
    return groups.sort((one, other) => loadOf(one, now) - loadOf(other, now));
  }

  /** One round through the members of a provider, from the next in turn. */
  private lookIn(
    group: ProviderGroup,
    { host, country }: ProxyQuery,
    now: number,
  ): { member: PoolMember | null; obstacles: Obstacles; restsUntil: number; retryAt: number } {
    const { members, provider, breaker, turn } = group;
    const counts = { elsewhere: 0, failed: 0, banned: 0, resting: 0 };
    let restsUntil = Number.POSITIVE_INFINITY;
    let retryAt = Number.POSITIVE_INFINITY;
    const result = (member: PoolMember | null, leftAloneUntil: number | null) => {
      const obstacles = { provider: provider.name, leftAloneUntil, total: members.length, ...counts };
      return { member, obstacles, restsUntil, retryAt };
    };
    if (!canPass(breaker, now)) {
      // Half-open with all probes sent: what they say is not far off.
      retryAt = Math.max(opensAgainAt(breaker), now + 1_000);
      return result(null, retryAt);
    }
    for (let step = 0; step < members.length; step++) {
      const index = (turn + step) % members.length;
      const member = members[index];
      if (member === undefined) continue;
      const { id } = member.endpoint;
      const bannedUntil = this.marks.bannedUntil(id, host);
      const restingUntil = this.marks.restsUntil(id, host, this.cooldownMs);
      if (!isIn(member, country)) counts.elsewhere += 1;
      else if (!isHealthy(member.health, this.health, now)) {
        counts.failed += 1;
        retryAt = Math.min(retryAt, Math.max(member.health.retryAt, now + 1_000));
      } else if (bannedUntil > now) {
        counts.banned += 1;
        retryAt = Math.min(retryAt, bannedUntil);
      } else if (restingUntil > now) {
        counts.resting += 1;
        restsUntil = Math.min(restsUntil, restingUntil);
      } else {
        group.turn = (index + 1) % members.length;
        return result(member, null);
      }
    }
    return result(null, null);
  }

  private use(
    member: PoolMember,
    { host, country, session }: ProxyQuery,
    reason: string,
    now: number,
  ): Extract<ProxyDecision, { kind: 'use' }> {
    const { group } = member;
    group.breaker = onPass(group.breaker, now);
    noteUse(group, now);
    this.marks.used(member.endpoint.id, host, now);
    const proxy = endpointFor(member, country, session?.id ?? null);
    return { kind: 'use', use: { proxy, host, chosenAt: now }, reason: `${proxy.id}: ${reason}` };
  }
}
