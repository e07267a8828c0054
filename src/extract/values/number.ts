import { ownString } from '../../lib/own-memory.ts';
import { FACTOR_WORDS } from './price/price-words.ts';
import { fold, lowerInPlace } from './text.ts';

/** One way to read a written number. */
export interface NumeralReading {
  readonly value: number;
  readonly decimal: '.' | ',' | null;
  readonly group: '.' | ',' | ' ' | "'" | null;
  readonly decimals: number;
}

/** A number as written in a text; two readings when its separator may be for thousands or decimals. */
export interface Numeral {
  readonly start: number;
  readonly end: number;
  /** Never empty. With two, the one that takes the sign for a thousands separator comes first. */
  readonly readings: readonly [NumeralReading, ...NumeralReading[]];
  /** Digits only, without any sign. */
  readonly isPlain: boolean;
}

type Sign = '.' | ',' | ' ' | "'" | 'decimal';
interface Part {
  readonly sign: Sign;
  readonly digits: string;
}

/** More digits than a double holds exactly are no quantity. */
const MAX_DIGITS = 15;
/** Stands for unambiguous decimal separators: the Arabic one, a middle dot, raised cents. */
export const SURE_DECIMAL = '\u066b';
const SIGNS: ReadonlyMap<string, Sign> = new Map([
  ['.', '.'],
  [',', ','],
  ['\u060c', ','],
  [' ', ' '],
  ["'", "'"],
  ['\u066c', "'"],
  ['_', "'"],
  [SURE_DECIMAL, 'decimal'],
  ['\u00b7', 'decimal'],
]);

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function digitsEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

/** The number whose first digit stands at `start`, or null for digits of something else (a date, an address …). */
export function numeralAt(text: string, start: number): Numeral | null {
  let end = digitsEnd(text, start);
  if (end === start) return null;
  const first = text.slice(start, end);
  const parts: Part[] = [];
  for (;;) {
    const sign = SIGNS.get(text[end] ?? '');
    if (sign === undefined) break;
    const next = digitsEnd(text, end + 1);
    const length = next - end - 1;
    if (length === 0) break;
    const digits = text.slice(end + 1, next);
    if (sign === ' ' || sign === "'") {
      const isOnly = parts.every((part) => part.sign === sign);
      if (length === 3 && isOnly && first.length <= 3) parts.push({ sign, digits });
      // 19'99 is how prices are chalked on boards in Spain.
      else if (length === 2 && sign === "'" && parts.length === 0) parts.push({ sign: 'decimal', digits });
      else break;
    } else parts.push({ sign, digits });
    end = next;
  }
  const readings = read(first, parts);
  const [best, ...others] = readings;
  if (best === undefined) return null;
  return { start, end, readings: [best, ...others], isPlain: parts.length === 0 };
}

function read(first: string, parts: readonly Part[]): NumeralReading[] {
  const last = parts.at(-1);
  if (last === undefined) return reading(first, '', null, null);
  const before = parts.slice(0, -1);
  const isUniform = before.every(({ sign }) => sign === last.sign);
  if (last.sign === ' ' || last.sign === "'") {
    return isUniform ? reading(joined(first, parts), '', null, last.sign) : [];
  }
  if (last.sign === 'decimal') return asDecimal(first, before, last, '.');
  if (before.length > 0 && isUniform) {
    const isGrouped = areGroups(first, parts) || areIndianGroups(first, parts);
    return isGrouped ? reading(joined(first, parts), '', null, last.sign) : [];
  }
  if (before.length > 0) return asDecimal(first, before, last, last.sign);
  const decimal = asDecimal(first, [], last, last.sign);
  const canGroup = last.digits.length === 3 && first.length <= 3 && !first.startsWith('0');
  return canGroup ? [...reading(joined(first, parts), '', null, last.sign), ...decimal] : decimal;
}

function asDecimal(first: string, groups: readonly Part[], last: Part, decimal: '.' | ','): NumeralReading[] {
  const sign = groups[0]?.sign ?? null;
  if (sign === 'decimal' || groups.some((part) => part.sign !== sign)) return [];
  if (sign !== null && !areGroups(first, groups) && !(sign === ',' && areIndianGroups(first, groups)))
    return [];
  return reading(joined(first, groups), last.digits, decimal, sign);
}

function areGroups(first: string, parts: readonly Part[]): boolean {
  return first.length <= 3 && parts.every(({ digits }) => digits.length === 3);
}

/** 12,34,567: three digits at the end, two in all groups before. */
function areIndianGroups(first: string, parts: readonly Part[]): boolean {
  return (
    first.length <= 2 &&
    parts.every(({ digits }, index) => digits.length === (index === parts.length - 1 ? 3 : 2))
  );
}

const joined = (first: string, parts: readonly Part[]): string =>
  first + parts.map(({ digits }) => digits).join('');

