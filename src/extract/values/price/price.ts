import { SURE_DECIMAL } from '../number.ts';
import { fold } from '../text.ts';
import { CURRENCIES } from './currencies.ts';
import { lexPrice } from './price-lexer.ts';
import { type Quote, type Quotes, readQuotes } from './price-quotes.ts';
import {
  amountsOf,
  contextOf,
  currenciesOf,
  type PriceContext,
  type PriceHints,
} from './price-resolution.ts';
import { SHIPPING_WORDS } from './price-words.ts';

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

export interface PriceAmbiguity {
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
