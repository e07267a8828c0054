import { isDeepStrictEqual } from 'node:util';
import type { StoredCookie } from '../fetch/http/cookie-jar.ts';
import type { LocalStorage, SessionData } from './session-data.ts';

/**
 * Two who use one session at the same time start from the same data and change it each for themselves. What one made
 * of it, `before` → `after`, is done again to what the other left, so that nothing of either is lost but what both
 * changed; there the later writer's word holds.
 *
 * Proxy and identity belong to the session as a whole: of two who chose one at the same time the first has chosen.
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

/** What makes two cookies the same to whoever they are sent to. */
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