function reading(
  whole: string,
  fraction: string,
  decimal: '.' | ',' | null,
  group: NumeralReading['group'],
): NumeralReading[] {
  if (whole.length + fraction.length > MAX_DIGITS) return [];
  const value = Number(fraction === '' ? whole : `${whole}.${fraction}`);
  return [{ value, decimal, group, decimals: fraction.length }];
}

/** The number format of a locale. */
export interface NumberFormat {
  readonly decimal: '.' | ',';
}

/** Formats and regions of locales seen so far; a crawl meets few, and hostile ones must not fill the memory. */
const MAX_CACHED = 256;
const formats = new Map<string, NumberFormat | null>();
const regions = new Map<string, string | null>();

function remember<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const known = cache.get(key);
  if (known !== undefined || cache.has(key)) return known as T;
  if (cache.size >= MAX_CACHED) cache.clear();
  const made = make();
  cache.set(ownString(key), made);
  return made;
}

function localeOf(tag: string): Intl.Locale | null {
  if (tag.length > 64) return null;
  try {
    return new Intl.Locale(tag.trim().replaceAll('_', '-'));
  } catch {
    return null;
  }
}

/** Returns a language tag in the form that `Intl` takes, and null for text that is no language tag. */
export function cleanLocale(tag: string | undefined): string | null {
  return tag === undefined ? null : (localeOf(tag)?.baseName ?? null);
}

/** ISO 3166 code of the region a locale names; `isGuessed` takes the likeliest region of a bare language. */
export function regionOf(tag: string | undefined, isGuessed = false): string | null {
  if (tag === undefined) return null;
  return remember(regions, `${isGuessed}${tag}`, () => {
    const locale = localeOf(tag);
    return (isGuessed ? locale?.maximize().region : locale?.region) ?? null;
  });
}

/** The decimal sign of a locale, or of the main language of a country; null when neither is known. */
export function numberFormatOf(locale: string | undefined, country: string | undefined): NumberFormat | null {
  const place = country !== undefined && /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : null;
  let tag = cleanLocale(locale);
  // A language with the country says more than either: German is written with points in Switzerland.
  if (tag !== null && place !== null && !tag.includes('-')) tag = `${tag}-${place}`;
  if (tag === null && place !== null) tag = localeOf(`und-${place}`)?.maximize().baseName ?? null;
  const known = tag;
  if (known === null) return null;
  return remember(formats, known, () => {
    const parts = new Intl.NumberFormat(`${known}-u-nu-latn`).formatToParts(1.5);
    const decimal = parts.find(({ type }) => type === 'decimal')?.value;
    return decimal === ',' || decimal === '.' ? { decimal } : null;
  });
}

interface ParsedNumber {
  /** The likeliest reading of the text. */
  readonly value: number;
  readonly isAmbiguous: boolean;
  /** All readings, likeliest first; empty when there is only one. */
  readonly readings: readonly number[];
}

interface NumberHints {
  readonly locale?: string | undefined;
  readonly country?: string | undefined;
}

const MAX_CHARS = 200;
const MACHINE = /^[+-]?(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})(?:e[+-]?\d{1,2})?$/i;

/**
 * The first number of a text, in the notation of any place; `1.5 million` and `12k` are multiplied out. A bare `1.234`
 * may be a thousand or a little more than one: the locale settles it, else both are readings, the point first taken
 * as programs write it.
 */
export function parseNumber(text: string, { locale, country }: NumberHints = {}): ParsedNumber | null {
  const folded = fold(text.replace(/[’‘´]/g, "'"), MAX_CHARS);
  const format = numberFormatOf(locale, country);
  if (MACHINE.test(folded) && (format === null || !/^[+-]?\d{1,3}\.\d{3}$/.test(folded))) {
    const value = Number(folded);
    if (Number.isFinite(value) && !/^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(folded)) return single(value);
  }
  const start = folded.search(/\d/);
  if (start === -1) return null;
  const numeral = numeralAt(folded, start);
  if (numeral === null) return null;
  const sign = /(?:^|[\s(])[-−]$/.test(folded.slice(0, start)) ? -1 : 1;
  const [grouped, split] = numeral.readings;
  const chosen =
    split === undefined
      ? [grouped]
      : format !== null
        ? [format.decimal === split.decimal ? split : grouped]
        : split.decimal === '.'
          ? [split, grouped]
          : [grouped, split];
  const lower = lowerInPlace(folded);
  const at = lower[numeral.end] === ' ' ? numeral.end + 1 : numeral.end;
  const factors = FACTOR_WORDS.at(lower, at)?.value ?? [1];
  const values = chosen.flatMap(({ value }) =>
    factors.map((factor) => Number((sign * value * factor).toPrecision(15))),
  );
  const readings = [...new Set(values)];
  const [value = 0] = readings;
  return readings.length > 1 ? { value, isAmbiguous: true, readings } : single(value);
}

const single = (value: number): ParsedNumber => ({ value, isAmbiguous: false, readings: [] });
