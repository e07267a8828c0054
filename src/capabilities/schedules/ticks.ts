import { hash } from 'node:crypto';
import type { Timing } from '../../core/ports/schedule-store.ts';
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

/** What of a schedule decides about its ticks. */
export interface TickSource {
  readonly id: string;
  readonly timing: Timing;
  /** How much later than its tick a run may begin. */
  readonly jitterMs: number;
  /** What becomes of ticks that nothing ran in time: one run for all of them, or none. */
  readonly catchUp: 'one' | 'none';
  /** The first tick that was not decided yet. */
  readonly nextTickAt: number;
}

/** The decision about all ticks that are due. */
export interface TickDecision {
  /** Ticks that get a run of their own, in order. A late one stands for missed ticks as well. */
  readonly runs: readonly { readonly tickAt: number; readonly isLate: boolean }[];
  /** Ticks that get none because their time was over. */
  readonly missed: MissedTicks | null;
  /** The first tick that is left, and when it is due; null when there is none. */
  readonly next: DueTick | null;
  readonly reason: 'in-time' | 'caught-up' | 'missed';
}

interface MissedTicks {
  readonly firstAt: number;
  readonly lastAt: number;
  /** `MOST_COUNTED` stands for that many or more. */
  readonly count: number;
}

export interface DueTick {
  readonly tickAt: number;
  readonly dueAt: number;
}

/** A tick is in time for so long after it was due: schedulers take turns, restart and wait for the store. */
export const GRACE_MS = 60_000;
export const MOST_COUNTED = 1_000;
/** Ticks are whole seconds apart: a run begins before the next tick, whatever the jitter. */
const LEAST_GAP_MS = 1_000;

/**
 * Decides the ticks that are due by `now`; null when none is. `random` gives a number from 0 to below 1 for a tick, the
 * same whenever it is asked, so that every scheduler knows the same time for the same tick.
 */
export function decideTicks(
  source: TickSource,
  now: number,
  random: (tickAt: number) => number = (tickAt) => chanceOf(source.id, tickAt),
): TickDecision | null {
  const { timing, nextTickAt, catchUp } = source;
  const dueAtOf = (tickAt: number) => tickAt + delayOf(source, tickAt, random(tickAt));
  if (dueAtOf(nextTickAt) > now) return null;
  const latest = lastTick(timing, nextTickAt, now) ?? nextTickAt;
  // Only of the latest tick the jitter may not be over: each is due before the next one.
  const last = dueAtOf(latest) <= now ? latest : (lastTick(timing, nextTickAt, latest - 1) ?? nextTickAt);
  const inTime: number[] = [];
  const firstInTime = firstFrom(timing, nextTickAt, now - GRACE_MS, dueAtOf);
  for (let tick = firstInTime; tick !== null && tick <= last; tick = nextTick(timing, tick))
    inTime.push(tick);
  const next = dueTick(source, nextTick(timing, last), random);
  const lastLate = inTime.length === 0 ? last : lastTick(timing, nextTickAt, (inTime[0] ?? 0) - 1);
  if (lastLate === null) return { runs: inTime.map(intoRun), missed: null, next, reason: 'in-time' };
  const isCaughtUp = inTime.length === 0 && catchUp === 'one';
  const lastMissed = isCaughtUp ? lastTick(timing, nextTickAt, lastLate - 1) : lastLate;
  return {
    runs: isCaughtUp ? [{ tickAt: lastLate, isLate: true }] : inTime.map(intoRun),
    missed:
      lastMissed === null
        ? null
        : {
            firstAt: nextTickAt,
            lastAt: lastMissed,
            count: countTicks(timing, nextTickAt, lastMissed, MOST_COUNTED),
          },
    next,
    reason: isCaughtUp ? 'caught-up' : 'missed',
  };
}

const intoRun = (tickAt: number) => ({ tickAt, isLate: false });

/** The first tick from `first` on that is due at `from` or later; null when there is none. */
function firstFrom(
  timing: Timing,
  first: number,
  from: number,
  dueAtOf: (tickAt: number) => number,
): number | null {
  if (dueAtOf(first) >= from) return first;
  // The last tick before `from` may be due after it.
  const before = lastTick(timing, first, from);
  if (before !== null && dueAtOf(before) >= from) return before;
  return nextTick(timing, Math.max(first, before ?? first));
}

/** When the schedule is due next, for a tick of its timing. */
export function dueTick(
  source: Pick<TickSource, 'id' | 'timing' | 'jitterMs'>,
  tickAt: number | null,
  random: (tickAt: number) => number = (tick) => chanceOf(source.id, tick),
): DueTick | null {
  if (tickAt === null) return null;
  return { tickAt, dueAt: tickAt + delayOf(source, tickAt, random(tickAt)) };
}

function delayOf(
  { timing, jitterMs }: Pick<TickSource, 'timing' | 'jitterMs'>,
  tickAt: number,
  chance: number,
): number {
  if (jitterMs === 0) return 0;
  const following = nextTick(timing, tickAt);
  const room = following === null ? jitterMs : Math.max(0, following - tickAt - LEAST_GAP_MS);
  return Math.floor(chance * Math.min(jitterMs, room));
}

/** A number from 0 to below 1 that belongs to this tick of this schedule. */
function chanceOf(id: string, tickAt: number): number {
  return Number.parseInt(hash('sha256', `${id}:${tickAt}`, 'hex').slice(0, 8), 16) / 0x1_0000_0000;
}
