import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from '../guard/address-guard.ts';
import { createResolveAll, type Resolve } from '../guard/guarded-lookup.ts';
import { codeOf } from '../network-errors.ts';
import { proxyFailed, proxyRefused } from './proxy-failure.ts';
import { parseProxyUrl } from './proxy-url.ts';

interface ProxyCheckOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}

/**
 * Checks a proxy for an engine that connects to it by itself (FlareSolverr, or a remote browser), since the guard does
 * not see that connection. A proxy with a private address is refused with ADDRESS_REFUSED, unless the operator allows
 * it. A name is replaced by the checked address, because the engine would resolve the name again. An https proxy needs
 * its name for its certificate: the operator's keeps it, a caller's own is refused with UNSUPPORTED_OPTION.
 */
export type CheckProxy = (proxy: ProxyEndpoint) => Promise<ProxyEndpoint>;

const PROVIDER = 'own';

export function createProxyCheck({ allowPrivate, resolve }: ProxyCheckOptions): CheckProxy {
  const isAllowed = mayConnect(allowPrivate);
  const resolveAll = createResolveAll(resolve);

  return async (proxy) => {
    if (proxy.isPrivateAllowed || allowPrivate === true) return proxy;
    const isName = isIP(proxy.host) === 0;
    if (isName && proxy.protocol === 'https' && isOwnProxy(proxy)) {
      throw new ScrapifieError(
        'UNSUPPORTED_OPTION',
        'proxy.url: this engine connects to proxies by itself, and an https proxy of your own cannot be checked; use http or socks5',
      );
    }
    const addresses = await resolveAll(proxy.host).catch((error: unknown) => {
      throw proxyFailed(proxy, `was not reached (${codeOf(error)})`, 'proxy', error);
    });
    const refused = addresses.find((address) => !isAllowed(address));
    if (refused !== undefined) throw proxyRefused(proxy, classifyAddress(refused));
    const [address = proxy.host] = addresses;
    return proxy.protocol === 'https' ? proxy : { ...proxy, host: address };
  };
}

/** Whether a caller has brought the proxy, and not the operator. */
const isOwnProxy = ({ id }: Pick<ProxyEndpoint, 'id'>): boolean => id.startsWith(`${PROVIDER}/`);

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
