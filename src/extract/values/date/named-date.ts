import { cleanLocale } from '../number.ts';
import { fold, isLetter, lowerInPlace, withoutAccents } from '../text.ts';
import { type CalendarDay, fullYear, isRealDay } from './calendar.ts';

/** Languages whose names are known, the most common on the web first: the order decides when languages disagree. */
export const LANGUAGES =
  'en en-GB en-AU de de-AT fr fr-CA es es-MX it pt pt-PT nl pl cs sk sl hr bs sr sr-Latn bg mk ru uk be tr az el hu ro ar ar-LB ar-MA ar-DZ ar-TN he hi bn mr ta te th vi id ms fi et lv lt sv da nb nn is ca gl eu sq ka hy kk fa ur af sw fil cy ga lb ja zh zh-Hant ko'.split(
    ' ',
  );

/** Common spellings that Intl does not have. */
const MORE_MONTHS: Readonly<Record<string, number>> = {
  sept: 9,
  maerz: 3,
  mrz: 3,
  setiembre: 9,
  janv: 1,
  févr: 2,
  avr: 4,
  juil: 7,
  juin: 6,
  déc: 12,
  ene: 1,
  marraskuussa: 11,
};

/** Months (1–12) a name may stand for, likeliest first. More than one only where languages differ. */
type DateNameTable = ReadonlyMap<string, readonly number[]>;

const NOT_LETTERS = /[^\p{L}\p{M} ]+/gu;

/** A name as it is looked up: lower case, letters and spaces only. */
export function nameKey(name: string): string {
  return lowerInPlace(fold(name, 100)).replace(NOT_LETTERS, '').trim();
}

const plainKey = (key: string): string =>
  withoutAccents(key).replaceAll('ı', 'i').replaceAll('ł', 'l').replaceAll('ø', 'o').replaceAll('đ', 'd');

function add(table: Map<string, number[]>, name: string, value: number): void {
  const key = nameKey(name);
  if (key === '' || /\d/.test(name)) return;
  for (const each of new Set([key, plainKey(key)])) {
    const values = table.get(each);
    if (values === undefined) table.set(each, [value]);
    else if (!values.includes(value)) values.push(value);
  }
}

function namesOf(
  locale: string,
  options: Intl.DateTimeFormatOptions,
  type: 'month' | 'weekday',
  times: readonly number[],
): string[] {
  const format = new Intl.DateTimeFormat(`${locale}-u-ca-gregory-nu-latn`, { ...options, timeZone: 'UTC' });
  return times.map((ms) => format.formatToParts(ms).find((part) => part.type === type)?.value ?? '');
}

const MONTHS = Array.from({ length: 12 }, (_, index) => Date.UTC(2026, index, 15));
/** The first of February 2026 is a Sunday. */
const WEEK = Array.from({ length: 7 }, (_, index) => Date.UTC(2026, 1, 1 + index));

function addMonthsOf(table: Map<string, number[]>, locale: string): void {
  for (const month of ['long', 'short'] as const) {
    // Many languages put the name in another case beside a day.
    for (const options of [{ month }, { month, day: 'numeric' }] as const) {
      for (const [index, name] of namesOf(locale, options, 'month', MONTHS).entries())
        add(table, name, index + 1);
    }
  }
}

function addWeekdaysOf(table: Map<string, number[]>, locale: string): void {
  for (const weekday of ['long', 'short'] as const) {
    for (const [index, name] of namesOf(locale, { weekday }, 'weekday', WEEK).entries())
      add(table, name, index);
  }
}

let months: DateNameTable | null = null;
let weekdays: DateNameTable | null = null;

/** Names of months in all languages; made when first asked for. */
function monthNames(): DateNameTable {
  if (months !== null) return months;
  const table = new Map<string, number[]>();
  for (const language of LANGUAGES) addMonthsOf(table, language);
  for (const [name, month] of Object.entries(MORE_MONTHS)) add(table, name, month);
  months = table;
  return months;
}

/** Names of the days of the week, 0 for Sunday. */
export function weekdayNames(): DateNameTable {
  if (weekdays !== null) return weekdays;
  const table = new Map<string, number[]>();
  for (const language of LANGUAGES) addWeekdaysOf(table, language);
  weekdays = table;
  return weekdays;
}

const MAX_TABLES = 64;
const tables = new Map<string, DateNameTable>();

/** Names of months in one language. */
function monthNamesOf(locale: string | undefined): DateNameTable | null {
  const tag = cleanLocale(locale);
  if (tag === null) return null;
  const known = tables.get(tag);
  if (known !== undefined) return known;
  if (tables.size >= MAX_TABLES) tables.clear();
  const table = new Map<string, number[]>();
  addMonthsOf(table, tag);
  tables.set(tag, table);
  return table;
}

