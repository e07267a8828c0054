/** How hosts, with all that belongs to them, are spread over several stores. Pure: the same every time. */
export interface World {
  /** URLs of each host. A host's name follows from its place in the list. */
  readonly sizes: Uint32Array;
  /** 32 bits of each host's name. */
  readonly hashes: Uint32Array;
  readonly urls: number;
}

/** Returns the store of each host, by numbers from 0. */
export type Spread = (hashes: Uint32Array, stores: number) => Uint8Array;

export interface WorldOptions {
  readonly hosts: number;
  readonly urls: number;
  readonly exponent: number;
  /** What is taken of one host at most. */
  readonly mostPerHost: number;
}

/** Sites by Zipf: the k-th largest has as many URLs as the largest, divided by k to the exponent; at least 1. */
export function createWorld({ hosts, urls, exponent, mostPerHost }: WorldOptions): World {
  const shares = Float64Array.from({ length: hosts }, (_, at) => (at + 1) ** -exponent);
  const scale = scaleFor(shares, urls, mostPerHost);
  const sizes = Uint32Array.from(shares, (share) =>
    Math.min(mostPerHost, Math.max(1, Math.round(share * scale))),
  );
  const hashes = Uint32Array.from({ length: hosts }, (_, at) => hashOf(`www.site-${at}.example`));
  return { sizes, hashes, urls: sizes.reduce((sum, size) => sum + size, 0) };
}

/** The factor that makes the sizes add up, given their bounds. */
function scaleFor(shares: Float64Array, urls: number, most: number): number {
  let [low, high] = [0, urls * 1_000];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    const total = shares.reduce((sum, share) => sum + Math.min(most, Math.max(1, share * middle)), 0);
    if (total < urls) low = middle;
    else high = middle;
  }
  return high;
}

/** FNV-1a, stirred once more: names that differ in their last letter only must end up anywhere. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return stir(hash);
}

function stir(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The remainder. Another number of stores is another store for nearly everybody. */
export const byRemainder: Spread = (hashes, stores) => Uint8Array.from(hashes, (hash) => hash % stores);

/** Every store draws a number for the host, and the highest has it: a new store takes what it wins and no more. */
export const byRendezvous: Spread = (hashes, stores) =>
  Uint8Array.from(hashes, (hash) => {
    let [winner, highest] = [0, -1];
    for (let store = 0; store < stores; store++) {
      const drawn = stir(hash ^ stir(store + 1));
      if (drawn > highest) [winner, highest] = [store, drawn];
    }
    return winner;
  });

const BUCKETS = 1_024;

/** A fixed number of buckets, dealt out in a table: a new store gets its share of them, from all in turn. */
export const byBuckets: Spread = (hashes, stores) => {
  const table = new Uint8Array(BUCKETS);
  for (let count = 2; count <= stores; count++) {
    // Buckets move from the store that has most, until the new store has as many as each of the others.
    const held = Array.from({ length: count }, (_, store) => table.filter((owner) => owner === store).length);
    while ((held[count - 1] ?? 0) < Math.floor(BUCKETS / count)) {
      const richest = held.indexOf(Math.max(...held));
      table[table.indexOf(richest)] = count - 1;
      held[richest] = (held[richest] ?? 0) - 1;
      held[count - 1] = (held[count - 1] ?? 0) + 1;
    }
  }
  return Uint8Array.from(hashes, (hash) => table[hash % BUCKETS] ?? 0);
};

export interface Balance {
  /** The fullest store over the mean: hosts, and URLs. */
  readonly hosts: number;
  readonly urls: number;
  /** Share that moves when one more store is added: of hosts, and of URLs. */
  readonly movedHosts: number;
  readonly movedUrls: number;
}

export function balanceOf({ sizes, hashes, urls }: World, spread: Spread, stores: number): Balance {
  const owners = spread(hashes, stores);
  const next = spread(hashes, stores + 1);
  const [hostCounts, urlCounts] = [new Float64Array(stores), new Float64Array(stores)];
  let [movedHosts, movedUrls] = [0, 0];
  for (const [at, owner] of owners.entries()) {
    const size = sizes[at] ?? 0;
    hostCounts[owner] = (hostCounts[owner] ?? 0) + 1;
    urlCounts[owner] = (urlCounts[owner] ?? 0) + size;
    if (next[at] === owner) continue;
    movedHosts += 1;
    movedUrls += size;
  }
  return {
    hosts: (Math.max(...hostCounts) * stores) / sizes.length,
    urls: (Math.max(...urlCounts) * stores) / urls,
    movedHosts: movedHosts / sizes.length,
    movedUrls: movedUrls / urls,
  };
}

/**
 * When each URL is done, all hosts being ready at the beginning: a store works `capacity` URLs a second, which its
 * hosts share evenly, and none of them faster than politeness lets it. Resolves to the seconds until these shares of
 * all URLs are done.
 */
export function crawlTimes(
  { sizes, hashes, urls }: World,
  spread: Spread,
  stores: number,
  { capacity, hostRate }: { readonly capacity: number; readonly hostRate: number },
  shares: readonly number[],
): number[] {
  const owners = spread(hashes, stores);
  const progress = Array.from({ length: stores }, (_, store) =>
    progressOf(
      sizes.filter((_size, at) => owners[at] === store),
      capacity,
      hostRate,
    ),
  );
  const doneAt = (seconds: number) => progress.reduce((sum, one) => sum + one.doneAt(seconds), 0);
  const longest = Math.max(...progress.map(({ endsAt }) => endsAt));
  return shares.map((share) => {
    let [low, high] = [0, longest];
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (doneAt(middle) < share * urls) low = middle;
      else high = middle;
    }
    return high;
  });
}

interface Progress {
  readonly endsAt: number;
  doneAt(seconds: number): number;
}

/** Hosts end from the smallest to the largest; in between, what is done is a straight line. */
function progressOf(sizes: Uint32Array, capacity: number, hostRate: number): Progress {
  const sorted = sizes.slice().sort();
  const [times, done]: [number[], number[]] = [[0], [0]];
  let [time, level, total] = [0, 0, 0];
  for (const [at, size] of sorted.entries()) {
    if (size === level) continue;
    const active = sorted.length - at;
    const rate = Math.min(hostRate, capacity / active);
    time += (size - level) / rate;
    total += (size - level) * active;
    level = size;
    times.push(time);
    done.push(total);
  }
  return {
    endsAt: time,
    doneAt(seconds) {
      if (seconds >= time) return total;
      let [low, high] = [0, times.length - 1];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if ((times[middle] ?? 0) <= seconds) low = middle;
        else high = middle;
      }
      const [from, to] = [times[low] ?? 0, times[high] ?? 0];
      const [before, after] = [done[low] ?? 0, done[high] ?? 0];
      return before + ((after - before) * (seconds - from)) / (to - from);
    },
  };
}
