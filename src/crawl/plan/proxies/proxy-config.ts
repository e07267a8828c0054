import type { ProxyCredentials, ProxyEndpoint, ProxyProtocol, ProxyTier } from '../../../core/model/proxy.ts';
import type { ProxyAddress } from '../../../fetch/proxy/proxy-url.ts';

export const GATEWAY_KINDS = ['brightdata', 'oxylabs', 'smartproxy'] as const;
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
