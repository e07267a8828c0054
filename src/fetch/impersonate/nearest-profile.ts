import type { Identity } from '../../model/identity.ts';

/** The version of Chrome that the identity claims to be. */
export function chromeVersionOf({ clientHints, userAgent }: Identity): number {
  const told = /(?:Chrome|Chromium)\/(\d+)/.exec(userAgent)?.[1] ?? clientHints.fullVersion;
  return Number.parseInt(told, 10) || 0;
}

/**
 * The profile of the version next to this one, the older of two that are equally far: handshakes change rarely, so
 * the nearest is most often the same. Null when no name ends in a version.
 */
export function nearestProfile<Name extends string>(names: readonly Name[], version: number): Name | null {
  let nearest: Name | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const own = Number(/^chrome_?(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(own)) continue;
    // Half a step more for newer ones breaks ties.
    const distance = own > version ? own - version + 0.5 : version - own;
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}
