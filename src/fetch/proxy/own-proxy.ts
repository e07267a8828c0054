import { createHash } from 'node:crypto';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { parseProxyUrl } from './proxy-url.ts';

const PROVIDER = 'own';

/** Whether a caller has brought the proxy, and not the operator. */
export const isOwnProxy = ({ id }: Pick<ProxyEndpoint, 'id'>): boolean => id.startsWith(`${PROVIDER}/`);

/**
 * The proxy of a caller's request, as in `socks5://user:password@host:1080`. Nothing is known of
 * its kind, and it is held to what the guard allows: only an operator can name a proxy in a private network. Throws
 * VALIDATION_FAILED, in words that repeat nothing of the URL.
 */
export function proxyEndpointFromUrl(url: string, country: string | null = null): ProxyEndpoint {
  const parsed = parseProxyUrl(url);
  if (parsed.kind === 'problem') {
    throw new ScrapifieError('VALIDATION_FAILED', `The proxy URL ${parsed.problem}`, {
      details: [{ path: 'proxy.url', message: parsed.problem }],
    });
  }
  const { protocol, host, port, credentials } = parsed.address;
  // Says which one it was, in traces and messages, and not where it is or how to log in.
  const text = JSON.stringify([protocol, host, port, credentials?.username ?? null]);
  const short = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return {
    id: `${PROVIDER}/${short}`,
    provider: PROVIDER,
    tier: 'datacenter',
    ...parsed.address,
    country,
    isPrivateAllowed: false,
  };
}
