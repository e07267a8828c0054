/** From cheap and easily recognised to dear and trusted. */
export const PROXY_TIERS = ['datacenter', 'residential', 'mobile'] as const;
export type ProxyTier = (typeof PROXY_TIERS)[number];

export const PROXY_PROTOCOLS = ['http', 'https', 'socks5'] as const;
/** How the proxy itself is spoken to; `https` is an HTTP proxy behind TLS. */
export type ProxyProtocol = (typeof PROXY_PROTOCOLS)[number];

/** A login that logs, messages and JSON cannot reveal: its fields are only readable by name. */
export class ProxyCredentials {
  readonly #username: string;
  readonly #password: string;

  constructor(username: string, password: string) {
    this.#username = username;
    this.#password = password;
  }

  get username(): string {
    return this.#username;
  }

  get password(): string {
    return this.#password;
  }

  toJSON(): string {
    return '[hidden]';
  }
}

/** One way out: everything that is needed to send a request through it. */
export interface ProxyEndpoint {
  /** `<provider>/<number>`, the same after every start with the same file. */
  readonly id: string;
  readonly provider: string;
  readonly tier: ProxyTier;
  readonly protocol: ProxyProtocol;
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly credentials: ProxyCredentials | null;
  /** ISO 3166 in lower case; null when unknown. */
  readonly country: string | null;
  /**
   * The operator says that this proxy stands in a private network. It may then be connected to, and it is given
   * addresses that were checked instead of names, because it could reach what the guard keeps from being fetched.
   */
  readonly isPrivateAllowed: boolean;
}