/** The months a word names, in the given language if it does there. */
function monthsNamed(key: string, locale: string | undefined): readonly number[] {
  // Hebrew attaches its `in` to the name.
  const names = [key, ...(key.startsWith('ב') ? [key.slice(1)] : []), plainKey(key)];
  // Building the names of all languages is slow, and mostly the given one is enough.
  for (const tableOf of [() => monthNamesOf(locale), monthNames]) {
    const table = tableOf();
    for (const name of names) {
      const found = table?.get(name);
      if (found !== undefined) return found;
    }
  }
  return [];
}

type Item =
  | { readonly kind: 'number'; readonly value: number; readonly length: number }
  | { readonly kind: 'month'; readonly months: readonly number[]; readonly isUsual: boolean }
  | { readonly kind: 'dash' }
  | { readonly kind: 'break' };

/** A date with the name of a month. `year` is null when the text has none. */
interface NamedDate {
  readonly year: number | null;
  /** More than one when languages disagree about the name. */
  readonly months: readonly number[];
  readonly day: number | null;
}

const MAX_ITEMS = 64;
/** Words between the parts of a date: `12 de noviembre de 2026`, `2026 m. lapkričio 12 d.` Longer words end the date. */
const MAX_LINK_CHARS = 3;
const LINKS = new Set([
  'gada',
  'ngày',
  'ngay',
  'năm',
  'roku',
  'года',
  'року',
  'god',
  'oren',
  'dzień',
  'день',
  'ročník',
]);
const ORDINAL = /(?:st|nd|rd|th|er|re|ère|ème|e|o|a|-?го|-?й|-?е|-én|-án|-ig|-ától|-étől)(?![\p{L}\d])/uy;
const VIETNAMESE_MONTH = /(?:tháng|thang|thg) ?(\d{1,2})(?!\d)/y;

function itemsOf(lower: string, locale: string | undefined): readonly Item[] {
  const items: Item[] = [];
  let at = 0;
  while (at < lower.length && items.length < MAX_ITEMS) {
    const char = lower[at] ?? '';
    if (char >= '0' && char <= '9') {
      let end = at;
      while (end < lower.length && (lower[end] ?? '') >= '0' && (lower[end] ?? '') <= '9') end++;
      items.push({ kind: 'number', value: Number(lower.slice(at, Math.min(end, at + 9))), length: end - at });
      ORDINAL.lastIndex = end;
      at = end + (ORDINAL.exec(lower)?.[0].length ?? 0);
    } else if (isLetter(char)) {
      at = takeWord(lower, at, locale, items);
    } else {
      if ('-–—'.includes(char)) items.push({ kind: 'dash' });
      else if (';|'.includes(char)) items.push({ kind: 'break' });
      at++;
    }
  }
  return items;
}

function wordEnd(lower: string, start: number): number {
  let end = start;
  // Thai shortens names with points inside: พ.ย.
  while (end < lower.length && (isLetter(lower[end]) || (lower[end] === '.' && isThai(lower[end - 1]))))
    end++;
  return end;
}

const isThai = (char: string | undefined): boolean =>
  char !== undefined && char >= '\u0e00' && char <= '\u0e7f';

function takeWord(lower: string, start: number, locale: string | undefined, items: Item[]): number {
  VIETNAMESE_MONTH.lastIndex = start;
  const numbered = VIETNAMESE_MONTH.exec(lower);
  if (numbered !== null) {
    items.push({ kind: 'month', months: [Number(numbered[1])], isUsual: true });
    return VIETNAMESE_MONTH.lastIndex;
  }
  // Some names have two or three words; the longest that is a name counts.
  const ends = [wordEnd(lower, start)];
  for (let words = 1; words < 3; words++) {
    const last = ends.at(-1) ?? start;
    const next = wordEnd(lower, last + 1);
    if (lower[last] !== ' ' || next === last + 1) break;
    ends.push(next);
  }
  for (const end of ends.toReversed()) {
    const key = nameKey(lower.slice(start, end));
    const months = monthsNamed(key, locale);
    if (months.length === 0) continue;
    items.push({ kind: 'month', months, isUsual: monthNamesOf(locale ?? 'en')?.has(key) ?? false });
    return end;
  }
  const end = ends[0] ?? start + 1;
  const word = lower.slice(start, end);
  if (word.length > MAX_LINK_CHARS && !LINKS.has(word) && !isThai(word[0])) items.push({ kind: 'break' });
  return Math.max(end, start + 1);
}

