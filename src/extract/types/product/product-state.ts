import {
  countKeys,
  type StateMatch,
  type StateObject,
  searchState,
  stateList,
  stateText,
  stateValue,
} from '../../structured/embedded/embedded-state.ts';
import type { Draft } from '../draft.ts';
import type { TypedEvidence } from '../evidence.ts';
import { fieldText, type Variant } from '../field.ts';
import type { ProductFields } from './product-fields.ts';
import {
  anySupply,
  availabilityIn,
  cheapest,
  gtinIn,
  isObject,
  LIST_PRICES,
  MOST_VARIANTS,
  moneyIn,
  PRICES,
  variantIn,
  variantsIn,
} from './state-variants.ts';

const NAMES = ['title', 'name', 'productName', 'product_name', 'item_name', 'displayName'];
const IDENTITIES = [
  'sku',
  'handle',
  'slug',
  'id',
  'productId',
  'product_id',
  'id_product',
  'item_id',
  'gtin',
  'ean',
  'ean13',
  'code',
  'reference',
];
const TRAITS = [
  'variants',
  'images',
  'image',
  'media',
  'brand',
  'vendor',
  'manufacturer',
  'description',
  'descriptionHtml',
  'inStock',
  'in_stock',
  'available',
  'availableForSale',
  'availability',
  'stock',
  'options',
  'category',
  'currency',
];
const LEAST_SCORE = 4;

/** The object in the embedded state that best matches the product of the page. */
export function findProductState(evidence: TypedEvidence): StateMatch | null {
  const path = decodeURIComponentSafely(evidence.url.pathname).toLowerCase();
  const heading = evidence.markup.text(evidence.markup.heading)?.toLowerCase() ?? null;
  const found = searchState(evidence.states, (object, depth) => judge(object, depth, path, heading));
  return found !== null && found.score >= LEAST_SCORE ? found : null;
}

function judge(object: StateObject, depth: number, path: string, heading: string | null): number {
  const name = stateText(object, ...NAMES);
  if (countKeys(object, PRICES) === 0 && countKeys(object, ['variants']) === 0) return 0;
  if (name === null && !Object.hasOwn(object, 'variants')) return 0;
  if (countKeys(object, IDENTITIES) === 0) return 0;
  let score = 2 + Math.min(4, countKeys(object, TRAITS)) * 0.75;
  const handle = stateText(object, 'handle', 'slug', 'urlKey', 'url_key');
  if (handle !== null && handle.length > 2 && path.includes(handle.toLowerCase())) score += 4;
  if (name !== null && heading !== null && fieldText(name)?.toLowerCase() === heading) score += 4;
  return score - depth * 0.05;
}

export function readProductState(evidence: TypedEvidence, draft: Draft<ProductFields>): void {
  const match = findProductState(evidence);
  const state = 'embedded-state';
  if (match === null) {
    readLooseVariants(evidence, draft);
    return;
  }
  const { object } = match;
  const variants = variantsIn(evidence, object);
  const isSure = match.score >= 6 ? 0.88 : 0.7;
  const money = moneyIn(object, PRICES);
  draft.give('name', stateText(object, ...NAMES), state, isSure);
  draft.give(
    'currency',
    money?.currency ?? stateText(object, 'currency', 'currencyCode', 'currency_iso_code', 'priceCurrency'),
    state,
    isSure,
  );
  draft.give('price', money?.amount ?? cheapest(variants), state, isSure);
  const list = moneyIn(object, LIST_PRICES)?.amount ?? variants[0]?.listPrice ?? null;
  const price = draft.get('price');
  if (list !== null && price !== null && list > price) draft.give('listPrice', list, state, isSure);
  draft.give('availability', availabilityIn(object) ?? anySupply(variants), state, isSure);
  draft.give(
    'sku',
    stateText(
      object,
      'sku',
      'reference',
      'articleNumber',
      'article_number',
      'item_id',
      'masterVariant.sku',
    ) ?? single(variants)?.sku,
    state,
    isSure,
  );
  draft.give('gtin', gtinIn(object) ?? single(variants)?.gtin, state, isSure);
  draft.give('mpn', stateText(object, 'mpn', 'manufacturerPartNumber', 'supplier_reference'), state, isSure);
  draft.give(
    'brand',
    stateText(object, 'brand', 'vendor', 'manufacturer', 'manufacturer_name', 'brandName', 'item_brand'),
    state,
    isSure,
  );
  draft.give(
    'category',
    stateText(
      object,
      'category',
      'product_type',
      'productType',
      'categoryName',
      'category_name',
      'item_category',
      'type',
    ),
    state,
    0.6,
  );
  draft.give('images', imagesIn(object), state, isSure);
  draft.give(
    'description',
    stateText(object, 'description', 'descriptionHtml', 'body_html', 'longDescription', 'shortDescription'),
    state,
    isSure,
  );
  draft.give(
    'rating',
    stateText(
      object,
      'rating.value',
      'rating.average',
      'averageRating',
      'ratingValue',
      'aggregateRating.ratingValue',
      'rating',
    ),
    state,
    isSure,
  );
  draft.give(
    'reviewCount',
    stateText(
      object,
      'reviewCount',
      'reviewsCount',
      'rating.count',
      'numReviews',
      'aggregateRating.reviewCount',
      'review_count',
    ),
    state,
    isSure,
  );
  draft.give('attributes', attributesIn(object), state, isSure);
  if (variants.length > 1) draft.give('variants', variants, state, isSure);
}

/** Reads variants without a product object, as WooCommerce writes them into its form. */
function readLooseVariants(evidence: TypedEvidence, draft: Draft<ProductFields>): void {
  const list = evidence.states.find(({ name }) => name === 'data-product_variations')?.value;
  if (!Array.isArray(list)) return;
  const variants = list
    .slice(0, MOST_VARIANTS)
    .flatMap((entry) => (isObject(entry) ? [variantIn(evidence, entry, {})] : []));
  draft.give('price', cheapest(variants), 'embedded-state');
  draft.give('availability', anySupply(variants), 'embedded-state');
  if (variants.length > 1) draft.give('variants', variants, 'embedded-state');
}

function imagesIn(object: StateObject): string[] {
  const list = stateList(object, 'images', 'media', 'gallery', 'imageUrls');
  const all =
    list.length > 0 ? list : [stateValue(object, 'image', 'featured_image', 'imageUrl', 'thumbnail')];
  return all.flatMap((image) => {
    const url =
      typeof image === 'string'
        ? image
        : isObject(image)
          ? stateText(
              image,
              'src',
              'url',
              'originalSrc',
              'large.url',
              'image.url',
              'bySize.large_default.url',
            )
          : null;
    return url === null ? [] : [url];
  });
}

function attributesIn(object: StateObject): Record<string, string> {
  const list = stateList(object, 'attributes', 'specifications', 'specs', 'features', 'properties');
  return Object.fromEntries(
    list.slice(0, 100).flatMap((entry) => {
      if (!isObject(entry)) return [];
      const [name, value] = [
        stateText(entry, 'name', 'label', 'key'),
        stateText(entry, 'value', 'values', 'text'),
      ];
      return name === null || value === null ? [] : [[name, value] as const];
    }),
  );
}

const single = (variants: readonly Variant[]): Variant | null =>
  variants.length === 1 ? (variants[0] ?? null) : null;

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
