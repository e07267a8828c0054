import { BoundedMap } from './bounded-map.ts';

/**
 * Between instants and local times of an IANA time zone. Instants are epoch milliseconds; a local time is written as the
 * epoch milliseconds at which a clock of UTC would show it, so that calendar arithmetic needs no zone. Both are whole
 * seconds.
 */
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const MAX_ZONES = 128;
/** No zone is further behind or ahead of UTC than these, with an hour to spare. */
const MOST_BEHIND_MS = 13 * 60 * MINUTE_MS;
const MOST_AHEAD_MS = 15 * 60 * MINUTE_MS;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** The last minute asked for and its answer: a busy host asks a thousand times within it. */
  minute: number;
  offsetMs: number;
}

const zones = new BoundedMap<string, Zone>(MAX_ZONES);

export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone });
    return true;
  } catch {
    return false;
  }
}

/** The local time at an instant. */
export function localTimeAt(timeZone: string, instant: number): number {
  return wholeSecond(instant) + offsetMsAt(timeZone, instant);
}

/**
 * The one instant that stands for a local time. A local time that occurs twice means its first occurrence. A local time
 * that does not exist means the instant at which the clock jumps over it. Later local times never give earlier instants.
 */
export function instantOf(timeZone: string, local: number): number {
  const earliest = local - MOST_AHEAD_MS;
  const latest = local + MOST_BEHIND_MS;
  const before = local - offsetMsAt(timeZone, earliest);
  const after = local - offsetMsAt(timeZone, latest);
  if (before === after) return before;
  const fits = [before, after].filter((instant) => localTimeAt(timeZone, instant) === local);
  if (fits.length > 0) return Math.min(...fits);
  return offsetChange(timeZone, Math.min(before, after), Math.max(before, after));
}

/**
 * The latest local time that has occurred by the instant. Within the second pass of a repeated hour that is the end of the
 * hour, which the first pass has reached.
 */
export function latestLocalTimeAt(timeZone: string, instant: number): number {
  const local = localTimeAt(timeZone, instant);
  const first = instantOf(timeZone, local);
  if (first >= wholeSecond(instant)) return local;
  const change = offsetChange(timeZone, first, wholeSecond(instant));
  return change - SECOND_MS + offsetMsAt(timeZone, change - SECOND_MS);
}

/** The first minute after `from` and up to `to` at which the zone's offset has changed; null when it has not. */
export function offsetChangeBetween(timeZone: string, from: number, to: number): number | null {
  const isSame = offsetMsAt(timeZone, from) === offsetMsAt(timeZone, to);
  return isSame ? null : offsetChange(timeZone, from, to);
}

/** The instant of the change between two instants whose offsets differ. */
function offsetChange(timeZone: string, from: number, to: number): number {
  const before = offsetMsAt(timeZone, from);
  let low = Math.floor(from / MINUTE_MS);
  let high = Math.ceil(to / MINUTE_MS);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMsAt(timeZone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

/** How far the zone is ahead of UTC. Zones change at whole minutes. */
function offsetMsAt(timeZone: string, instant: number): number {
  const minute = Math.floor(instant / MINUTE_MS);
  const zone = zones.getOrCreate(timeZone, () => openZone(timeZone));
  if (zone.minute !== minute) {
    zone.offsetMs = shownTime(zone.format, minute * MINUTE_MS) - minute * MINUTE_MS;
    zone.minute = minute;
  }
  return zone.offsetMs;
}

function openZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return { format, minute: Number.NaN, offsetMs: 0 };
}

/** Reads `06/10/2026, 12:34:56`: parts in a list would take three times as long. */
function shownTime(format: Intl.DateTimeFormat, instant: number): number {
  const shown = format.format(instant);
  const number = (from: number, to: number) => Number(shown.slice(from, to));
  return Date.UTC(
    number(6, 10),
    number(0, 2) - 1,
    number(3, 5),
    number(12, 14),
    number(15, 17),
    number(18, 20),
  );
}

const wholeSecond = (instant: number) => Math.floor(instant / SECOND_MS) * SECOND_MS;
