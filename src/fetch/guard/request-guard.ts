import { isIP, type LookupFunction } from 'node:net';
import { isScrapifieError, type ScrapifieError } from '../../errors/scrapifie-error.ts';
import { classifyAddress } from './address-guard.ts';
import type { PrivateAddresses } from './guarded-connector.ts';
import { addressRefused, createGuardedLookup, type Resolve } from './guarded-lookup.ts';

/** Why a page must not ask for this URL; null when it may. */
export type RequestGuard = (url: string) => Promise<ScrapifieError | null>;

/**
 * For browsers that cannot be made to use our proxy: looks at each request before it is made. The browser resolves the
 * name once more by itself, so this does not hold against names that change their address in between.
 */
export function createRequestGuard(options: {
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}): RequestGuard {
  const { allowPrivate, resolve } = options;
  const isAllowed = (address: string): boolean =>
    allowPrivate === true ||
    classifyAddress(address) === 'public' ||
    (allowPrivate !== false && allowPrivate(address));
  const lookup = createGuardedLookup({
    // One address that may not be fetched is enough, since nobody knows which one the browser takes.
    isAllowed: () => true,
    ...(resolve === undefined ? {} : { resolve }),
  });

  return async (text) => {
    const url = URL.parse(text);
    if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) return null;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await addressesOf(host, lookup) : [host];
    if (isScrapifieError(addresses)) return addresses;
    const refused = addresses.find((address) => !isAllowed(address));
    return refused === undefined ? null : addressRefused(url.hostname, classifyAddress(refused));
  };
}

/** A name that we cannot resolve is not for us to judge: the browser may know better, and so may an attacker. */
function addressesOf(host: string, lookup: LookupFunction): Promise<readonly string[] | ScrapifieError> {
  return new Promise((done) => {
    lookup(host, { all: true }, (error, found) => {
      if (error !== null) done(addressRefused(host, 'not known here'));
      else done(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
    });
  });
}
