import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { buildConnector } from 'undici';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { defined } from '../../lib/defined.ts';
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
export function addressRefused(host: string, reason: string): ScrapifieError {
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
