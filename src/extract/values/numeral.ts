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
