import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ProxyEndpoint } from '../../model/proxy.ts';
import { orAborted } from '../browser/deadline.ts';
import { classifyAddress } from '../guard/address-guard.ts';
import type { PrivateAddresses } from '../guard/guarded-connector.ts';
import { addressRefused, createGuardedLookup, type Resolve } from '../guard/guarded-lookup.ts';
import { mapError } from '../http/error-map.ts';
import { checkTarget, mayConnect } from '../proxy/target-check.ts';

export interface TargetGuardOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}

/**
 * Whether FlareSolverr may be sent to a URL. Its connections are its own, so this is a look beforehand and not a
 * guard: every address of the name has to be one that may be fetched, because nobody knows which it will take. Throws
 * ADDRESS_REFUSED, or DNS_FAILED for a name that cannot be judged.
 */
export type TargetGuard = (url: URL, proxy: ProxyEndpoint | undefined, signal: AbortSignal) => Promise<void>;

export function createTargetGuard({ allowPrivate, resolve }: TargetGuardOptions): TargetGuard {
  const isAllowed = mayConnect(allowPrivate);
  // It filters nothing: what a filter leaves says nothing about where somebody else will connect to.
  const lookup = createGuardedLookup({
    isAllowed: () => true,
    ...(resolve === undefined ? {} : { resolve }),
  });

  return async (url, proxy, signal) => {
    if (allowPrivate === true) return;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // A proxy resolves names where it stands. One in a private network could find the inside there.
    if (proxy !== undefined && !proxy.isPrivateAllowed) {
      checkTarget(host, Number(url.port) || (url.protocol === 'https:' ? 443 : 80), allowPrivate);
      return;
    }
    const addresses = isIP(host) !== 0 ? [host] : await orAborted(addressesOf(host, lookup, url), signal);
    const wrong = addresses.find((address) => !isAllowed(address));
    if (wrong !== undefined) throw addressRefused(host, classifyAddress(wrong));
  };
}

function addressesOf(host: string, lookup: LookupFunction, url: URL): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found: string | LookupAddress[]) => {
      if (error !== null) reject(mapError(error, url, 'connect'));
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
  });
}
