import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from './address-guard.ts';
import { addressRefused } from './guarded-lookup.ts';

/** Names of the resolver's own machine or network (RFC 6761, 6762, 8375 and custom). */
const INSIDE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|lan|home|corp|home\.arpa)$/;
const METADATA_NAME =
  /^(?:metadata(?:\.google)?(?:\.internal)?|metadata\.goog|instance-data(?:\.ec2\.internal)?)$/;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

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
