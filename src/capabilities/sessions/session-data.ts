import { isDeepStrictEqual } from 'node:util';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Identity } from '../../core/model/identity.ts';
import type { ProxyTier } from '../../core/model/proxy.ts';
import type { BrowserStorage } from '../../core/model/render.ts';
import type { StoredCookie } from '../../fetch/cookies/cookie-jar.ts';
import { isSealed, lockedBy, type Vault, type VaultPlace } from './vault.ts';

/** What a session carries from page to page. Plain JSON. */
export interface SessionData {
  /** The proxy that it keeps; null before the first use of one. */
  readonly proxy: SessionProxy | null;
  /** The browser identity; null before the first attempt that needs one. */
  readonly identity: Identity | null;
  /** The longest unchanged first. */
  readonly cookies: readonly StoredCookie[];
  /** By origin, the longest unchanged first. */
  readonly localStorage: LocalStorage;
  /** How much did not fit in so far. */
  readonly dropped: { readonly cookies: number; readonly origins: number };
}

export interface SessionProxy {
  readonly id: string;
  readonly tier: ProxyTier;
  readonly country: string | null;
}

export type LocalStorage = BrowserStorage['localStorage'];

export const NO_DATA: SessionData = {
  proxy: null,
  identity: null,
  cookies: [],
  localStorage: {},
  dropped: { cookies: 0, origins: 0 },
};

export const DATA_LIMITS = { cookies: 1_000, cookieBytes: 262_144, storageBytes: 1_048_576 };

/** The first byte of data that is stored as it is; sealed data begins with another. */
const PLAIN = 0;

/** Encrypted where there is a vault: cookies are as good as a password. */
export function packData(data: SessionData, vault: Vault | null, place: VaultPlace): Uint8Array {
  const json = Buffer.from(JSON.stringify(data));
  return vault === null ? Buffer.concat([Buffer.of(PLAIN), json]) : vault.seal(json, place);
}

/** Data that was stored before there was a vault is read all the same. */
export function unpackData(bytes: Uint8Array, vault: Vault | null, place: VaultPlace): SessionData {
  if (bytes[0] === PLAIN) return parse(bytes.subarray(1), place);
  if (vault !== null) return parse(vault.open(bytes, place), place);
  if (isSealed(bytes)) throw lockedBy(bytes, place, null);
  throw damaged(place);
}

function parse(json: Uint8Array, place: VaultPlace): SessionData {
  try {
    return JSON.parse(Buffer.from(json).toString('utf8')) as SessionData;
  } catch {
    // Without the cause, which quotes what it could not read.
    throw damaged(place);
  }
}

const damaged = ({ name }: VaultPlace) =>
  new ScrapifieError('DATABASE_CORRUPT', `The stored session "${name}" is damaged. Delete it.`);

/** What fits, without cookies that are over. What does not is left out, the longest unchanged first, and counted. */
export function withinLimits(data: SessionData, now: number, limits = DATA_LIMITS): SessionData {
  const living = data.cookies.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  const cookies = newest(living.slice(-limits.cookies), cookieBytes, limits.cookieBytes);
  const origins = Object.entries(data.localStorage);
  const kept = newest(origins, originBytes, limits.storageBytes);
  return {
    ...data,
    cookies,
    localStorage: Object.fromEntries(kept),
    dropped: {
      cookies: data.dropped.cookies + living.length - cookies.length,
      origins: data.dropped.origins + origins.length - kept.length,
    },
  };
}

/** The longest end of the list that fits. */
function newest<T>(list: readonly T[], bytesOf: (item: T) => number, maxBytes: number): readonly T[] {
  let bytes = 0;
  const tooMuch = list.findLastIndex((item) => {
    bytes += bytesOf(item);
    return bytes > maxBytes;
  });
  return list.slice(tooMuch + 1);
}

const cookieBytes = ({ name, value, domain, path }: StoredCookie) =>
  Buffer.byteLength(name + value + domain + path);
const originBytes = ([origin, items]: readonly [string, LocalStorage[string]]) =>
  Buffer.byteLength(origin) +
  Object.entries(items).reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0);

/**
 * Two attempts that use one session at the same time start from the same data, and each changes its own copy. What one made
 * of it, `before` → `after`, is done again to what the other left, so that nothing of either is lost but what both
 * changed; there the later writer's word holds.
 *
 * Proxy and identity belong to the session as a whole: of two attempts that choose one at the same time the first decides.
 */
export function mergeData(before: SessionData, after: SessionData, theirs: SessionData): SessionData {
  return {
    proxy: settled(before.proxy, after.proxy, theirs.proxy),
    identity: settled(before.identity, after.identity, theirs.identity),
    cookies: [...mergeMaps(byKey(before.cookies), byKey(after.cookies), byKey(theirs.cookies)).values()],
    localStorage: mergeStorage(before.localStorage, after.localStorage, theirs.localStorage),
    dropped: theirs.dropped,
  };
}

export const isSameData = (one: SessionData, other: SessionData): boolean => isDeepStrictEqual(one, other);

function settled<T>(before: T | null, after: T | null, theirs: T | null): T | null {
  if (isDeepStrictEqual(before, after)) return theirs;
  return before === null && theirs !== null ? theirs : after;
}

/** Cookies with the same key replace each other. */
const keyOf = ({ domain, path, name, isHostOnly }: StoredCookie) =>
  `${isHostOnly ? '' : '.'}${domain};${path};${name}`;

const byKey = (cookies: readonly StoredCookie[]): ReadonlyMap<string, StoredCookie> =>
  new Map(cookies.map((cookie) => [keyOf(cookie), cookie]));

/** What was changed comes last, so that order tells age. */
function mergeMaps<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  theirs: ReadonlyMap<string, T>,
): Map<string, T> {
  const merged = new Map(theirs);
  for (const key of before.keys()) if (!after.has(key)) merged.delete(key);
  for (const [key, value] of after) {
    if (before.has(key) && isDeepStrictEqual(before.get(key), value)) continue;
    merged.delete(key);
    merged.set(key, value);
  }
  return merged;
}

function mergeStorage(before: LocalStorage, after: LocalStorage, theirs: LocalStorage): LocalStorage {
  const merged = new Map(Object.entries(theirs));
  for (const origin of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, own, other] = [before, after, theirs].map((each) => itemsOf(each, origin));
    if (old === undefined || own === undefined || other === undefined || isDeepStrictEqual(old, own))
      continue;
    const items = mergeMaps(old, own, other);
    merged.delete(origin);
    if (items.size > 0) merged.set(origin, Object.fromEntries(items));
  }
  return Object.fromEntries(merged);
}

const itemsOf = (storage: LocalStorage, origin: string): ReadonlyMap<string, string> =>
  new Map(Object.entries(Object.hasOwn(storage, origin) ? (storage[origin] ?? {}) : {}));
