import { isIPv6, type Socket } from 'node:net';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { proxyFailed, targetFailed } from './proxy-failure.ts';
import type { SocketReader } from './socket-reader.ts';

const MAX_HEAD_BYTES = 16_384;

/** What RFC 9209 calls the ways in which a target fails a proxy. */
const TARGET_ERRORS: Readonly<Record<string, 'CONNECT_FAILED' | 'DNS_FAILED'>> = {
  dns_timeout: 'DNS_FAILED',
  dns_error: 'DNS_FAILED',
  destination_not_found: 'DNS_FAILED',
  destination_unavailable: 'CONNECT_FAILED',
  destination_ip_unroutable: 'CONNECT_FAILED',
  connection_refused: 'CONNECT_FAILED',
  connection_terminated: 'CONNECT_FAILED',
  connection_timeout: 'CONNECT_FAILED',
};

/**
 * Asks an HTTP proxy for a tunnel. Plain http targets get one too, rather than requests with absolute URLs: the proxy
 * then sees, caches and changes nothing, its login cannot reach a target by mistake, and one way of connecting serves
 * every engine. Proxies that allow tunnels to port 443 alone are the price, and say so when asked.
 */
export async function httpConnect(
  socket: Socket,
  reader: SocketReader,
  proxy: ProxyEndpoint,
  host: string,
  port: number,
): Promise<void> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (proxy.credentials !== null) {
    const { username, password } = proxy.credentials;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);

  const head = (await reader.upTo('\r\n\r\n', MAX_HEAD_BYTES))?.toString('latin1') ?? '';
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(head)?.[1] ?? 0);
  if (status >= 200 && status < 300) return;
  throw refusalOf(status, head, proxy, host, port);
}

function refusalOf(status: number, head: string, proxy: ProxyEndpoint, host: string, port: number): Error {
  switch (status) {
    case 0:
      return proxyFailed(proxy, 'does not answer like an HTTP proxy', 'proxy');
    case 401:
    case 407:
      return proxyFailed(
        proxy,
        proxy.credentials === null ? `wants a login (${status})` : `refuses the login (${status})`,
        'proxy',
      );
    case 402:
      return proxyFailed(proxy, 'wants to be paid (402)', 'proxy');
    case 429:
      return proxyFailed(proxy, 'has too many requests (429)', 'proxy');
    default: {
      const named = /^proxy-status:.*?\berror=([a-z_]+)/im.exec(head)?.[1] ?? '';
      const code = TARGET_ERRORS[named];
      if (code !== undefined) return targetFailed(proxy, code, host, named);
      const whom = status >= 500 ? `did not reach ${host}` : `refuses a tunnel to ${host} port ${port}`;
      // One site that the provider forbids, or that is down, must not count as the proxy being down.
      return proxyFailed(proxy, `${whom} (${status})`, 'unclear');
    }
  }
}
