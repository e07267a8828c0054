import {
  addresses,
  type DataItem,
  type ItemSource,
  isItem,
  itemValue,
  itemValues,
  label,
  labels,
  textValue,
  valuesOf,
} from '../../structured/item.ts';
import { parseAvailability } from '../../values/availability.ts';
import { parseGtin } from '../../values/plain-values.ts';
import { type Draft, defineType } from '../draft.ts';
import type { TypedEvidence } from '../evidence.ts';
import { choosePerSource, FIELD_READERS, fieldText, ratingOf, type Variant } from '../field.ts';
import { PRODUCT_FIELDS, type ProductFields } from './product-fields.ts';
import {
  cartButtons,
  priceNearHeading,
  readProductMarkup,
  readProductText,
  visiblePrice,
} from './product-markup.ts';
import { findProductState, readProductState } from './product-state.ts';

/** A page with more products than this is a listing. */
const LISTING = 4;
const COUNTED = /^(?:products?\.item|product)$/;

/** Something that can be bought, on a page of its own. */
export const product = defineType({
  name: 'product',
  says: 'Something that can be bought, on a page of its own.',
  fields: PRODUCT_FIELDS,

  weigh(evidence) {
    const items = productItems(evidence);
    const isPriced = items.some(
      (item) => item.properties.has('offers') || item.types.includes('ProductGroup'),
    );
    if (items.length > LISTING) return 0.2;
    if (isPriced) return 0.95;
    const kind = evidence.openGraph('type') ?? '';
    if (COUNTED.test(kind) || evidence.openGraph('product:price:amount') !== null) return 0.9;
    const carts = cartButtons(evidence).length;
    const hasCart = carts > 0;
    if (items.length > 0) return hasCart ? 0.85 : 0.6;
    const match = findProductState(evidence);
    if (match !== null && match.score >= 6) return hasCart ? 0.85 : 0.7;
    // A page with many add-to-cart buttons is a listing.
    if (!hasCart || carts > LISTING) return 0;
    if (evidence.markup.heading !== null && visiblePrice(evidence) !== null) return 0.7;
    return priceNearHeading(evidence) === null ? 0.32 : 0.5;
  },

  read(evidence, draft) {
    readProductData(evidence, draft);
    readProductState(evidence, draft);
    const price = evidence.openGraph('product:price:amount') ?? evidence.openGraph('price:amount');
    draft.give('price', price, 'open-graph');
    draft.give(
      'currency',
      evidence.openGraph('product:price:currency') ?? evidence.openGraph('price:currency'),
      'open-graph',
    );
    draft.give(
      'availability',
      evidence.openGraph('product:availability') ?? evidence.openGraph('availability'),
      'open-graph',
    );
    draft.give('brand', evidence.openGraph('product:brand'), 'open-graph');
    draft.give('condition', evidence.openGraph('product:condition'), 'open-graph');
    draft.give('sku', evidence.openGraph('product:retailer_item_id'), 'open-graph');
    draft.give('category', evidence.openGraph('product:category'), 'open-graph');
    draft.give('images', evidence.openGraphAll('image'), 'open-graph');
    draft.give('description', evidence.openGraph('description'), 'open-graph', 0.6);
    readProductMarkup(evidence, draft);
    draft.give('name', evidence.withoutSite(evidence.openGraph('title')), 'open-graph', 0.7);
    draft.give('description', evidence.meta('description'), 'meta', 0.5);
    readProductText(evidence, draft);
    const trail = evidence.parts.breadcrumbs;
    if (trail !== null) {
      draft.give('breadcrumbs', trail.crumbs, trail.from);
      const name = draft.get('name')?.toLowerCase();
      const category = trail.crumbs.filter((crumb) => crumb.name.toLowerCase() !== name).at(-1);
      if (trail.crumbs.length > 1 && category !== trail.crumbs[0])
        draft.give('category', category?.name, 'markup', 0.5);
    }
    draft.give('url', evidence.address.url, evidence.address.source, 0.9);
  },
});

const PRODUCT = /^(?:Product|ProductGroup|IndividualProduct|ProductModel|SomeProducts|Vehicle|Car|Book)$/;
const GTINS = ['gtin13', 'gtin', 'gtin14', 'gtin12', 'gtin8', 'isbn', 'ean'];
/** Properties of schema.org that are attributes of the product. */
const TRAITS = [
  'color',
  'size',
  'material',
  'pattern',
  'weight',
  'width',
  'height',
  'depth',
  'model',
  'countryOfOrigin',
];
const AVAILABLE = new Set([
  'InStock',
  'LimitedAvailability',
  'OnlineOnly',
  'InStoreOnly',
  'PreOrder',
  'BackOrder',
]);

