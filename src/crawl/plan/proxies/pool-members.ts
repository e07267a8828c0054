import type { ProxyEndpoint } from '../../../core/model/proxy.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { countryName, exitCredentials, type ProxyProvider } from './proxy-config.ts';
import {
  CLOSED_PROVIDER,
  NEW_PROXY,
  type ProviderBreaker,
  type ProxyHealth,
  RequestTally,
} from './proxy-health.ts';

/** One proxy of a list, or one exit of a gateway. */
export interface PoolMember {
  readonly endpoint: ProxyEndpoint;
  /** Number of the proxy; the first is 1. */
  readonly slot: number;
  readonly group: ProviderGroup;
  readonly tally: RequestTally;
  health: ProxyHealth;
  /** When a check of it ended last. */
  checkedAt: number;
}

export interface ProviderGroup {
  readonly provider: ProxyProvider;
  readonly members: PoolMember[];
  readonly tally: RequestTally;
  breaker: ProviderBreaker;
  /** Index of the member whose turn is next. */
  turn: number;
  /** Uses of late: each counts for half after `LOAD_HALF_MS`. */
  load: { readonly uses: number; readonly at: number };
}

const LOAD_HALF_MS = 10_000;

/** Uses of late for each proxy of the provider. */
export function loadOf({ load, members }: ProviderGroup, now: number): number {
  return usesNow(load, now) / Math.max(1, members.length);
}

export function noteUse(group: ProviderGroup, now: number): void {
  group.load = { uses: usesNow(group.load, now) + 1, at: now };
}

const usesNow = ({ uses, at }: ProviderGroup['load'], now: number): number =>
  uses * 0.5 ** (Math.max(0, now - at) / LOAD_HALF_MS);

/** Where the first turn begins is left to chance, so that workers do not all begin with the same proxy. */
export function buildGroup(provider: ProxyProvider, random: () => number): ProviderGroup {
  const group: ProviderGroup = {
    provider,
    members: [],
    tally: new RequestTally(),
    breaker: CLOSED_PROVIDER,
    turn: 0,
    load: { uses: 0, at: 0 },
  };
  const { name, tier, isPrivateAllowed } = provider;
  const common = (slot: number) => ({ id: `${name}/${slot}`, provider: name, tier, isPrivateAllowed });
  const addresses =
    provider.kind === 'list'
      ? provider.proxies
      : Array.from({ length: provider.exits }, () => ({
          protocol: provider.protocol,
          host: provider.host,
          port: provider.port,
          credentials: provider.credentials,
          country: null,
        }));
  addresses.forEach((address, index) => {
    const slot = index + 1;
    const endpoint = { ...address, ...common(slot) };
    group.members.push({
      endpoint,
      slot,
      group,
      tally: new RequestTally(),
      health: NEW_PROXY,
      checkedAt: Number.NEGATIVE_INFINITY,
    });
  });
  group.turn = Math.floor(random() * group.members.length);
  return group;
}

/** Whether the member can come out in that country; null: anywhere will do. */
export function isIn(member: PoolMember, country: string | null): boolean {
  if (country === null) return true;
  const { provider } = member.group;
  if (provider.kind === 'list') return member.endpoint.country === country;
  return provider.countries === null || provider.countries.includes(country);
}

/** The endpoint as it is to be used: a gateway is told country and session by the login. */
export function endpointFor(
  member: PoolMember,
  country: string | null,
  sessionId: string | null,
): ProxyEndpoint {
  const { provider } = member.group;
  if (provider.kind === 'list') return member.endpoint;
  // A contract for some countries is held to them even when the caller does not mind.
  const within = country ?? provider.countries?.[(member.slot - 1) % provider.countries.length] ?? null;
  const credentials = exitCredentials(provider, { slot: member.slot, country: within, sessionId });
  return { ...member.endpoint, credentials, country: within };
}

/**
 * How bad a host's treatment of a proxy weighs. A block alone reaches the limit and keeps the proxy from the host
 * until it has decayed; what may have another cause reaches it when it happens twice in a short time.
 */