/** The fullest date with a month's name, the first of equals; null when there is none. */
export function readNamed(lower: string, locale: string | undefined, thisYear: number): NamedDate | null {
  const items = itemsOf(lower, locale);
  let best: NamedDate | null = null;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item?.kind !== 'month') continue;
    const found = around(items, index, item.months, thisYear);
    // Without a year, among words we do not know, a name of another language is no month: `iPhone 12 Pro`.
    if (found?.year === null && !item.isUsual && items.some(({ kind }) => kind === 'break')) continue;
    if (found !== null && fullness(found) > (best === null ? 0 : fullness(best))) best = found;
  }
  return best;
}

const fullness = ({ year, day }: NamedDate): number => (year === null ? 0 : 2) + (day === null ? 0 : 2);

interface NumberItem {
  readonly value: number;
  readonly length: number;
}

function around(
  items: readonly Item[],
  index: number,
  months: readonly number[],
  thisYear: number,
): NamedDate | null {
  const before = numbersBefore(items, index);
  const after = numbersAfter(items, index);
  const [next, second] = after;
  const [previous, beforePrevious] = before;
  if (previous?.length === 4 && isDay(next))
    return { year: previous.value, months, day: next?.value ?? null };
  if (isDay(previous)) {
    // In a range such as `12 – 15 November` the start is the number before.
    const start = isDay(beforePrevious) ? beforePrevious : previous;
    const year = yearOf(next, thisYear) ?? yearAhead(items, index) ?? laterYear(items, index, months);
    return { year, months, day: start?.value ?? null };
  }
  if (isDay(next)) {
    const year = yearOf(second, thisYear) ?? laterYear(items, index, months);
    return { year, months, day: next?.value ?? null };
  }
  const year = [next, previous].find((number) => number?.length === 4);
  return year === undefined ? null : { year: year.value, months, day: null };
}

const isDay = (number: NumberItem | undefined): boolean =>
  number !== undefined && number.length <= 2 && number.value >= 1;

function yearOf(number: NumberItem | undefined, thisYear: number): number | null {
  if (number?.length === 4) return number.value;
  return number?.length === 2 ? fullYear(number.value, thisYear) : null;
}

/** The number right before the month and, over a dash, the one that begins a range of days. */
function numbersBefore(items: readonly Item[], index: number): readonly NumberItem[] {
  let at = index - 1;
  if (items[at]?.kind === 'dash') at--;
  const last = items[at];
  if (last?.kind !== 'number') return [];
  const first = items[at - 2];
  return items[at - 1]?.kind === 'dash' && first?.kind === 'number' ? [last, first] : [last];
}

/** Up to two numbers behind the month; of a range of days only the first, and the year. */
function numbersAfter(items: readonly Item[], index: number): readonly NumberItem[] {
  let at = index + 1;
  if (items[at]?.kind === 'dash' && items[at + 1]?.kind === 'number') at++;
  const first = items[at];
  if (first?.kind !== 'number') return [];
  let next = at + 1;
  const inner = items[next + 1];
  const isRange = items[next]?.kind === 'dash' && inner?.kind === 'number' && inner.length <= 2;
  if (isRange && items[next + 2]?.kind === 'number') next += 2;
  else if (items[next]?.kind === 'break' && items[next + 1]?.kind === 'number') next++;
  const second = items[next];
  return second?.kind === 'number' ? [first, second] : [first];
}

/** Latvian puts the year before the day: 2026. gada 12. novembris. */
function yearAhead(items: readonly Item[], index: number): number | null {
  const item = items[index - 2];
  return item?.kind === 'number' && item.length === 4 ? item.value : null;
}

/** The year that only the end of a range names: 12 Nov – 3 Dec 2026. */
function laterYear(items: readonly Item[], index: number, months: readonly number[]): number | null {
  const rest = items.slice(index + 1, index + 8);
  const dash = rest.findIndex(({ kind }) => kind === 'dash');
  const end = dash === -1 ? undefined : rest.slice(dash).find((item) => item.kind === 'month');
  const year = rest.slice(dash + 1).find((item) => item.kind === 'number' && item.length === 4);
  if (dash === -1 || end?.kind !== 'month' || year?.kind !== 'number') return null;
  return (months[0] ?? 1) > (end.months[0] ?? 12) ? year.value - 1 : year.value;
}

/** The days a named date may be; without a year, those nearest to `near` come first. */
export function daysOf(
  { year, months, day }: NamedDate,
  near: CalendarDay,
  weekday: (day: CalendarDay) => boolean,
) {
  const years = year === null ? [near.year, near.year - 1, near.year + 1] : [year];
  const days = months
    .flatMap((month) => years.map((each): CalendarDay => ({ year: each, month, day })))
    .filter(isRealDay);
  if (days.length < 2) return days;
  const fitting = days.filter(weekday);
  return fitting.length > 0 ? fitting : days;
}
