import { type StateObject, stateValue } from '../../embedded/state-search.ts';
import { readPrice } from '../read-kind.ts';

export interface Money {
  readonly amount: number;
  readonly currency: string | null;
}

const MOST_DEPTH = 4;
/** Where the amount of a price stands in objects that are prices, and where a price stands in those that hold one. */
const AMOUNTS = [
  'amount',
  'value',
  'current',
  'price',
  'sale',
  'now',
  'final',
  'finalPrice',
  'minVariantPrice',
  'min',
  'lowPrice',
  'regular',
  'gross',
  'prices',
  'basePrice',
];
const CURRENCIES = ['currency', 'currencyCode', 'currency_code', 'priceCurrency', 'currencyIso'];

/** A price in a page's own data: a number, a text, or an object around one. Whole numbers are cents where `isCents`. */
export function moneyOf(value: unknown, isCents: boolean, depth = MOST_DEPTH): Money | null {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value < 0) return null;
    return { amount: isCents && Number.isInteger(value) ? value / 100 : value, currency: null };
  }
  if (typeof value === 'string') {
    const price = readPrice(value, {
      base: 'about:blank',
      fetchedAt: 0,
      locale: undefined,
      currency: undefined,
    });
    return price === null ? null : { amount: price.amount, currency: price.currency };
  }
  if (value === null || typeof value !== 'object' || depth === 0) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : moneyOf(value[0], isCents, depth - 1);
  const object = value as StateObject;
  const named = stateValue(object, ...CURRENCIES);
  const currency = typeof named === 'string' && /^[A-Za-z]{3}$/.test(named) ? named.toUpperCase() : null;
  const cents = stateValue(object, 'centAmount');
  if (typeof cents === 'number') {
    const digits = stateValue(object, 'fractionDigits');
    return {
      amount: cents / 10 ** (typeof digits === 'number' && digits >= 0 && digits < 5 ? digits : 2),
      currency,
    };
  }
  for (const key of AMOUNTS) {
    const inner = moneyOf(stateValue(object, key), isCents, depth - 1);
    if (inner !== null) return { amount: inner.amount, currency: currency ?? inner.currency };
  }
  return null;
}
