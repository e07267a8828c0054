import { type CalendarDay, dayOfWeek, dayOfYear, fullBuddhistYear, fullYear, isRealDay } from './calendar.ts';

export type DateOrder = 'dmy' | 'mdy' | 'ymd';

/** How to read dates in numbers. */
export interface NumericHints {
  /** The order given by the caller or the locale; null when unknown. */
  readonly order: DateOrder | null;
  /** Which of two open readings comes first. */
  readonly likelier: 'dmy' | 'mdy';
  readonly thisYear: number;
  /** True when two-digit years are Buddhist era. */
  readonly isThai: boolean;
}

const HAN = /(?<!\d)(\d{4}|\d{2}) ?[年년] ?(\d{1,2}) ?[月월](?: ?(\d{1,2}) ?[日일号號])?/;
const DAY_RANGE = /(?<![\d.])(\d{1,2})\.? ?[-–—] ?\d{1,2}\. ?(\d{1,2})\. ?(\d{4})(?!\d)/;
const LONG_RANGE = /(?<![\d.])(\d{1,2})\. ?(\d{1,2})\.? ?[-–—] ?\d{1,2}\. ?(\d{1,2})\. ?(\d{4})(?!\d)/;
const YEAR_FIRST = /(?<![\d.,])(\d{4})(?: ?([-/.]) ?|\. )(\d{1,2})(?: ?\2 ?|\. )(\d{1,2})(?!\d)/;
const TRIPLE = /(?<![\d.,/])(\d{1,2}) ?([-/.]) ?(\d{1,2}) ?\2 ?'?(\d{4}|\d{1,2})(?![\d]|\2\d)/;
const MONTH_YEAR = /(?<![\d.,/-])(\d{1,2}) ?[-/.] ?(\d{4})(?![\d/]|[-.]\d)/;
const YEAR_MONTH = /(?<![\d.,/-])(\d{4}) ?[-/.] ?(\d{2})(?![\d/]|[-.]\d)/;

/**
 * The days a date in numbers may be, likeliest first. Null when the text has none; empty when the day does not
 * exist.
 */
export function readNumeric(text: string, hints: NumericHints): readonly CalendarDay[] | null {
  const han = HAN.exec(text);
  if (han !== null) {
    const [, year = '', month, day] = han;
    return only(yearOf(year, hints), Number(month), day === undefined ? null : Number(day));
  }
  const long = LONG_RANGE.exec(text);
  if (long !== null) {
    const year = Number(long[4]);
    // Over the turn of the year: 28.12. – 3.1.2027.
    return only(Number(long[2]) > Number(long[3]) ? year - 1 : year, Number(long[2]), Number(long[1]));
  }
  const range = DAY_RANGE.exec(text);
  if (range !== null) return only(Number(range[3]), Number(range[2]), Number(range[1]));
  const first = YEAR_FIRST.exec(text);
  if (first !== null) return only(Number(first[1]), Number(first[3]), Number(first[4]));
  const triple = TRIPLE.exec(text);
  if (triple !== null) {
    const [, a = '', sign = '', b = '', c = ''] = triple;
    return readTriple([a, b, c], sign, hints);
  }
  const monthYear = MONTH_YEAR.exec(text);
  if (monthYear !== null) return only(Number(monthYear[2]), Number(monthYear[1]), null);
  const yearMonth = YEAR_MONTH.exec(text);
  return yearMonth === null ? null : only(Number(yearMonth[1]), Number(yearMonth[2]), null);
}

function yearOf(digits: string, { thisYear, isThai }: NumericHints): number {
  if (digits.length !== 2) return Number(digits);
  return isThai ? fullBuddhistYear(Number(digits)) : fullYear(Number(digits), thisYear);
}

function only(year: number, month: number, day: number | null): readonly CalendarDay[] {
  const found = { year, month, day };
  return isRealDay(found) ? [found] : [];
}

function readTriple(
  parts: readonly [string, string, string],
  sign: string,
  hints: NumericHints,
): readonly CalendarDay[] {
  const [a, b, c] = parts;
  const read = (order: DateOrder): CalendarDay[] => {
    if (order === 'ymd') {
      return c.length < 4 ? [...only(yearOf(a.padStart(2, '0'), hints), Number(b), Number(c))] : [];
    }
    const [day, month] = order === 'dmy' ? [a, b] : [b, a];
    return [...only(yearOf(c, hints), Number(month), Number(day))];
  };
  const { order, likelier } = hints;
  // A date with one digit at the end can only begin with the year; else it is the number of a version.
  if (c.length === 1) return order === 'ymd' || Number(a) > 31 ? read('ymd') : [];
  if (order !== null) {
    const asked = read(order);
    if (asked.length > 0) return asked;
  }
  // Points stand between numbers only where the day comes first.
  if (sign === '.') {
    const usual = read('dmy');
    return usual.length > 0 ? usual : [...read('ymd'), ...read('mdy')].slice(0, 1);
  }
  const other = likelier === 'dmy' ? 'mdy' : 'dmy';
  const orders: readonly DateOrder[] =
    c.length === 2 && sign === '-' ? [likelier, other, 'ymd'] : [likelier, other];
  const days = orders.flatMap(read);
  return days.length > 0 ? days : read('ymd');
}

/** A parsed ISO 8601 text: a day, or part of one, and an optional time. */
interface IsoMoment {
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
 * Reads ISO 8601: calendar, week and ordinal dates in the basic and the extended form, for an interval the start. Null
 * for any other text, undefined for a day or time that does not exist.
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
