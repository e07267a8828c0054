import { fold, lowerInPlace } from './fold.ts';
import { numberFormatOf } from './number-format.ts';
import { numeralAt } from './numeral.ts';
import { FACTOR_WORDS } from './price/price-words.ts';

export interface ParsedNumber {
  /** The likeliest reading of the text. */
  readonly value: number;
  readonly isAmbiguous: boolean;
  /** All readings, likeliest first; empty when there is only one. */
  readonly readings: readonly number[];
}

export interface NumberHints {
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
