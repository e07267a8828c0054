import type { JobId } from '../../core/model/ids.ts';

/** What the next id must come after. */
export interface IdClock {
  readonly ms: number;
  /** 12 bits that count up within one millisecond. */
  readonly count: number;
}

const MAX_COUNT = 0xfff;
const MAX_MS = 2 ** 48 - 1;

/**
 * The moment of the next id: never earlier than `now`, always later than `last`, so that ids sort in the order
 * they were made even when the clock stands still or goes back.
 */
export function tick(last: IdClock | null, now: number, random: number): IdClock {
  const ms = Math.min(Math.max(0, Math.floor(now)), MAX_MS);
  // A fresh millisecond starts in the lower half of the counter: room to count up, and not guessable from the time.
  if (last === null || ms > last.ms) return { ms, count: Math.floor(random * (MAX_COUNT / 2)) };
  return last.count < MAX_COUNT ? { ms: last.ms, count: last.count + 1 } : { ms: last.ms + 1, count: 0 };
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
const bits32 = (random: number) => Math.floor(random * 0x1_0000_0000);

/** UUID version 7 (RFC 9562): 48 bits of time, a 12-bit counter, 62 bits of chance. */
export function formatJobId(at: IdClock, highRandom: number, lowRandom: number): JobId {
  const time = hex(at.ms, 12);
  const high = bits32(highRandom);
  const variant = 0x8000 | ((high >>> 16) & 0x3fff);
  const tail = hex(high & 0xffff, 4) + hex(bits32(lowRandom), 8);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(at.count, 3)}-${hex(variant, 4)}-${tail}` as JobId;
}

/** Hands out ids in ascending order. */
export function createJobIds(now: () => number, random: () => number): () => JobId {
  let last: IdClock | null = null;
  return () => {
    last = tick(last, now(), random());
    return formatJobId(last, random(), random());
  };
}

const JOB_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function isJobId(text: string): text is JobId {
  return JOB_ID.test(text);
}
