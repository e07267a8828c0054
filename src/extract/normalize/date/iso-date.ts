import { type CalendarDay, dayOfWeek, dayOfYear, isRealDay } from './calendar.ts';

/** What an ISO 8601 text says: a day, or part of one, and maybe a time. */
export interface IsoMoment {
  readonly day: CalendarDay;
  readonly clock: {
    readonly hour: number;
    readonly minute: number;
    readonly second: number | null;
    readonly offset: number | null;
  } | null;
}

const SHAPE =
  /^(?:([+-]?\d{4,6})-?w(\d{2})(?:-?([1-7]))?|(\d{4})-?(\d{3})|([+-]\d{6}|\d{4})(?:-(\d{2})(?:-(\d{2}))?)?|(\d{4})(\d{2})(\d{2}))(?:[t ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,]\d{1,12})?)?)?(?: ?(z|[+-]\d{2}(?::?\d{2})?))?)?$/i;

/**
 * Reads ISO 8601: calendar, week and ordinal dates in the basic and the extended form, of an interval the start. Null
 * when the text is nothing of the kind, undefined when it is but there is no such day or time.
 */
export function readIso(text: string): IsoMoment | null | undefined {
  const start = /^[^/]{4,40}\/[^/]{1,40}$/.test(text) ? text.slice(0, text.indexOf('/')).trim() : text;
  const match = SHAPE.exec(start);
  if (match === null || (start !== text && start.length < 7)) return null;
  const day = dayOf(match);
  const clock = clockOf(match);
  if (day === null || !isRealDay(day) || clock === undefined) return undefined;
  if (clock !== null && day.day === null) return undefined;
  return { day, clock };
}

function dayOf(match: RegExpExecArray): CalendarDay | null {
  const [, weekYear, week, weekday, ordinalYear, ordinal, year, month, day, basicYear, basicMonth, basicDay] =
    match;
  if (weekYear !== undefined) return dayOfWeek(Number(weekYear), Number(week), Number(weekday ?? 1));
  if (ordinalYear !== undefined) return dayOfYear(Number(ordinalYear), Number(ordinal));
  if (basicYear !== undefined) {
    return { year: Number(basicYear), month: Number(basicMonth), day: Number(basicDay) };
  }
  return {
    year: Number(year),
    month: month === undefined ? null : Number(month),
    day: day === undefined ? null : Number(day),
  };
}

function clockOf(match: RegExpExecArray): IsoMoment['clock'] | undefined {
  const [hour, minute, second, zone] = match.slice(12);
  if (hour === undefined) return null;
  const clock = {
    hour: Number(hour),
    minute: Number(minute ?? 0),
    second: second === undefined ? null : Number(second),
    offset: zone === undefined ? null : offsetOf(zone),
  };
  const isReal = clock.hour <= 24 && clock.minute <= 59 && (clock.second ?? 0) <= 60;
  const isMidnight = clock.hour < 24 || clock.minute + (clock.second ?? 0) === 0;
  if (!isReal || !isMidnight || Number.isNaN(clock.offset)) return undefined;
  return clock.second === 60 ? { ...clock, second: 59 } : clock;
}

function offsetOf(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const digits = zone.slice(1).replace(':', '');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2) || 0)];
  if (hours > 14 || minutes > 59) return Number.NaN;
  const size = hours * 60 + minutes;
  return zone.startsWith('-') ? 0 - size : size;
}
