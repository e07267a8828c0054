import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { buildConnector } from 'undici';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { defined } from '../../lib/defined.ts';
import { orAborted } from '../deadline.ts';
import { mapError } from '../network-errors.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from './address-guard.ts';

interface GuardedLookupOptions {
  readonly isAllowed: (address: string) => boolean;
  /** How long an answer is used again; a pool of connections then asks once. */
  readonly cacheMs?: number;
  readonly maxEntries?: number;
  /** Where names are resolved; the system's resolver by default. */
  readonly resolve?: Resolve;
}

export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const resolveBySystem: Resolve = (host, done) => {
  systemLookup(host, { all: true, order: 'verbatim' }, (error, addresses) => done(error, addresses ?? []));
};

interface Answer {
  readonly addresses: readonly LookupAddress[];
  readonly until: number;
}

type Waiting = (error: Error | null, addresses: readonly LookupAddress[]) => void;

/**
 * A `lookup` for sockets that gives only addresses a crawler may connect to. The socket connects to what is
 * returned here, so nothing can change between the check and the connection. A name with no such address gets
 * ADDRESS_REFUSED.
 */
export function createGuardedLookup({
  isAllowed,
  cacheMs = 10_000,
  maxEntries = 1_024,
  resolve = resolveBySystem,
}: GuardedLookupOptions): LookupFunction {
  const answers = new BoundedMap<string, Answer>(maxEntries);
  /** Bounded by the connections being made. */
  const underWay = new Map<string, Waiting[]>();

  const ask = (host: string, waiting: Waiting): void => {
    const known = answers.get(host);
    if (known !== undefined) {
      if (known.until > performance.now()) {
        process.nextTick(waiting, null, known.addresses);
        return;
      }
      answers.delete(host);
    }
    const others = underWay.get(host);
    if (others !== undefined) {
      others.push(waiting);
      return;
    }
    const all = [waiting];
    underWay.set(host, all);
    resolve(host, (error, addresses) => {
      underWay.delete(host);
      if (error === null && addresses.length > 0) {
        answers.set(host, { addresses, until: performance.now() + cacheMs });
      }
      for (const each of all) each(error, addresses);
    });
  };

  return (host, options, callback) => {
    ask(host, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const usable = addresses.filter(
        ({ address, family }) => isAllowed(address) && isWanted(family, options.family),
      );
      const [first] = usable;
      if (first === undefined) callback(refusal(host, addresses), '');
      else if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

function isWanted(family: number, wanted: number | 'IPv4' | 'IPv6' | undefined): boolean {
  if (wanted === undefined || wanted === 0) return true;
  return family === (wanted === 'IPv6' || wanted === 6 ? 6 : 4);
}

function refusal(host: string, addresses: readonly LookupAddress[]): Error {
  const reasons = addresses
    .map(({ address }) => classifyAddress(address))
    .filter((kind) => kind !== 'public');
  if (reasons.length > 0) return addressRefused(host, reasons[0] ?? 'invalid');
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}

/** What the operator can set so that addresses of this kind are fetched; null: nothing. */
const settingFor = (reason: string): string | null =>
  reason === 'metadata' || reason === 'invalid' ? null : 'SCRAPIFIE_ALLOW_PRIVATE';

/** The message names the kind of the address and not the address, which would tell callers about the network. */
function addressRefused(host: string, reason: string): ScrapifieError {
  const setting = settingFor(reason);
  const remedy = setting === null ? '' : `; the setting ${setting} (--allow-private) allows such addresses`;
  return new ScrapifieError('ADDRESS_REFUSED', `${host} is not fetched: its address is ${reason}${remedy}`, {
    details: { host, reason, ...(setting === null ? {} : { setting }) },
  });
}

/** Resolves a name to all its addresses, allowed or not; an address resolves to itself. Rejects with the resolver's error. */
type ResolveAll = (host: string) => Promise<readonly string[]>;

/** For programs that open connections by themselves, and may connect to any of the addresses. */
export function createResolveAll(resolve: Resolve | undefined): ResolveAll {
  const lookup = createGuardedLookup({
    isAllowed: () => true,
    ...defined({ resolve }),
  });
  return (host) =>
    new Promise((done, fail) => {
      if (isIP(host) !== 0) return done([host]);
      lookup(host, { all: true }, (error, found) => {
        if (error !== null) fail(error);
        else done(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
      });
    });
}

interface GuardedConnectorOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly timeoutMs: number;
  readonly allowH2: boolean;
  readonly maxCachedSessions: number;
  readonly tls?: ConnectionOptions | undefined;
  readonly resolve?: Resolve | undefined;
}

/**
 * Opens connections for a pool, only to addresses that may be fetched: names through a lookup that checks what
 * they resolve to, addresses written in the URL directly, since no lookup happens for them.
 */
export function createGuardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { resolve } = options;
  const isAllowed = mayConnect(options.allowPrivate);
  const lookup = createGuardedLookup({ isAllowed, ...defined({ resolve }) });
  const connect = buildConnector({
    ...options.tls,
    lookup,
    timeout: options.timeoutMs,
    allowH2: options.allowH2,
    maxCachedSessions: options.maxCachedSessions,
  } as buildConnector.BuildOptions);

  return (target, callback) => {
    if (isIP(target.hostname) !== 0 && !isAllowed(target.hostname)) {
      const refusal = addressRefused(target.hostname, classifyAddress(target.hostname));
      queueMicrotask(() => callback(refusal, null));
      return;
    }
    connect(target, callback);
  };
}

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
