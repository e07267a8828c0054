import type { Timing } from '../../core/model/schedule.ts';
import { isOpen, nextOpening } from '../../crawl/politeness/hours.ts';
import { instantOf, latestLocalTimeAt } from '../../lib/zone-time.ts';
import { type CronLine, readCronLine } from './cron-line.ts';

/**
 * The ticks of a timing: the instants, in ascending order, at which it is to run. A cron line names local times; a local
 * time that does not exist is a tick at the instant at which the clock jumps over it, one that occurs twice is a tick at
 * its first occurrence. Local times that fall on the same instant are one tick.
 */
const SECOND_MS = 1_000;
/** More than a year of days: a timing that has no tick in its active hours until then is said to have none. */
const MAX_CLOSED_TICKS = 400;
/** 29 February falls on each day of the week within these years, also across a year such as 2100 that has none. */
const MAX_CLOSED_MS = 41 * 366 * 86_400_000;

/** The first tick after the instant; null when no tick falls into the active hours for a long time. */
export function nextTick(timing: Timing, after: number): number | null {
  const { activeHours, timeZone } = timing;
  if (activeHours === null) return nextOf(timing, after);
  const hours = { ...activeHours, timeZone };
  let from = after;
  for (let step = 0; step < MAX_CLOSED_TICKS; step++) {
    const tick = nextOf(timing, from);
    if (isOpen(hours, tick)) return tick;
    if (tick - after > MAX_CLOSED_MS) return null;
    from = nextOpening(hours, tick) - 1;
  }
  return null;
}

/** The last tick from `first`, which is one, up to the instant; null when `first` is later. */
export function lastTick(timing: Timing, first: number, upTo: number): number | null {
  if (first > upTo) return null;
  let latest = first;
  let high = upTo;
  // A tick that follows `low` is known, and none follows `high` in time.
  for (let low = first; high - low > SECOND_MS / 2; ) {
    const middle = Math.floor((low + high) / 2);
    const tick = nextTick(timing, middle);
    if (tick !== null && tick <= upTo) {
      latest = tick;
      low = tick;
    } else high = middle;
  }
  return latest;
}

/** How many ticks there are from `first` to `last`, which are ticks; at most `limit`. */
export function countTicks(timing: Timing, first: number, last: number, limit: number): number {
  let count = 1;
  for (let tick = first; count < limit; count++) {
    const next = nextTick(timing, tick);
    if (next === null || next > last) break;
    tick = next;
  }
  return count;
}

/**
 * Whether some of the ticks follow each other in less than `ms`. Of a cron line the local times count: a day on which the
 * clock changes does not make it faster.
 */
export function hasTicksWithin({ cron, everyMs }: Timing, ms: number): boolean {
  return everyMs === null ? cronLineOf(cron).hasTimesWithin(ms) : everyMs < ms;
}

/** The first `count` ticks after the instant. */
export function upcomingTicks(timing: Timing, after: number, count: number): number[] {
  const ticks: number[] = [];
  for (let from = after; ticks.length < count; ) {
    const tick = nextTick(timing, from);
    if (tick === null) break;
    ticks.push(tick);
    from = tick;
  }
  return ticks;
}

function nextOf({ cron, everyMs, anchorAt, timeZone }: Timing, after: number): number {
  if (everyMs !== null) return anchorAt + Math.max(1, Math.floor((after - anchorAt) / everyMs) + 1) * everyMs;
  const line = cronLineOf(cron);
  let local = latestLocalTimeAt(timeZone, after);
  for (;;) {
    local = line.next(local);
    const tick = instantOf(timeZone, local);
    if (tick > after) return tick;
  }
}

function cronLineOf(cron: string | null): CronLine {
  const read = readCronLine(cron ?? '');
  if ('problem' in read) throw new Error(`The cron line "${cron}" ${read.problem}.`);
  return read.line;
}
