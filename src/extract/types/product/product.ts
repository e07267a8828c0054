import { defineType } from '../draft.ts';
import { productItems, readProductData } from './product-data.ts';
import { PRODUCT_FIELDS } from './product-fields.ts';
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
