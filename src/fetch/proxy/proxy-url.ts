import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import {
  PROXY_PROTOCOLS,
  ProxyCredentials,
  type ProxyEndpoint,
  type ProxyProtocol,
} from '../../core/model/proxy.ts';

/** Where a proxy listens and how one logs in. */
export type ProxyAddress = Pick<ProxyEndpoint, 'protocol' | 'host' | 'port' | 'credentials'>;

type ParsedProxyUrl =
  | { readonly kind: 'address'; readonly address: ProxyAddress }
  /** The problem, without any part of the text, which may hold a password. */
  | { readonly kind: 'problem'; readonly problem: string };

const DEFAULT_PORTS: Readonly<Record<ProxyProtocol, number>> = { http: 80, https: 443, socks5: 1080 };
/** What one byte can count, in SOCKS5's messages. */
const MAX_SOCKS_FIELD_BYTES = 255;

const problem = (text: string): ParsedProxyUrl => ({ kind: 'problem', problem: text });

/**
 * Reads `scheme://user:password@host:port`. `socks5h` means the same as `socks5` here: the proxy always resolves
 * names. User and password may be percent-encoded, which they must be where they hold `@`, `:` or `/`.
 */
export function parseProxyUrl(text: string): ParsedProxyUrl {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase().replace('socks5h', 'socks5');
  const protocol = PROXY_PROTOCOLS.find((known) => known === scheme);
  if (protocol === undefined) return problem('must begin with http://, https:// or socks5://');

  // Only for http does a URL's host get the full treatment: IDN, odd spellings of addresses, brackets.
  const url = URL.parse(text.replace(/^[^:]+:/, 'http:'));
  if (url === null) return problem('must be like http://user:password@host:port');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return problem('must end after the port: a proxy has no path (encode / as %2F in a password)');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = portOf(text, url, protocol);
  if (host === '' || port === 0) return problem('needs a host, and a port from 1 to 65535');
  if (isIP(host) === 0 && Buffer.byteLength(host) > 253) return problem('has a host name that is too long');

  const username = decoded(url.username);
  const password = decoded(url.password);
  if (username === null || password === null)
    return problem('has a % in user or password that encodes nothing');
  const loginProblem = username === '' ? null : credentialsProblem(protocol, username, password);
  if (loginProblem !== null) return problem(loginProblem);
  if (username === '' && password !== '') return problem('has a password but no user');
  const credentials = username === '' ? null : new ProxyCredentials(username, password);
  return { kind: 'address', address: { protocol, host, port, credentials } };
}

/** What the protocol cannot carry, or null. */
export function credentialsProblem(
  protocol: ProxyProtocol,
  username: string,
  password: string,
): string | null {
  if (protocol === 'socks5') {
    const longest = Math.max(Buffer.byteLength(username), Buffer.byteLength(password));
    return longest > MAX_SOCKS_FIELD_BYTES
      ? 'has a user or password over 255 bytes, too long for SOCKS5'
      : null;
  }
  return username.includes(':') ? 'has a colon in the user, which HTTP proxies cannot be told' : null;
}

/** A URL forgets the port that is the default of its scheme, and here the scheme is not the true one. */
function portOf(text: string, url: URL, protocol: ProxyProtocol): number {
  if (url.port !== '') return Number(url.port);
  const isWritten = /:0*80$/.test(text.replace(/\/$/, ''));
  return isWritten ? 80 : DEFAULT_PORTS[protocol];
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The pool hands out the same object for a listed proxy again and again. */
const known = new WeakMap<ProxyEndpoint, string>();

/**
 * Identifies a proxy route. Two endpoints of one id differ when their login does: another country or session at a gateway
 * is another address, and a request without the password must not get a connection that was opened with it.
 * Hashed because it is kept in maps, where a login must not lie.
 */
export function proxyKeyOf(proxy: ProxyEndpoint): string {
  const earlier = known.get(proxy);
  if (earlier !== undefined) return earlier;
  const { id, protocol, host, port, credentials, isPrivateAllowed } = proxy;
  const login = credentials === null ? null : [credentials.username, credentials.password];
  const text = JSON.stringify([id, protocol, host, port, login, isPrivateAllowed]);
  const key = createHash('sha256').update(text).digest('base64url');
  known.set(proxy, key);
  return key;
}
