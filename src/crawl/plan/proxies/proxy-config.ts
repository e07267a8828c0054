import { createHash } from 'node:crypto';
import {
  ProxyCredentials,
  type ProxyEndpoint,
  type ProxyProtocol,
  type ProxyTier,
} from '../../../core/model/proxy.ts';
import type { ProxyAddress } from '../../../fetch/proxy/proxy-url.ts';

const GATEWAY_KINDS = ['brightdata', 'oxylabs', 'smartproxy'] as const;
/** Companies with one address and many exits: the user name selects the exit. */
export type GatewayKind = (typeof GATEWAY_KINDS)[number];

interface ProviderBase {
  /** Unique in the file. */
  readonly name: string;
  readonly tier: ProxyTier;
  readonly isPrivateAllowed: boolean;
}

export interface GatewayProvider extends ProviderBase {
  readonly kind: GatewayKind;
  readonly protocol: ProxyProtocol;
  readonly host: string;
  readonly port: number;
  /** The user name without country and session. */
  readonly credentials: ProxyCredentials;
  /** How many exits are in use at a time; each counts as one proxy. */
  readonly exits: number;
  /** How long the company keeps an exit's address. */
  readonly sessionMinutes: number;
  /** The countries that this contract covers; null: all. */
  readonly countries: readonly string[] | null;
}

export interface ListProvider extends ProviderBase {
  readonly kind: 'list';
  readonly proxies: readonly ListedProxy[];
}

export type ListedProxy = ProxyAddress & Pick<ProxyEndpoint, 'country'>;
export type ProxyProvider = GatewayProvider | ListProvider;

/** The content of the proxy file. */
export interface ProxyConfig {
  readonly providers: readonly ProxyProvider[];
  /**
   * Within a tier. `first`: the first is used as long as it can be; the others stand in for it. `least-loaded`: the one
   * that was used least of late, for each of its proxies.
   */
  readonly selection: 'first' | 'least-loaded';
  /** A proxy is not used again for the same host before this has passed; 0: at once. */
  readonly cooldownMs: number;
  /**
   * Fetched through a proxy to see whether it works. Null: a connection to it is opened, which shows a proxy that is
   * down; one that failed otherwise is tried again after a pause.
   */
  readonly checkUrl: string | null;
  readonly checkEveryMs: number;
}

interface Exit {
  /** Number of the exit within its provider, from 1. */
  readonly slot: number;
  /** ISO 3166 in lower case; null: anywhere. */
  readonly country: string | null;
  /** A session has an exit of its own, which no other session or request shares. */
  readonly sessionId: string | null;
}

interface Convention {
  /** Stands before the account's name. */
  readonly prefix: string;
  readonly country: (code: string) => string;
  readonly session: (token: string, minutes: number) => string;
}

/**
 * How each company wants country and session told in the user name.
 * Bright Data: https://docs.brightdata.com/proxy-networks/config-options
 * Oxylabs: https://developers.oxylabs.io/proxies/residential-proxies/session-control
 * Smartproxy, now Decodo: https://help.decodo.com/docs/residential-proxy-quick-start
 */
export const CONVENTIONS: Readonly<Record<GatewayKind, Convention>> = {
  brightdata: {
    prefix: 'brd-customer-',
    country: (code) => `-country-${code}`,
    // An exit is kept for as long as it is used; there is no length to ask for.
    session: (token) => `-session-${token}`,
  },
  oxylabs: {
    prefix: 'customer-',
    country: (code) => `-cc-${code.toUpperCase()}`,
    session: (token, minutes) => `-sessid-${token}-sesstime-${minutes}`,
  },
  smartproxy: {
    prefix: 'user-',
    country: (code) => `-country-${code}`,
    session: (token, minutes) => `-session-${token}-sessionduration-${minutes}`,
  },
};

/** The login that leads to this exit. The same exit has the same login after a restart and on every worker. */
export function exitCredentials(provider: GatewayProvider, exit: Exit): ProxyCredentials {
  const { country, session } = CONVENTIONS[provider.kind];
  const { username, password } = provider.credentials;
  const where = exit.country === null ? '' : country(exit.country);
  return new ProxyCredentials(
    username + where + session(tokenOf(provider, exit), provider.sessionMinutes),
    password,
  );
}

/** Letters and digits only: a dash in a token would be read as the next field. */
function tokenOf(provider: GatewayProvider, { slot, sessionId }: Exit): string {
  const text = JSON.stringify([provider.name, slot, sessionId]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

let regions: Intl.DisplayNames | null = null;
/** Codes that name no country, though the tables know them. */
const NOT_COUNTRIES: ReadonlySet<string> = new Set(['eu', 'ez', 'un', 'qo', 'xa', 'xb', 'zz']);

/** `DE` and `de` are `de`; null for text that is no ISO 3166 code of two letters. */
export function countryCode(text: string): string | null {
  const code = text.toLowerCase();
  if (!/^[a-z]{2}$/.test(code) || NOT_COUNTRIES.has(code)) return null;
  return regionNames().of(code.toUpperCase()) === undefined ? null : code;
}

/** For a reader: `Germany`. */
export function countryName(code: string): string {
  return regionNames().of(code.toUpperCase()) ?? code;
}

/** Made when it is first asked for: its tables take a while to load, and most commands name no country. */
function regionNames(): Intl.DisplayNames {
  regions ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return regions;
}
