import { cleanLocale } from '../number.ts';
import { fold, lowerInPlace, withoutAccents } from '../text.ts';

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
export type DateNameTable = ReadonlyMap<string, readonly number[]>;

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
    // With a day, many languages put the name in another case.
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
export function monthNames(): DateNameTable {
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
export function monthNamesOf(locale: string | undefined): DateNameTable | null {
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
export function monthsNamed(key: string, locale: string | undefined): readonly number[] {
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