function productItems(evidence: TypedEvidence): readonly DataItem[] {
  const inside = new Set(
    evidence
      .items((type) => PRODUCT.test(type))
      .flatMap((item) =>
        ['isRelatedTo', 'isSimilarTo', 'hasVariant', 'isVariantOf', 'isAccessoryOrSparePartFor'].flatMap(
          (name) => itemValues(item, name),
        ),
      ),
  );
  return evidence
    .items((type) => PRODUCT.test(type))
    .filter((item) => !inside.has(item) && item.properties.size > 1);
}

/** Reads the structured data of the product, one syntax after the other. */
function readProductData(evidence: TypedEvidence, draft: Draft<ProductFields>): void {
  for (const item of choosePerSource(evidence, productItems(evidence))) readProduct(evidence, item, draft);
}

function readProduct(evidence: TypedEvidence, item: DataItem, draft: Draft<ProductFields>): void {
  const { source } = item;
  draft.give('name', textValue(item, 'name'), source);
  draft.give('description', textValue(item, 'description'), source);
  draft.give('mpn', textValue(item, 'mpn'), source);
  draft.give('gtin', textValue(item, ...GTINS), source);
  draft.give('brand', label(item, 'brand', 'manufacturer'), source);
  draft.give('category', labels(item, 'category').at(-1), source);
  draft.give('images', addresses(item, 'image', 'images'), source);
  draft.give('url', textValue(item, 'url'), source);
  const { rating, bestRating, reviewCount } = ratingOf(item);
  draft.give('rating', rating, source);
  draft.give('bestRating', bestRating, source);
  draft.give('reviewCount', reviewCount, source);
  draft.give('attributes', attributesOf(item), source);
  readOffers(evidence, item, draft);
  draft.give('sku', textValue(item, 'productID', 'productGroupID'), source, 0.7);
}

function readOffers(evidence: TypedEvidence, item: DataItem, draft: Draft<ProductFields>): void {
  const { source } = item;
  const offers = offersOf(item);
  const variants = variantsOf(evidence, item, offers);
  const chosen = chooseOffer(evidence, offers);
  const [aggregate] = itemValues(item, 'offers').filter((offer) => offer.types.includes('AggregateOffer'));
  const own = ownVariant(evidence, variants);
  if (own !== null) giveVariant(own, draft, source);
  draft.give('sku', textValue(item, 'sku'), source);
  const currency =
    currencyOf(chosen) ?? textValue(aggregate, 'priceCurrency') ?? variants[0]?.currency ?? null;
  draft.give('currency', currency, source);
  draft.give(
    'price',
    priceOf(chosen) ?? textValue(aggregate, 'lowPrice', 'price') ?? cheapest(variants),
    source,
  );
  draft.give('highPrice', textValue(aggregate, 'highPrice'), source);
  draft.give('listPrice', listPriceOf(chosen), source);
  const states = [...offers, ...(aggregate === undefined ? [] : [aggregate])]
    .map((offer) => parseAvailability(label(offer, 'availability') ?? ''))
    .concat(variants.map(({ availability }) => availability))
    .filter((state) => state !== null);
  draft.give('availability', states.find((state) => AVAILABLE.has(state)) ?? states[0], source);
  draft.give('condition', label(chosen, 'itemCondition')?.replace(/^.*\/|Condition$/g, ''), source);
  draft.give('seller', label(chosen, 'seller', 'offeredBy'), source);
  if (chosen !== null) {
    draft.give('sku', textValue(chosen, 'sku'), source);
    draft.give('gtin', textValue(chosen, ...GTINS), source);
    draft.give('mpn', textValue(chosen, 'mpn'), source);
    draft.give('url', textValue(chosen, 'url'), source, 0.7);
  }
  if (variants.length > 1) draft.give('variants', variants, source);
  draft.give(
    'images',
    variants.flatMap(({ image }) => image ?? []),
    source,
    0.85,
  );
}

/** The variant with the URL of the page: a page may be about one of many. */
function ownVariant({ page }: TypedEvidence, variants: readonly Variant[]): Variant | null {
  if (!page.url.includes('?')) return null;
  return variants.find(({ url }) => url !== null && url === page.url) ?? null;
}

function giveVariant(variant: Variant, draft: Draft<ProductFields>, source: ItemSource): void {
  draft.give('price', variant.price, source);
  draft.give('currency', variant.currency, source);
  draft.give('listPrice', variant.listPrice, source);
  draft.give('availability', variant.availability, source);
  draft.give('sku', variant.sku, source);
  draft.give('gtin', variant.gtin, source);
}

/** Single offers, including those of an aggregate offer. */
function offersOf(item: DataItem): DataItem[] {
  return itemValues(item, 'offers').flatMap((offer) => {
    if (!offer.types.includes('AggregateOffer')) return [offer];
    return [...itemValues(offer, 'offers')];
  });
}

