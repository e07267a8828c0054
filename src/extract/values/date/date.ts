import { cleanLocale } from '../number.ts';
import { fold, lowerInPlace } from '../text.ts';
import {
  addDays,
  addMonths,
  type CalendarDay,
  dayAt,
  isoClock,
  isoDay,
  isoOffset,
  isRealDay,
  startOf,
  weekdayOf,
  withCommonYears,
} from './calendar.ts';
import { type Clock, offsetAt, offsetOfLocal, takeClock } from './clock.ts';
import { daysOf, nameKey, readNamed, weekdayNames } from './named-date.ts';
import { type DateOrder, readIso, readNumeric } from './numeric-date.ts';
import { type RelativeDate, readDistance, readRelativeName } from './relative-date.ts';

export type DatePrecision = 'year' | 'month' | 'day' | 'minute' | 'second';

/** A date, as precise as its text. */
export interface ParsedDate {
  /** ISO 8601 cut to the precision: `2026-11`, `2026-11-12T10:30+01:00`. The likeliest reading where there are several. */
  readonly iso: string;
  readonly precision: DatePrecision;
  /** True when `iso` ends with an offset: the text or the caller named a zone. */
  readonly hasZone: boolean;
  readonly isAmbiguous: boolean;
  /** All readings, likeliest first; empty when there is only one. */
  readonly readings: readonly string[];
}

export interface DateHints {
  /** When the page was fetched, in milliseconds: the reference of `yesterday` and of two-digit years. */
  readonly fetchedAt: number;
  /** Language tag of the page. A bare `en` does not tell 12/11 from 11/12. */
  readonly locale?: string | undefined;
  /** IANA zone of the site: gives times without a zone one, and says when `today` is. */
  readonly timeZone?: string | undefined;
  readonly order?: DateOrder | undefined;
}

const MAX_CHARS = 200;
const UNIX_SECONDS = /^-?\d{9,10}(?:\.\d{1,6})?$/;
const UNIX_MILLIS = /^\d{12,13}$/;

/**
 * Reads a date in any of the usual notations and some fifty languages. Null without a date, or for a day that does
 * not exist; never throws. A range gives its start.
 */
export function parseDate(text: string, hints: DateHints): ParsedDate | null {
  const lower = lowerInPlace(fold(text, MAX_CHARS));
  if (!/[\p{L}\p{N}]/u.test(lower) || !Number.isFinite(hints.fetchedAt)) return null;
  if (UNIX_SECONDS.test(lower)) return atInstant(Math.floor(Number(lower)) * 1_000, 'second', hints.timeZone);
  if (UNIX_MILLIS.test(lower)) return atInstant(Number(lower), 'second', hints.timeZone);
  const iso = readIso(lower);
  if (iso === undefined) return null;
  const isThai = isThaiLocale(hints);
  if (iso !== null && !(isThai && iso.day.year > 2400)) {
    const clock =
      iso.clock === null
        ? null
        : { ...iso.clock, offsets: iso.clock.offset === null ? [] : [iso.clock.offset] };
    return build([iso.day], clock, hints);
  }
  return readWritten(withCommonYears(lower, isThai), hints);
}

const isThaiLocale = ({ locale }: DateHints): boolean => /^th\b/i.test(locale ?? '');

function readWritten(lower: string, hints: DateHints): ParsedDate | null {
  const today = localDay(hints);
  // Before the time of day, which would read `2h ago` as two o'clock. A text with a year has no relative date.
  const distance = /\d{4}/.test(lower) ? null : readDistance(lower);
  if (distance !== null && !isDays(distance)) return fromNow(distance, today, hints);
  const clock = takeClock(lower);
  if (clock === undefined) return null;
  const rest = clock?.rest ?? lower;
  const days = distance === null ? readDays(rest, today, hints) : null;
  if (days !== null) return build(days, clock === null ? null : momentOf(clock, days[0]), hints);
  const relative = distance ?? readRelativeName(rest.replaceAll(';', ' '));
  if (relative === null) return null;
  if (!isDays(relative)) return clock === null ? fromNow(relative, today, hints) : null;
  const day = addDays(today, relative.count * (relative.unit === 'week' ? 7 : 1));
  return build([day], clock === null ? null : momentOf(clock, day), hints);
}

const isDays = ({ unit }: RelativeDate): boolean => unit === 'day' || unit === 'week';

/** The days the text may name; null when it names none, empty when it names one that does not exist. */
function readDays(rest: string, today: CalendarDay, hints: DateHints): readonly CalendarDay[] | null {
  const isNamedDay = weekdayIn(rest);
  const order = hints.order ?? orderOf(hints.locale);
  const likelier = /^en\b/i.test(hints.locale ?? '') ? 'mdy' : 'dmy';
  const named = readNamed(rest, hints.locale, today.year);
  if (named !== null) {
    const days = daysOf(named, today, isNamedDay);
    if (named.year !== null) return days;
    const distance = (day: CalendarDay): number => Math.abs(startOf(day) - startOf(today));
    return days.toSorted((a, b) => distance(a) - distance(b)).slice(0, 2);
  }
  const days = readNumeric(rest, { order, likelier, thisYear: today.year, isThai: isThaiLocale(hints) });
  if (days === null || days.length < 2) return days;
  const fitting = days.filter(isNamedDay);
  return fitting.length > 0 ? fitting : days;
}

/** Whether a day falls on the day of the week that the text names; true of all when it names none. */
function weekdayIn(rest: string): (day: CalendarDay) => boolean {
  let named: number | null | undefined;
  return (day) => {
    // Most dates are unambiguous without a weekday, so names are looked up only when needed.
    if (named === undefined) named = weekdayNamed(rest);
    return named === null || day.day === null || weekdayOf(day) === named;
  };
}

