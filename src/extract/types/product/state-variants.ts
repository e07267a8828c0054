import {
  type StateObject,
  stateList,
  stateText,
  stateValue,
} from '../../structured/embedded/embedded-state.ts';
import { parseGtin } from '../../values/plain-values.ts';
import type { TypedEvidence } from '../evidence.ts';
import { FIELD_READERS, fieldText, readPrice, type Variant } from '../field.ts';
import { pageCurrency, visiblePrice } from './product-markup.ts';

/** Paths of price, list price and stock in embedded state. */
export const PRICES = [
  'price',
  'prices',
  'priceRange',
  'currentPrice',
  'salePrice',
  'sale_price',
  'finalPrice',
  'final_price',
  'price_amount',
  'display_price',
  'priceInCents',
  'price_cents',
  'offers',
  'pricing',
  'masterVariant',
];
export const LIST_PRICES = [
  'compare_at_price',
  'compareAtPrice',
  'listPrice',
  'list_price',
  'originalPrice',
  'regularPrice',
  'regular_price',
  'oldPrice',
  'old_price',
  'wasPrice',
  'msrp',
  'rrp',
  'display_regular_price',
  'price_without_reduction',
];
const STOCK = [
  'availability',
  'stockStatus',
  'stock_status',
  'inStock',
  'in_stock',
  'isInStock',
  'is_in_stock',
  'available',
  'availableForSale',
  'isAvailable',
  'available_for_order',
  'inventory.available',
  'stock.available',
  'stock.status',
];
export const MOST_VARIANTS = 200;
const NO_CONTEXT = { base: 'about:blank', fetchedAt: 0, locale: undefined, currency: undefined };

export function variantsIn(evidence: TypedEvidence, object: StateObject): Variant[] {
  const names = stateList(object, 'options').map((option) =>
    typeof option === 'string' ? option : isObject(option) ? stateText(option, 'name') : null,
  );
  return stateList(object, 'variants', 'variations', 'skus')
    .slice(0, MOST_VARIANTS)
    .flatMap((entry) => {
      if (!isObject(entry)) return [];
      const options: Record<string, string> = {};
      for (const [index, name] of names.slice(0, 3).entries()) {
        const value = stateText(entry, `option${index + 1}`);
        if (name !== null && value !== null && value !== 'Default Title') options[name] = value;
      }
      return [variantIn(evidence, entry, options, isShopify(object))];
    });
}

export function variantIn(
  evidence: TypedEvidence,
  entry: StateObject,
  options: Record<string, string>,
  isCents = false,
): Variant {
  const money = moneyIn(entry, PRICES, isCents);
  const list = moneyIn(entry, LIST_PRICES, isCents)?.amount ?? null;
  const context = evidence.context();
  const traits = { ...options, ...selected(entry) };
  return {
    name: fieldText(stateText(entry, 'public_title', 'title', 'name')),
    sku: fieldText(stateText(entry, 'sku', 'reference')),
    gtin: gtinIn(entry),
    price: money?.amount ?? null,
    listPrice: list !== null && list > (money?.amount ?? list) ? list : null,
    currency: FIELD_READERS.currency(money?.currency ?? shopCurrency(evidence), context),
    availability: availabilityIn(entry),
    url: FIELD_READERS.url(stateText(entry, 'url'), context),
    image: FIELD_READERS.url(
      stateText(entry, 'featured_image.src', 'image.url', 'image.src', 'image'),
      context,
    ),
    options: FIELD_READERS.attributes(traits, context) ?? {},
  };
}

/** The currency of the whole page. */
function shopCurrency(evidence: TypedEvidence): string | null {
  return pageCurrency(evidence) ?? visiblePrice(evidence)?.price.currency ?? null;
}

/** Chosen options: `selectedOptions: [{name, value}]` of Shopify, `attributes: {attribute_pa_size: "m"}` of WooCommerce. */
function selected(entry: StateObject): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const option of stateList(entry, 'selectedOptions', 'optionValues')) {
    const [name, value] = isObject(option)
      ? [stateText(option, 'name'), stateText(option, 'value')]
      : [null, null];
    if (name !== null && value !== null) chosen[name] = value;
  }
  const attributes = stateValue(entry, 'attributes');
  if (isObject(attributes)) {
    for (const [name, value] of Object.entries(attributes).slice(0, 20)) {
      if (typeof value === 'string' && value !== '') chosen[name.replace(/^attribute_(?:pa_)?/, '')] = value;
    }
  }
  return chosen;
}

function isShopify(object: StateObject): boolean {
  return Object.hasOwn(object, 'vendor') && (Object.hasOwn(object, 'handle') || Object.hasOwn(object, 'gid'));
}

export function moneyIn(
  object: StateObject,
  keys: readonly string[],
  isCents = isShopify(object),
): Money | null {
  for (const key of keys) {
    const money = moneyOf(stateValue(object, key), isCents || /cents$/i.test(key));
    if (money !== null) return money;
  }
  return null;
}

export function availabilityIn(object: StateObject): Variant['availability'] {
  for (const path of STOCK) {
    const value = stateValue(object, path);
    if (typeof value === 'boolean') return value ? 'InStock' : 'OutOfStock';
    if (value === 1 || value === 0) return value === 1 ? 'InStock' : 'OutOfStock';
    const said =
      typeof value === 'string' ? FIELD_READERS.availability(value.replaceAll('_', ' '), NO_CONTEXT) : null;
    if (said !== null) return said;
  }
  const left = stateValue(object, 'quantity', 'stock', 'stockQuantity', 'inventory_quantity');
  return typeof left === 'number' ? (left > 0 ? 'InStock' : 'OutOfStock') : null;
}

export function gtinIn(object: StateObject): string | null {
  const text = stateText(object, 'gtin', 'gtin13', 'ean', 'ean13', 'barcode', 'upc', 'isbn');
  return text === null ? null : (parseGtin(text)?.value ?? null);
}

export function isObject(value: unknown): value is StateObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A product is available when one of its variants is. */
export function anySupply(variants: readonly Variant[]): Variant['availability'] {
  const known = variants.map(({ availability }) => availability).filter((state) => state !== null);
  return known.find((state) => state === 'InStock') ?? known[0] ?? null;
}

export function cheapest(variants: readonly Variant[]): number | null {
  const prices = variants.map(({ price }) => price).filter((price) => price !== null);
  return prices.length === 0 ? null : Math.min(...prices);
}

interface Money {
  readonly amount: number;
  readonly currency: string | null;
}

const MOST_DEPTH = 4;
/** Keys of the amount in price objects, and keys of price objects in other objects. */
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

/** A price in embedded state: a number, a string, or an object that holds one. Whole numbers are cents where `isCents`. */
function moneyOf(value: unknown, isCents: boolean, depth = MOST_DEPTH): Money | null {
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
