import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { orAborted } from '../deadline.ts';
import { mapError } from '../network-errors.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from './address-guard.ts';
import { addressRefused, createResolveAll, type Resolve } from './guarded-lookup.ts';

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

interface RequestGuardOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}

/** Names of the resolver's own machine or network (RFC 6761, 6762, 8375 and custom). */
const INSIDE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|lan|home|corp|home\.arpa)$/;
const METADATA_NAME =
  /^(?:metadata(?:\.google)?(?:\.internal)?|metadata\.goog|instance-data(?:\.ec2\.internal)?)$/;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

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

/**
 * Checks what a proxy is about to be asked for, and gives it in its one spelling. A name is resolved by the proxy, far
 * from here, so only private addresses and names of a private network can be refused.
 */
export function checkTarget(host: string, port: number, allowPrivate: PrivateAddresses): string {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(bare) !== 0) {
    if (mayConnect(allowPrivate)(bare)) return bare;
    throw addressRefused(bare, classifyAddress(bare));
  }
  const name = bare.replace(/\.$/, '');
  // A browser hands over what a page wrote: no sign of it may reach the proxy's protocol.
  if (!HOST_NAME.test(name) || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ScrapifieError('INVALID_URL', 'The host or port cannot be asked of a proxy');
  }
  const isInside = !name.includes('.') || INSIDE_NAME.test(name);
  // Google's and others' name for the address that gives out credentials.
  if (METADATA_NAME.test(name)) throw addressRefused(name, 'metadata');
  if (!isInside || allowPrivate === true) return name;
  const isLocal = /(?:^|\.)localhost$/.test(name);
  if (isLocal && mayConnect(allowPrivate)('127.0.0.1')) return name;
  throw addressRefused(name, 'loopback or private');
}

/** The first address of the name that may be fetched, for proxies that must not resolve it themselves. */
export function resolveChecked(host: string, lookup: LookupFunction): Promise<string> {
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    lookup(host, { all: false }, (error, address: string | LookupAddress[]) => {
      if (error === null) resolve(typeof address === 'string' ? address : (address[0]?.address ?? ''));
      else reject(error);
    });
  });
}
