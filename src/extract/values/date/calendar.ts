/** A day of the Gregorian calendar; unknown parts are null. A day needs its month. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number | null;
  readonly day: number | null;
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_MS = 86_400_000;

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

function daysIn(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);
}

/** True for days that exist; false for 31 February and the year 0. */
export function isRealDay({ year, month, day }: CalendarDay): boolean {
  if (!Number.isInteger(year) || year < 1 || year > 9999) return false;
  if (month === null) return day === null;
  if (month < 1 || month > 12) return false;
  return day === null || (day >= 1 && day <= daysIn(year, month));
}

/** Milliseconds at which the day begins in UTC. `Date.UTC` would take the year 26 for 1926. */
export function startOf({ year, month, day }: CalendarDay): number {
  const date = new Date(0);
  date.setUTCFullYear(year, (month ?? 1) - 1, day ?? 1);
  return date.getTime();
}

export function dayAt(ms: number): CalendarDay {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

export const addDays = (day: CalendarDay, count: number): CalendarDay => dayAt(startOf(day) + count * DAY_MS);

/** The month `count` months later, without a day. */
export function addMonths({ year, month }: CalendarDay, count: number): CalendarDay {
  const index = year * 12 + (month ?? 1) - 1 + count;
  return { year: Math.floor(index / 12), month: (((index % 12) + 12) % 12) + 1, day: null };
}

/** Returns the weekday as a number from 0, which is Sunday. */
export const weekdayOf = (day: CalendarDay): number => new Date(startOf(day)).getUTCDay();

export function dayOfYear(year: number, ordinal: number): CalendarDay | null {
  if (ordinal < 1 || ordinal > (isLeap(year) ? 366 : 365)) return null;
  return addDays({ year, month: 1, day: 1 }, ordinal - 1);
}

/** ISO 8601: week 1 holds the fourth of January; `weekday` counts from Monday, 1. */
export function dayOfWeek(year: number, week: number, weekday: number): CalendarDay | null {
  if (week < 1 || week > 53 || weekday < 1 || weekday > 7) return null;
  const fourth = { year, month: 1, day: 4 };
  const day = addDays(fourth, -((weekdayOf(fourth) + 6) % 7) + (week - 1) * 7 + weekday - 1);
  // A 53rd week that the year does not have is the first one of the next.
  const thursday = addDays(day, 4 - weekday);
  return thursday.year === year ? day : null;
}

/** Two digits mean the nearest year, at most twenty years ahead. */
export function fullYear(twoDigits: number, thisYear: number): number {
  const century = Math.floor(thisYear / 100) * 100;
  const year = century + twoDigits;
  return year > thisYear + 20 ? year - 100 : year;
}

/** Two digits of a Thai year are Buddhist era: 69 is 2569, which is 2026. */
export const fullBuddhistYear = (twoDigits: number): number => 2500 + twoDigits - BUDDHIST_LEAD;

/** Difference between Buddhist and Gregorian years. */
export const BUDDHIST_LEAD = 543;

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

export function isoDay({ year, month, day }: CalendarDay): string {
  const parts = [pad(year, 4), ...(month === null ? [] : [pad(month)]), ...(day === null ? [] : [pad(day)])];
  return parts.join('-');
}

export function isoOffset(minutes: number): string {
  if (minutes === 0) return 'Z';
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

export const isoClock = (hour: number, minute: number, second: number | null): string =>
  `T${pad(hour)}:${pad(minute)}${second === null ? '' : `:${pad(second)}`}`;

/** First years of the Japanese eras. */
const ERAS: Readonly<Record<string, number>> = {
  明治: 1868,
  大正: 1912,
  昭和: 1926,
  平成: 1989,
  令和: 2019,
  m: 1868,
  t: 1912,
  s: 1926,
  h: 1989,
  r: 2019,
};
const ERA = /(明治|大正|昭和|平成|令和) ?(元|\d{1,2}) ?年/g;
const ERA_LETTER = /(?<![\p{L}\d])([mtshr]) ?(\d{1,2})([./-])(\d{1,2})\3(\d{1,2})(?!\d)/gu;
/** The years of the Republic of China begin in 1912. */
const REPUBLIC = /(?:中華民國|中华民国|民國|民国) ?(元|\d{1,3}) ?年/g;
const HAN_NUMBER = /[〇零一二三四五六七八九十廿卅]{1,6}(?=[年月日号號])/g;
const HAN_DIGITS = '〇一二三四五六七八九';
const BUDDHIST = /(?:พ\.?ศ\.?|b\.e\.|\bbe) ?(\d{4})/g;
const THAI_YEAR = /(?<!\d)2[456]\d{2}(?!\d)/g;

function hanNumber(text: string): string {
  const plain = text.replaceAll('零', '〇').replaceAll('廿', '二十').replaceAll('卅', '三十');
  const ten = plain.indexOf('十');
  const digit = (char: string | undefined): number => HAN_DIGITS.indexOf(char ?? '');
  if (ten === -1) return [...plain].map((char) => digit(char)).join('');
  const tens = ten === 0 ? 1 : digit(plain[ten - 1]);
  const ones = ten === plain.length - 1 ? 0 : digit(plain[ten + 1]);
  return String(tens * 10 + ones);
}

const yearOf = (first: number, count: string): number => first + (count === '元' ? 1 : Number(count)) - 1;

/**
 * Converts years of Japanese eras, of the Republic of China and of the Buddhist era, and numbers in Chinese characters.
 * Buddhist years are recognised by their label, or in Thai text when they would lie in the far future otherwise.
 */
export function withCommonYears(lower: string, isThai: boolean): string {
  const common = lower
    .replace(HAN_NUMBER, hanNumber)
    .replace(ERA, (_, era: string, count: string) => `${yearOf(ERAS[era] ?? 1, count)}年`)
    .replace(REPUBLIC, (_, count: string) => `${yearOf(1912, count)}年`)
    .replace(
      ERA_LETTER,
      (_, era: string, count: string, _sign: string, month: string, day: string) =>
        `${yearOf(ERAS[era] ?? 1, count)}-${month}-${day}`,
    )
    .replace(BUDDHIST, (_, year: string) => ` ${Number(year) - BUDDHIST_LEAD}`);
  return isThai || /\p{Script=Thai}/u.test(common)
    ? common.replace(THAI_YEAR, (year) => String(Number(year) - BUDDHIST_LEAD))
    : common;
}
