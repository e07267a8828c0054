import { createHash } from 'node:crypto';
import { ProxyCredentials } from '../../../core/model/proxy.ts';
import type { GatewayKind, GatewayProvider } from './proxy-config.ts';

export interface Exit {
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
