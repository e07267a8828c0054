/**
 * Hosts whose tasks wait for a place of their account are offered again after a time that grows with the number of such
 * hosts, so that the account is asked for about twenty places a second, however many hosts it has.
 */
export const HELD_HOSTS = { shortestMs: 1_000, longestMs: 60_000, eachMs: 50, mostCounted: 1_200 };

/** While hosts of an account wait, each of its hosts gets no place for one of so many steps of time. */
export const REST = { stepMs: 4_000, steps: 4 };

/** For how long a host is not offered for the tasks of an account without places, while `waiting` others wait. */
export const heldMs = (host: number, waiting: number): number => {
  const { shortestMs, longestMs, eachMs } = HELD_HOSTS;
  const ms = Math.min(longestMs, Math.max(shortestMs, waiting * eachMs));
  return Math.floor((ms * (8 + (host % 8))) / 8);
};

export const isResting = (host: number, now: number): boolean =>
  (Math.floor(now / REST.stepMs) + host) % REST.steps === 0;
