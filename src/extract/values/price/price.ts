import { type NumberFormat, type NumeralReading, numberFormatOf, regionOf, SURE_DECIMAL } from '../number.ts';
import { fold } from '../text.ts';
import { CURRENCIES, currencyOf } from './currencies.ts';
import { lexPrice } from './price-lexer.ts';
import { type Quote, type Quotes, readQuotes } from './price-quotes.ts';
import { SHIPPING_WORDS } from './price-words.ts';

/** What the caller knows about the origin of a price. */
interface PriceHints {
  /** ISO 4217 code the price is probably in; what the text names for sure goes before it. */
  readonly currency?: string | undefined;
  /** Language tag of the page. A bare `en` says nothing about where, so it does not settle what `$` means. */
  readonly locale?: string | undefined;
  /** ISO 3166 code of where the shop sells. */
  readonly country?: string | undefined;
}

/** Context derived from the hints. */
interface PriceContext {
  readonly format: NumberFormat | null;
  readonly likelyCurrencies: readonly string[];
  readonly given: string | null;
}

/** Units whose prices have tenths of a cent. */
const FINE_UNITS = new Set(['l', 'gal', 'kWh', 'm3']);

function contextOf({ currency, locale, country }: PriceHints): PriceContext {
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
function currenciesOf({ spellings, numeral }: Quote, context: PriceContext): readonly string[] {
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
function amountsOf(
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

/** A parsed price. When `ambiguity` is not null, the other fields hold the likeliest reading. */
export interface Price {
  /** The current price; for a range, its lower end. */
  readonly amount: number;
  /** ISO 4217; null when the text has none, or a symbol of several currencies that nothing decides. */
  readonly currency: string | null;
  /** Both ends of a range, else null. */
  readonly min: number | null;
  readonly max: number | null;
  readonly isFrom: boolean;
  readonly isUpTo: boolean;
  /** The unit of the price, when it is not for the whole item: `kg`, `100 g`, `month`, `piece` … */
  readonly per: string | null;
  /** The former price, when the price is reduced. */
  readonly listPrice: number | null;
  readonly isAmbiguous: boolean;
  readonly ambiguity: PriceAmbiguity | null;
}

interface PriceAmbiguity {
  /** All possible amounts, likeliest first; one when the amount is certain. */
  readonly amounts: readonly number[];
  /** All possible currencies, likeliest first; none or one when the currency is certain. */
  readonly currencies: readonly string[];
}

export type { PriceHints };

/** Longer texts are cut: a price is at their beginning or nowhere. */
const MAX_CHARS = 300;
const APOSTROPHES = /[’‘´`ʼ′ʹ＇]/g;
const RAISED_CENTS = /([0-9]) ?([⁰¹²³⁴⁵⁶⁷⁸⁹]{2})(?![⁰¹²³⁴⁵⁶⁷⁸⁹])/g;
/** Decoration that would stand between a number and its sign. */
const DECORATION = /(?<!\p{L})"|"(?!\p{L})|[*†‡“”„«»<>[\]{}]/gu;

/** A number without a digit before its decimal sign. */
const BARE_FRACTION = /(?<![\d.,\p{L}])[.,](?=\d{1,2}(?![\d.,]))/gu;
/** Cents that a template has separated from the decimal sign; only beside a currency, since commas also part lists. */
const SPACED_CENTS =
  /(\p{Sc} ?)?(?<![\d.,] ?)(\d{1,3}(?:[.,']\d{3})*|(?<!\p{L} )\d{4,})([.,]) (\d{2})(?![\d.,]|,? \d)( ?(?:\p{Sc}|(?:\p{Lu}{2,3}|kr|zł|lei|Kč|Ft|лв|руб|грн)(?!\p{L})))?/gu;

function withCents(text: string): string {
  return text
    .replace(BARE_FRACTION, (sign) => `0${sign}`)
    .replace(SPACED_CENTS, (all, before = '', whole = '', sign = '', cents = '', behind = '') =>
      before === '' && behind === '' ? all : `${before}${whole}${sign}${cents}${behind}`,
    );
}

/**
 * Parses a price in any of the world's notations. Null without a price; never throws.
 *
 * Unambiguous text goes before hints. A symbol of several currencies is decided by the hints, then by the number format;
 * a single `.` or `,` before three digits by the hints, by another number in the text, then by the custom of the
 * currency. Remaining doubts are in `ambiguity`.
 */
export function parsePrice(text: string, hints: PriceHints = {}): Price | null {
  const raised = text
    .slice(0, MAX_CHARS * 4)
    .replace(APOSTROPHES, "'")
    .replace(RAISED_CENTS, `$1${SURE_DECIMAL}$2`);
  const folded = withCents(fold(raised, MAX_CHARS).replace(DECORATION, ' ').replace(/ {2,}/g, ' ').trim());
  const read = readQuotes(lexPrice(folded));
  const context = contextOf(hints);
  const quotes = wanted(read);
  if (quotes.length > 0) return priceOf(quotes, context);
  return read.quotes.length === 0 && read.isFree && !isAboutShipping(folded) ? free(context) : null;
}

/**
 * The currency that a text names by its code, symbol or word, with or without an amount: its ISO 4217 code. A symbol of
 * several currencies (`$`) is taken for the one that the hints name, else for the likeliest. Null without a currency.
 */
export function parseCurrency(text: string, hints: PriceHints = {}): string | null {
  const written = text.trim().slice(0, MAX_CHARS);
  const code = written.toUpperCase();
  if (CURRENCIES.has(code)) return code;
  // A symbol counts as a currency beside a number.
  const price = /\d/.test(written)
    ? parsePrice(written, hints)
    : (parsePrice(`1 ${written}`, hints) ?? parsePrice(`${written} 1`, hints));
  return price?.currency ?? price?.ambiguity?.currencies[0] ?? null;
}

const isAboutShipping = (text: string): boolean =>
  text
    .toLowerCase()
    .split(/[\s,.!–-]+/)
    .some((word) => SHIPPING_WORDS.has(word)) || text.length > 40;

function free({ given }: PriceContext): Price {
  return build({ amount: 0, currency: given });
}

/** The quotes that are prices: with a currency where any has one, without percentages, savings and numbers of names. */
function wanted({ quotes, hasWords }: Quotes): readonly Quote[] {
  const prices = quotes.filter(({ role }) => role !== 'aside');
  const named = prices.filter(({ spellings }) => spellings.length > 0);
  if (named.length === 0) {
    const sure = hasWords || prices.length > 2 ? prices.filter(hasCents) : prices;
    const isPair = sure.length === 2 && !sure[1]?.isRangeEnd && sure.every(({ role }) => role === 'price');
    return isPair && !sure.every(hasCents) ? [] : sure;
  }
  for (const [index, quote] of prices.entries()) {
    const before = prices[index - 1];
    if (!quote.isRangeEnd || before === undefined) continue;
    if (quote.spellings.length === 0) quote.spellings.push(...before.spellings);
    else if (before.spellings.length === 0 && !before.isNamed) before.spellings.push(...quote.spellings);
    // 10 – 20 € per month: so are both ends.
    before.per ??= quote.per;
    // 2 – 3 Mio. €: both ends are millions.
    if (before.factors[0] === 1 && before.spellings.length > 0) before.factors = quote.factors;
  }
  const whole = prices.filter(({ spellings }) => spellings.some(({ unit }) => unit >= 1));
  return whole.length > 0 ? whole : prices.filter(({ spellings }) => spellings.length > 0);
}

const hasCents = ({ numeral, cents }: Quote): boolean => cents > 0 || numeral.readings.at(-1)?.decimals === 2;

interface Reading {
  readonly quote: Quote;
  readonly currencies: readonly string[];
  readonly amounts: readonly number[];
  readonly amount: number;
}

function priceOf(quotes: readonly Quote[], context: PriceContext): Price | null {
  const decimalSeen = quotes.map(sureDecimal).find((sign) => sign !== null) ?? null;
  const readings = quotes.flatMap((quote): Reading[] => {
    const currencies = currenciesOf(quote, context);
    const amounts = amountsOf(quote, currencies, context, decimalSeen);
    const [amount] = amounts;
    return amount === undefined || !Number.isFinite(amount) ? [] : [{ quote, currencies, amounts, amount }];
  });
  const current = readings.filter(({ quote }) => quote.role === 'price');
  const old = readings.find(({ quote }) => quote.role === 'list');
  const plain = current.filter(({ quote }) => quote.per === null);
  const asked = plain.length > 0 ? plain : current;
  const chosen = asked.filter(({ currencies }) => context.given !== null && currencies[0] === context.given);
  const main = chosen.length > 0 ? chosen : asked;
  const first = main[0] ?? old;
  if (first === undefined) return null;
  const rest = main.slice(1).filter(({ currencies }) => currencies[0] === first.currencies[0]);
  const listPrice = old === undefined || old === first ? null : old.amount;
  const second = rest[0];
  if (second === undefined) return single(first, listPrice);
  if (second.quote.isRangeEnd && second.amount >= first.amount) return range(first, second, listPrice);
  return several(first, rest, listPrice);
}

/** The decimal sign of a number that can be read in one way only. */
function sureDecimal({ numeral }: Quote): string | null {
  return numeral.readings.length === 1 ? numeral.readings[0].decimal : null;
}

function single(reading: Reading, listPrice: number | null): Price {
  const { quote, amount, currencies } = reading;
  const { isFrom, isUpTo, per } = quote;
  const bounds = isUpTo ? { max: amount } : {};
  return build({ amount, currency: settled(currencies), isFrom, isUpTo, per, listPrice, ...bounds }, [
    reading,
  ]);
}

function range(low: Reading, high: Reading, listPrice: number | null): Price {
  return build(
    {
      amount: low.amount,
      currency: settled(low.currencies),
      min: low.amount,
      max: high.amount,
      per: high.quote.per ?? low.quote.per,
      listPrice,
    },
    [low, high],
  );
}

/** Prices side by side without a word: most often the old and the new one, but that is not certain. */
function several(first: Reading, rest: readonly Reading[], listPrice: number | null): Price {
  const all = [first, ...rest].map(({ amount }) => amount);
  const [lowest, highest] = [Math.min(...all), Math.max(...all)];
  const { isFrom, per } = first.quote;
  const base = { amount: lowest, currency: settled(first.currencies), isFrom, per };
  if (lowest === highest) return build({ ...base, listPrice }, [first]);
  if (listPrice !== null || all.length > 2) {
    return build({ ...base, amount: first.amount, listPrice }, [first], all);
  }
  return build({ ...base, listPrice: highest }, [first], [lowest, highest]);
}

const settled = (currencies: readonly string[]): string | null =>
  currencies.length === 1 ? (currencies[0] ?? null) : null;

function build(
  fields: Partial<Price> & Pick<Price, 'amount' | 'currency'>,
  readings: readonly Reading[] = [],
  amounts: readonly number[] = readings.find((reading) => reading.amounts.length > 1)?.amounts ?? [
    fields.amount,
  ],
): Price {
  const currencies = readings[0]?.currencies ?? [];
  const isAmbiguous = amounts.length > 1 || currencies.length > 1;
  return {
    min: null,
    max: null,
    isFrom: false,
    isUpTo: false,
    per: null,
    listPrice: null,
    ...fields,
    isAmbiguous,
    ambiguity: isAmbiguous ? { amounts: [...new Set(amounts)], currencies } : null,
  };
}
