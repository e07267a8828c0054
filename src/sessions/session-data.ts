import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { StoredCookie } from '../fetch/http/cookie-jar.ts';
import type { Identity } from '../model/identity.ts';
import type { ProxyTier } from '../model/proxy.ts';
import type { BrowserStorage } from '../model/render.ts';
import { isSealed, lockedBy, type Vault, type VaultPlace } from './vault.ts';

/** What a session carries from page to page. Plain JSON. */
export interface SessionData {
  /** The way out that it keeps; null before the first use of one. */
  readonly proxy: SessionProxy | null;
  /** Who it says it is; null before somebody had to be. */
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
