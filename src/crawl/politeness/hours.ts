import type { AllowedHours } from '../../core/model/policy.ts';
import { isTimeZone, localTimeAt, offsetChangeBetween } from '../../lib/zone-time.ts';

/**
 * Allowed hours are read off the clock on the wall of their time zone: a window from 02:15 to 02:45 does not open
 * on the night that skips that hour, and opens twice on the night that repeats it. A window that runs over
 * midnight belongs to the day it begins on. `from` equal to `to` is a full day; `24:00` is the end of the day.
 */
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** A week of days, twice, and a few changes of the clock: more steps than any opening needs. */
const MAX_STEPS = 24;

export function isOpen(hours: AllowedHours, now: number): boolean {
  return isOpenAt(hours, wallMinutes(hours.timeZone, now));
}

/** The first moment from now on that is open; now itself when it is. */
export function nextOpening(hours: AllowedHours, now: number): number {
  if (isOpen(hours, now)) return now;
  let at = now;
  for (let step = 0; step < MAX_STEPS; step++) {
    const wall = wallMinutes(hours.timeZone, at);
    if (isOpenAt(hours, wall)) return at;
    const minuteStart = at - modulo(at, MINUTE_MS);
    const candidate = minuteStart + minutesToOpening(hours, wall) * MINUTE_MS;
    // The distance holds only while the clock runs on evenly: go to its change first, where there is one.
    at = offsetChangeBetween(hours.timeZone, minuteStart, candidate) ?? candidate;
  }
  return at;
}

/** The problem with allowed hours, in words; null when they are valid. */
export function hoursProblem(hours: AllowedHours): string | null {
  if (parseClock(hours.from) === null || hours.from === '24:00') return 'from must be a time like 08:30';
  if (parseClock(hours.to) === null) return 'to must be a time like 18:00, at most 24:00';
  if (hours.days.some((day) => !Number.isInteger(day) || day < 0 || day > 6)) {
    return 'days must be numbers from 0 (Sunday) to 6';
  }
  return isTimeZone(hours.timeZone) ? null : `unknown time zone ${hours.timeZone}`;
}

/** `wall` counts minutes of the local calendar since 1970-01-01T00:00, a Thursday. */
function isOpenAt(hours: AllowedHours, wall: number): boolean {
  const day = Math.floor(wall / DAY_MINUTES);
  const minute = wall - day * DAY_MINUTES;
  const from = parseClock(hours.from) ?? 0;
  const to = parseClock(hours.to) ?? DAY_MINUTES;
  if (from < to) return minute >= from && minute < to && isOnDay(hours, day);
  return minute >= from ? isOnDay(hours, day) : minute < to && isOnDay(hours, day - 1);
}

/** Minutes on the wall until the next window begins; `wall` is not in one. */
function minutesToOpening(hours: AllowedHours, wall: number): number {
  const from = parseClock(hours.from) ?? 0;
  const today = Math.floor(wall / DAY_MINUTES);
  for (let day = today; day <= today + 7; day++) {
    const opening = day * DAY_MINUTES + from;
    if (opening > wall && isOnDay(hours, day)) return opening - wall;
  }
  return DAY_MINUTES;
}

function isOnDay(hours: AllowedHours, day: number): boolean {
  return hours.days.length === 0 || hours.days.includes(modulo(day + 4, 7));
}

/** `08:30` → 510; null when it is no time. `24:00` → 1440. */
function parseClock(text: string): number | null {
  if (text.length !== 5 || text.charCodeAt(2) !== 0x3a) return null;
  const hour = twoDigits(text, 0);
  const minute = twoDigits(text, 3);
  if (hour < 0 || minute < 0 || minute > 59 || hour > 24 || (hour === 24 && minute > 0)) return null;
  return hour * 60 + minute;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

const wallMinutes = (timeZone: string, at: number) => Math.floor(localTimeAt(timeZone, at) / MINUTE_MS);

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