export const BAN_SCORE = {
  ban: 2,
  suspicion: 0.75,
  /** From here on the proxy is not used for the host. */
  limit: 1,
  /** However often it happens, forgiveness takes no longer than three half-lives. */
  max: 8,
  halfLifeMs: 600_000,
} as const;

interface Mark {
  /** When the proxy was last chosen for the host. */
  readonly usedAt: number;
  readonly score: number;
  readonly scoredAt: number;
}

/** The marks of each pair of proxy and host; pairs that were marked longest ago are evicted. */
export class HostMarks {
  private readonly marks: BoundedMap<string, Mark>;

  constructor(maxPairs: number) {
    this.marks = new BoundedMap(maxPairs);
  }

  get size(): number {
    return this.marks.size;
  }

  used(proxyId: string, host: string, now: number): void {
    const { score = 0, scoredAt = now } = this.marks.peek(keyOf(proxyId, host)) ?? {};
    this.marks.set(keyOf(proxyId, host), { usedAt: now, score, scoredAt });
  }

  blamed(proxyId: string, host: string, weight: number, now: number): void {
    const key = keyOf(proxyId, host);
    const score = Math.min(BAN_SCORE.max, this.scoreOf(proxyId, host, now) + weight);
    this.marks.set(key, {
      usedAt: this.marks.peek(key)?.usedAt ?? Number.NEGATIVE_INFINITY,
      score,
      scoredAt: now,
    });
  }

  /** The host serves this proxy: half of its ban score is forgiven. */
  served(proxyId: string, host: string, now: number): void {
    const mark = this.marks.peek(keyOf(proxyId, host));
    if (mark === undefined || mark.score === 0) return;
    const score = this.scoreOf(proxyId, host, now) / 2;
    this.marks.set(keyOf(proxyId, host), { ...mark, score, scoredAt: now });
  }

  scoreOf(proxyId: string, host: string, now: number): number {
    const mark = this.marks.peek(keyOf(proxyId, host));
    if (mark === undefined) return 0;
    return mark.score * 2 ** (-Math.max(0, now - mark.scoredAt) / BAN_SCORE.halfLifeMs);
  }

  /** When the host's ban of this proxy has decayed; in the past when there is none. */
  bannedUntil(proxyId: string, host: string): number {
    const mark = this.marks.peek(keyOf(proxyId, host));
    if (mark === undefined || mark.score < BAN_SCORE.limit) return Number.NEGATIVE_INFINITY;
    return mark.scoredAt + BAN_SCORE.halfLifeMs * Math.log2(mark.score / BAN_SCORE.limit);
  }

  /** When the proxy may be used for this host again after its last use. */
  restsUntil(proxyId: string, host: string, cooldownMs: number): number {
    return (this.marks.peek(keyOf(proxyId, host))?.usedAt ?? Number.NEGATIVE_INFINITY) + cooldownMs;
  }
}

function keyOf(proxyId: string, host: string): string {
  return `${proxyId} ${host}`;
}

/** Why the members of one provider were passed over: how many for which reason. */
export interface Obstacles {
  readonly provider: string;
  /** When a provider that is left alone may be probed; null when it is not. */
  readonly leftAloneUntil: number | null;
  readonly total: number;
  readonly elsewhere: number;
  readonly failed: number;
  readonly banned: number;
  readonly resting: number;
}

/** In words, for the trace; empty when nothing stood in the way. */
export function describeObstacles(
  { provider, leftAloneUntil, total, elsewhere, failed, banned, resting }: Obstacles,
  host: string,
  country: string | null,
  now: number,
): string {
  if (leftAloneUntil !== null) {
    const seconds = Math.max(1, Math.ceil((leftAloneUntil - now) / 1_000));
    return `${provider} kept failing and is left alone for ${seconds} s`;
  }
  const counted = [
    [elsewhere, country === null ? '' : `not in ${countryName(country)}`],
    [failed, 'failed'],
    [banned, `banned by ${host}`],
    [resting, `resting from ${host}`],
  ] as const;
  const parts = counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return parts.length === 0 ? '' : `${provider}: of ${total}, ${parts.join(', ')}`;
}
