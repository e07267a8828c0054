import type { ProxyEndpoint } from '../../../core/model/proxy.ts';
import { exitCredentials, type ProxyProvider } from './proxy-config.ts';
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
