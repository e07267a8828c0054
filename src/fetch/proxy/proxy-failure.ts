import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';

/** Whom a failure is blamed on; `unclear` when proxy and target would look the same. */
export type Fault = 'proxy' | 'unclear';

/** The message names the proxy by its id, and neither its address nor its login. */
export function proxyFailed(
  proxy: ProxyEndpoint,
  what: string,
  fault: Fault,
  cause?: unknown,
): ScrapifieError {
  return new ScrapifieError('PROXY_FAILED', `Proxy ${proxy.id} ${what}`, {
    details: { proxy: proxy.id, fault },
    cause,
  });
}

/** The proxy itself stands where nothing is connected to. */
export function proxyRefused(proxy: ProxyEndpoint, reason: string): ScrapifieError {
  return new ScrapifieError('ADDRESS_REFUSED', `Proxy ${proxy.id} is not used: its address is ${reason}`, {
    details: { proxy: proxy.id, fault: 'proxy' satisfies Fault, reason },
  });
}

/** The proxy did its part and says that the target cannot be reached. */
export function targetFailed(
  proxy: ProxyEndpoint,
  code: 'CONNECT_FAILED' | 'DNS_FAILED',
  host: string,
  what: string,
): ScrapifieError {
  return new ScrapifieError(code, `${host} cannot be reached through proxy ${proxy.id}: ${what}`, {
    details: { proxy: proxy.id },
  });
}

/** Whom a connector's error blames; null for every other error. */
export function faultOf(error: unknown): Fault | null {
  if (!isScrapifieError(error)) return null;
  const { details } = error;
  if (typeof details !== 'object' || details === null || !('fault' in details)) return null;
  return details.fault === 'proxy' || details.fault === 'unclear' ? details.fault : null;
}
