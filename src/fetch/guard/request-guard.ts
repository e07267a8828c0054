import { isScrapifieError, type ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { orAborted } from '../deadline.ts';
import { mapError } from '../network-errors.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from './address-guard.ts';
import { addressRefused, createResolveAll, type Resolve } from './guarded-lookup.ts';
import { checkTarget } from './target-check.ts';

/*
 * Checks for programs that open their own connections and cannot be made to use the guard's proxy. Such a program
 * resolves the name once more, so these checks do not hold against a name whose address changes in between. Every
 * address of a name has to be allowed, because the program may connect to any of them.
 */

/** Returns why a page must not request this URL; null when it may. */
export type RequestGuard = (url: string) => Promise<ScrapifieError | null>;

/**
 * Throws ADDRESS_REFUSED when FlareSolverr must not be sent to the URL, and DNS_FAILED for a name that does not resolve
 * here.
 */
export type TargetGuard = (url: URL, proxy: ProxyEndpoint | undefined, signal: AbortSignal) => Promise<void>;

export interface RequestGuardOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}

/** For remote browsers that cannot reach the guard's proxy: checks each request before the browser sends it. */
export function createRequestGuard({ allowPrivate, resolve }: RequestGuardOptions): RequestGuard {
  const isAllowed = mayConnect(allowPrivate);
  const resolveAll = createResolveAll(resolve);

  return async (text) => {
    const url = URL.parse(text);
    if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) return null;
    try {
      const refused = (await resolveAll(hostOf(url))).find((address) => !isAllowed(address));
      return refused === undefined ? null : addressRefused(url.hostname, classifyAddress(refused));
    } catch (error) {
      if (isScrapifieError(error)) return error;
      // The browser may resolve a name that this process does not, and an attacker may rely on that.
      return addressRefused(hostOf(url), 'not known here');
    }
  };
}

/** For FlareSolverr: checks a URL before the service is sent to it. */
export function createTargetGuard({ allowPrivate, resolve }: RequestGuardOptions): TargetGuard {
  const isAllowed = mayConnect(allowPrivate);
  const resolveAll = createResolveAll(resolve);

  return async (url, proxy, signal) => {
    const host = hostOf(url);
    // A proxy resolves names in its own network, so only a proxy outside private networks needs no look at addresses.
    if (proxy !== undefined && !proxy.isPrivateAllowed) {
      checkTarget(host, Number(url.port) || (url.protocol === 'https:' ? 443 : 80), allowPrivate);
      return;
    }
    const resolving = resolveAll(hostOf(url)).catch((error: unknown) => {
      // Where private networks may be fetched, the service may know names that this process does not.
      if (allowPrivate === true) return [];
      throw mapError(error, url, 'connect');
    });
    const refused = (await orAborted(resolving, signal)).find((address) => !isAllowed(address));
    if (refused !== undefined) throw addressRefused(host, classifyAddress(refused));
  };
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
