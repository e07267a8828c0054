import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../model/proxy.ts';
import { classifyAddress } from '../guard/address-guard.ts';
import type { PrivateAddresses } from '../guard/guarded-connector.ts';
import { createGuardedLookup, type Resolve } from '../guard/guarded-lookup.ts';
import { codeOf } from '../http/error-map.ts';
import { isOwnProxy } from './own-proxy.ts';
import { proxyFailed, proxyRefused } from './proxy-failure.ts';
import { mayConnect } from './target-check.ts';

export interface ProxyCheckOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}

/**
 * The proxy as it is handed to a service that connects to it by itself: FlareSolverr, or a browser elsewhere. Such a
 * connection is not made by our guard, so the proxy is judged beforehand: one with a private address is refused with
 * ADDRESS_REFUSED, unless the operator says that it stands in a private network. A name is replaced by the address that
 * was judged, because the service would resolve the name once more and might find another one. An https proxy needs
 * its name for its certificate: that of the operator keeps it, that of a caller is refused with UNSUPPORTED_OPTION.
 */
export type CheckProxy = (proxy: ProxyEndpoint) => Promise<ProxyEndpoint>;

export function createProxyCheck({ allowPrivate, resolve }: ProxyCheckOptions): CheckProxy {
  const isAllowed = mayConnect(allowPrivate);
  // It filters nothing: all addresses are judged.
  const lookup = createGuardedLookup({
    isAllowed: () => true,
    ...(resolve === undefined ? {} : { resolve }),
  });

  return async (proxy) => {
    if (proxy.isPrivateAllowed || allowPrivate === true) return proxy;
    const isName = isIP(proxy.host) === 0;
    if (isName && proxy.protocol === 'https' && isOwnProxy(proxy)) {
      throw new ScrapifieError(
        'UNSUPPORTED_OPTION',
        'proxy.url: this engine connects to proxies by itself, and an https proxy of your own cannot be checked; use http or socks5',
      );
    }
    const addresses = isName ? await addressesOf(proxy, lookup) : [proxy.host];
    const refused = addresses.find((address) => !isAllowed(address));
    if (refused !== undefined) throw proxyRefused(proxy, classifyAddress(refused));
    const [address = proxy.host] = addresses;
    return proxy.protocol === 'https' ? proxy : { ...proxy, host: address };
  };
}

function addressesOf(proxy: ProxyEndpoint, lookup: LookupFunction): Promise<readonly string[]> {
  return new Promise((done, fail) => {
    lookup(proxy.host, { all: true }, (error, found: string | LookupAddress[]) => {
      if (error !== null) fail(proxyFailed(proxy, `was not reached (${codeOf(error)})`, 'proxy', error));
      else done(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
  });
}