function chooseOffer(evidence: TypedEvidence, offers: readonly DataItem[]): DataItem | null {
  const { page } = evidence;
  const own = offers.find((offer) => textValue(offer, 'url') === page.url && page.url.includes('?'));
  if (own !== undefined) return own;
  const amount = (offer: DataItem): number =>
    FIELD_READERS.price(priceOf(offer), evidence.context()) ?? Number.POSITIVE_INFINITY;
  const isHad = (offer: DataItem): boolean =>
    AVAILABLE.has(parseAvailability(label(offer, 'availability') ?? '') ?? '');
  const had = offers.filter(isHad);
  const choice = had.length > 0 ? had : offers;
  return choice.reduce<DataItem | null>(
    (best, offer) => (best === null || amount(offer) < amount(best) ? offer : best),
    null,
  );
}

function specifications(offer: DataItem): readonly DataItem[] {
  return itemValues(offer, 'priceSpecification');
}

const isOldPrice = (specification: DataItem): boolean =>
  /ListPrice|StrikethroughPrice|SRP|MSRP/.test(label(specification, 'priceType') ?? '');

function priceOf(offer: DataItem | null): string | null {
  if (offer === null) return null;
  const current = specifications(offer).find((specification) => !isOldPrice(specification));
  return textValue(offer, 'price', 'lowPrice') ?? textValue(current, 'price', 'minPrice');
}

function listPriceOf(offer: DataItem | null): string | null {
  return offer === null ? null : textValue(specifications(offer).find(isOldPrice), 'price');
}

function currencyOf(offer: DataItem | null): string | null {
  if (offer === null) return null;
  const specified = specifications(offer).map((specification) => textValue(specification, 'priceCurrency'));
  return textValue(offer, 'priceCurrency', 'currency') ?? specified.find((code) => code !== null) ?? null;
}

function variantsOf(evidence: TypedEvidence, item: DataItem, offers: readonly DataItem[]): Variant[] {
  const listed = itemValues(item, 'hasVariant', 'model').filter(({ properties }) => properties.size > 0);
  if (listed.length > 0) {
    return listed.map((variant) => variantOf(evidence, variant, itemValue(variant, 'offers')));
  }
  const sold = offers.filter(
    (offer) => offer.properties.has('itemOffered') || textValue(offer, 'sku', 'name') !== null,
  );
  return sold.map((offer) => variantOf(evidence, itemValue(offer, 'itemOffered') ?? offer, offer));
}

function variantOf(evidence: TypedEvidence, item: DataItem, offer: DataItem | null): Variant {
  const context = evidence.context(currencyOf(offer) ?? undefined);
  const gtin = textValue(item, ...GTINS) ?? textValue(offer, ...GTINS);
  return {
    name: fieldText(textValue(item, 'name')),
    sku: fieldText(textValue(item, 'sku') ?? textValue(offer, 'sku')),
    gtin: gtin === null ? null : (parseGtin(gtin)?.value ?? null),
    price: FIELD_READERS.price(priceOf(offer), context),
    listPrice: FIELD_READERS.price(listPriceOf(offer), context),
    currency: FIELD_READERS.currency(currencyOf(offer), context),
    availability: parseAvailability(label(offer, 'availability') ?? ''),
    url: FIELD_READERS.url(textValue(item, 'url') ?? textValue(offer, 'url'), context),
    image: FIELD_READERS.url(addresses(item, 'image')[0], context),
    options: FIELD_READERS.attributes(traitsOf(item), context) ?? {},
  };
}

function cheapest(variants: readonly Variant[]): number | null {
  const prices = variants.map(({ price }) => price).filter((price) => price !== null);
  return prices.length === 0 ? null : Math.min(...prices);
}

function traitsOf(item: DataItem): Record<string, string> {
  return Object.fromEntries(
    TRAITS.flatMap((name) => {
      const [value] = valuesOf(item, name);
      if (value === undefined) return [];
      const text = isItem(value) ? quantity(value) : String(value);
      return text === null ? [] : [[name, text] as const];
    }),
  );
}

function quantity(item: DataItem): string | null {
  const value = textValue(item, 'value');
  const unit = textValue(item, 'unitText', 'unitCode');
  return value === null ? textValue(item, 'name') : unit === null ? value : `${value} ${unit}`;
}

function attributesOf(item: DataItem): Record<string, string> {
  const extra = itemValues(item, 'additionalProperty').flatMap((property) => {
    const name = textValue(property, 'name');
    const value = labels(property, 'value').join(', ');
    const unit = textValue(property, 'unitText');
    return name === null || value === '' ? [] : [[name, unit === null ? value : `${value} ${unit}`] as const];
  });
  return { ...traitsOf(item), ...Object.fromEntries(extra) };
}