function weekdayNamed(rest: string): number | null {
  const words = rest.split(/[^\p{L}\p{M}]+/u).filter((word) => word.length > 1);
  const names = weekdayNames();
  for (const word of words.slice(0, 16)) {
    const weekdays = names.get(nameKey(word));
    // An ambiguous name decides nothing.
    if (weekdays?.length === 1) return weekdays[0] ?? null;
  }
  return null;
}

const MAX_ORDERS = 256;
const orders = new Map<string, DateOrder | null>();

/** The order of day, month and year in a locale; null for a bare `en`, which is written both ways. */
function orderOf(locale: string | undefined): DateOrder | null {
  const tag = cleanLocale(locale);
  if (tag === null || tag === 'en') return null;
  const known = orders.get(tag);
  if (known !== undefined) return known;
  if (orders.size >= MAX_ORDERS) orders.clear();
  const format = new Intl.DateTimeFormat(`${tag}-u-ca-gregory-nu-latn`, {
    dateStyle: 'short',
    timeZone: 'UTC',
  });
  const letters = format
    .formatToParts(0)
    .map(({ type }) => (type === 'day' || type === 'month' || type === 'year' ? type[0] : ''))
    .join('');
  const order = letters === 'dmy' || letters === 'mdy' || letters === 'ymd' ? letters : null;
  orders.set(tag, order);
  return order;
}

function localDay({ fetchedAt, timeZone }: DateHints): CalendarDay {
  const offset = timeZone === undefined ? 0 : (offsetAt(timeZone, fetchedAt) ?? 0);
  return dayAt(fetchedAt + offset * 60_000);
}

function fromNow({ unit, count }: RelativeDate, today: CalendarDay, hints: DateHints): ParsedDate | null {
  switch (unit) {
    case 'second':
      return atInstant(hints.fetchedAt + count * 1_000, 'second', hints.timeZone);
    case 'minute':
    case 'hour':
      return atInstant(
        hints.fetchedAt + count * (unit === 'hour' ? 3_600_000 : 60_000),
        'minute',
        hints.timeZone,
      );
    case 'year':
      return build([{ year: today.year + count, month: null, day: null }], null, hints);
    default:
      return build([addMonths(today, unit === 'quarter' ? count * 3 : count)], null, hints);
  }
}

function atInstant(
  ms: number,
  precision: 'minute' | 'second',
  timeZone: string | undefined,
): ParsedDate | null {
  const offset = timeZone === undefined ? 0 : (offsetAt(timeZone, ms) ?? 0);
  const local = new Date(ms + offset * 60_000);
  if (Number.isNaN(local.getTime())) return null;
  const day = dayAt(local.getTime());
  if (!isRealDay(day)) return null;
  const second = precision === 'second' ? local.getUTCSeconds() : null;
  const iso = `${isoDay(day)}${isoClock(local.getUTCHours(), local.getUTCMinutes(), second)}${isoOffset(offset)}`;
  return { iso, precision, hasZone: true, isAmbiguous: false, readings: [] };
}

interface Moment {
  readonly hour: number;
  readonly minute: number;
  readonly second: number | null;
  /** Possible offsets of the time; none when unknown. */
  readonly offsets: readonly number[];
}

function momentOf({ hour, minute, second, zone }: Clock, day: CalendarDay | undefined): Moment {
  const local = day === undefined ? 0 : startOf(day) + (hour * 60 + minute) * 60_000;
  const named = zone?.name == null ? null : offsetOfLocal(zone.name, local);
  return { hour, minute, second, offsets: named === null ? (zone?.offsets ?? []) : [named] };
}

function build(
  days: readonly CalendarDay[],
  moment: Moment | null,
  { timeZone }: DateHints,
): ParsedDate | null {
  const real = days.filter(isRealDay);
  const [first] = real;
  if (first === undefined) return null;
  const hasTime = moment !== null && first.day !== null;
  const texts = hasTime ? real.flatMap((day) => withTime(day, moment, timeZone)) : real.map(isoDay);
  const readings = [...new Set(texts)];
  const [iso = ''] = readings;
  const precision = hasTime ? (moment.second === null ? 'minute' : 'second') : precisionOf(first);
  return {
    iso,
    precision,
    hasZone: hasTime && /(?:Z|[+-]\d\d:\d\d)$/.test(iso),
    isAmbiguous: readings.length > 1,
    readings: readings.length > 1 ? readings : [],
  };
}

const precisionOf = ({ month, day }: CalendarDay): DatePrecision =>
  month === null ? 'year' : day === null ? 'month' : 'day';

function withTime(day: CalendarDay, moment: Moment, timeZone: string | undefined): readonly string[] {
  const { hour, minute, second } = moment;
  // The end of a day is the beginning of the next.
  const real = hour === 24 ? addDays(day, 1) : day;
  const clock = isoClock(hour % 24, minute, second);
  const local = startOf(real) + ((hour % 24) * 60 + minute) * 60_000;
  const given = timeZone === undefined ? null : offsetOfLocal(timeZone, local);
  const offsets = moment.offsets.length > 0 ? moment.offsets : given === null ? [] : [given];
  if (offsets.length === 0) return [isoDay(real) + clock];
  return offsets.map((offset) => isoDay(real) + clock + isoOffset(offset));
}

/** The moment of a date whose zone is known, as the page states it: its offset is kept, and with it the day. Null without a zone. */
export function statedMoment({ iso, precision, hasZone }: ParsedDate): string | null {
  const time = hasZone ? Date.parse(iso) : Number.NaN;
  if (Number.isNaN(time)) return null;
  if (iso.endsWith('Z')) return new Date(time).toISOString();
  return precision === 'minute' ? iso.replace(/(?=[+-]\d\d:\d\d$)/, ':00') : iso;
}
