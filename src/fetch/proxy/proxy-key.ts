import { createHash } from 'node:crypto';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';

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
