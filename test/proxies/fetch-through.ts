import { Client } from 'undici';
import { isScrapifieError, type ScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../src/core/model/proxy.ts';
import {
  createProxyConnector,
  createTunnelOpener,
  type ProxyConnectorOptions,
  type TunnelOptions,
} from '../../src/fetch/proxy/open-tunnel.ts';

export interface Fetched {
  readonly statusCode: number;
  readonly body: string;
}

/** The proxies and sites of a test stand on loopback; names are not resolved here at all. */
const isLoopback = (address: string): boolean => address === '127.0.0.1' || address === '::1';

/** One GET through a proxy, over a connection of its own. */
export async function fetchThrough(
  proxy: ProxyEndpoint,
  url: string,
  more: Partial<ProxyConnectorOptions & TunnelOptions> = {},
): Promise<Fetched> {
  const timeoutMs = 5_000;
  const connect = createProxyConnector({
    proxy,
    openTunnel: createTunnelOpener({ allowPrivate: isLoopback, timeoutMs, ...more }),
    timeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
    ...more,
  });
  const { origin, pathname } = new URL(url);
  const client = new Client(origin, { connect, headersTimeout: 1_500 });
  try {
    const { statusCode, body } = await client.request({ path: pathname, method: 'GET' });
    return { statusCode, body: await body.text() };
  } finally {
    await client.destroy();
  }
}

/** What the fetch failed with. */
export async function failureOf(fetching: Promise<unknown>): Promise<ScrapifieError> {
  try {
    await fetching;
  } catch (error) {
    if (isScrapifieError(error)) return error;
    throw error;
  }
  throw new Error('It did not fail');
}
