import { type NumberFormat, type NumeralReading, numberFormatOf, regionOf } from '../number.ts';
import { CURRENCIES, currencyOf } from './currencies.ts';
import type { Quote } from './price-quotes.ts';

/** What the caller knows about the origin of a price. */
export interface PriceHints {
  /** ISO 4217 code the price is probably in; what the text names for sure goes before it. */
  readonly currency?: string | undefined;
  /** Language tag of the page. A bare `en` says nothing about where, so it does not settle what `$` means. */
  readonly locale?: string | undefined;
  /** ISO 3166 code of where the shop sells. */
  readonly country?: string | undefined;
}

/** Context derived from the hints. */
export interface PriceContext {
  readonly format: NumberFormat | null;
  readonly likelyCurrencies: readonly string[];
  readonly given: string | null;
}

/** Units whose prices have tenths of a cent. */
const FINE_UNITS = new Set(['l', 'gal', 'kWh', 'm3']);

export function contextOf({ currency, locale, country }: PriceHints): PriceContext {
  const given = currency?.trim().toUpperCase() ?? '';
  const region = regionOf(locale, locale !== undefined && !/^en$/i.test(locale));
  const places = [country, region].filter((place) => typeof place === 'string');
  const known = CURRENCIES.has(given) ? given : null;
  return {
    format: numberFormatOf(locale, country),
    given: known,
    likelyCurrencies: [known, ...places.map(currencyOf)].filter((code) => code !== null),
  };
}

/** Currencies a quote may be in, likeliest first; one when it is settled, none when nothing names any. */
export function currenciesOf({ spellings, numeral }: Quote, context: PriceContext): readonly string[] {
  if (spellings.length === 0) return context.given === null ? [] : [context.given];
  let codes = spellings[0]?.codes ?? [];
  for (const spelling of spellings) {
    const shared = codes.filter((code) => spelling.codes.includes(code));
    if (shared.length > 0) codes = shared;
  }
  if (codes.length <= 1) return codes;
  const hinted = context.likelyCurrencies.find((code) => codes.includes(code));
  if (hinted !== undefined) return [hinted];
  if (spellings.some(({ isSettled }) => isSettled)) return codes.slice(0, 1);
  const [reading] = numeral.readings;
  if (numeral.readings.length > 1 && codes.some((code) => groupsWith(code, reading.group))) {
    const primary = codes[0] ?? '';
    return groupsWith(primary, reading.group)
      ? codes.filter((code) => groupsWith(code, reading.group))
      : codes;
  }
  const fitting = codes.filter((code) => fits(code, reading));
  return fitting.length > 0 ? fitting : codes;
}

const groupsWith = (code: string, sign: string | null): boolean =>
  sign !== null && (CURRENCIES.get(code)?.groups.includes(sign) ?? false);

/** True when numbers are written this way where the currency is used. */
function fits(code: string, { decimal, group, decimals }: NumeralReading): boolean {
  const currency = CURRENCIES.get(code);
  if (currency === undefined) return false;
  if (decimals > 0 && currency.minorDigits === 0) return false;
  if (decimal !== null && !currency.decimals.includes(decimal)) return false;
  return group === null || currency.groups.includes(group);
}

/** The amounts a quote may mean, likeliest first. `decimalSeen` is the decimal sign of another number of the text. */
export function amountsOf(
  quote: Quote,
  currencies: readonly string[],
  { format }: PriceContext,
  decimalSeen: string | null,
): readonly number[] {
  const [first] = quote.numeral.readings;
  if (quote.hasLooseCents)
    return [first.value + quote.cents, first.value * 100 + quote.cents * 100].map(tidy);
  const readings = readingsOf(quote, currencies[0], format?.decimal ?? decimalSeen);
  const unit = quote.spellings.find((spelling) => spelling.unit !== 1)?.unit ?? 1;
  const sign = quote.isNegative ? -1 : 1;
  const amounts = readings.flatMap(({ value }) =>
    quote.factors.map((factor) => tidy(sign * ((value + quote.cents) * factor + quote.rest) * unit)),
  );
  return [...new Set(amounts)];
}

function readingsOf(
  { numeral, per }: Quote,
  code: string | undefined,
  decimal: string | null,
): readonly NumeralReading[] {
  const [grouped, split] = numeral.readings;
  if (split === undefined) return numeral.readings;
  const currency = code === undefined ? undefined : CURRENCIES.get(code);
  if (currency?.minorDigits === 0) return [grouped];
  if (decimal !== null) return [decimal === split.decimal ? split : grouped];
  if (per !== null && FINE_UNITS.has(per)) return [split];
  if (currency === undefined || split.decimal === null) return numeral.readings;
  const isGroup = currency.groups.includes(split.decimal);
  const isDecimal = currency.decimals.includes(split.decimal);
  if (currency.minorDigits === 3) return isDecimal ? (isGroup ? [split, grouped] : [split]) : [grouped];
  // A third decimal does not exist in the currency, so wherever the sign can part thousands it does.
  return isGroup || !isDecimal ? [grouped] : numeral.readings;
}

/** Rounds away errors of binary fractions. */
function tidy(value: number): number {
  return Number(value.toPrecision(15));
}
