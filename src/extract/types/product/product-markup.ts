import { TAG } from '../../html/names.ts';
import { elementText } from '../../structured/element-text.ts';
import { TEXT } from '../../tree/page-tree.ts';
import { parseAvailability } from '../../values/availability.ts';
import type { Price } from '../../values/price/price.ts';
import type { Draft } from '../draft.ts';
import type { TypedEvidence } from '../evidence.ts';
import { readPrice } from '../field.ts';
import { attributeRows, picturesIn } from '../markup.ts';
import type { ProductFields } from './product-fields.ts';

const NAMED_PRICE = /[\s_-](?:price|prices|amount|preis|prix|precio|current-price|our-price|money)[\s_-]/;
const OLD_PRICE =
  /[\s_-](?:old|was|compare|compare-at|regular|list|strike|struck|crossed|original|msrp|uvp|rrp|before)[\s_-]/;
const NOT_A_PRICE =
  /[\s_-](?:unit|shipping|saving|savings|discount|badge|installment|filter|label|tax)[\s_-]/;
const NAME = /[\s_-]product[\s_-]{0,2}(?:title|name|heading)[\s_-]|\sproduct_title\s/;
const SKU = /[\s_-](?:sku|product-reference|article-number|item-number|artikelnummer)[\s_-]/;
const STOCK = /[\s_-](?:stock|availability|availabilities|inventory|delivery-status|lieferstatus)[\s_-]/;
const BRAND = /[\s_-](?:brand|vendor|manufacturer|hersteller)[\s_-]/;
const GALLERY =
  /[\s_-](?:gallery|product-images?|product__media|images-container|product-cover|thumbnails|product-photos?)[\s_-]/;
const DESCRIPTION =
  /[\s_-](?:product|tab)[\s_-]{0,2}(?:short-)?description[\s_-]|\swoocommerce-product-details__short-description\s|\s(?:tab-)?description\s/;
const RATING = /[\s_-](?:star-?ratings?|ratings?|stars|review-score)[\s_-]/;
const REVIEWS =
  /[\s_-](?:reviews?-?(?:count|link|number)|rating-count|ratings-count|review-count|num-reviews)[\s_-]/;
const CART =
  /add[\s_-]?to[\s_-]?(?:cart|basket|bag)|single_add_to_cart|product-form__submit|in den warenkorb|ajouter au panier|buy[\s_-]?now/i;
const LABELLED_SKU =
  /(?:^|\s)(?:SKU|Art(?:ikel|icle)?\.?[\s-]?(?:Nr|No|Nummer|number)\.?|Item (?:no|number)\.?|Référence|Reference|Model|Product code)\s*[:#]\s*([A-Z0-9][\w./-]{1,39})/i;
const LABELLED_GTIN = /(?:^|\s)(?:EAN|GTIN|UPC|ISBN|Barcode)(?:-?1[0-4])?\s*[:#]?\s*([\d][\d -]{6,18}\d)/i;
const LABELLED_MPN =
  /(?:^|\s)(?:MPN|Manufacturer part (?:no|number)\.?|Herstellernummer|Part number)\s*[:#]\s*([A-Z0-9][\w./-]{1,39})/i;
const MOST_PRICES = 30;
/** Number of nodes after the heading that are searched for a price. */
const NEAR = 400;

/** Returns the nodes of buttons that add the product to a cart. */
export function cartButtons({ markup }: TypedEvidence): number[] {
  const { tree } = markup;
  const isButton = (node: number): boolean =>
    [TAG.button, TAG.input, TAG.a].includes(tree.tags[node] as number);
  const marked = markup.marked.filter(
    ({ node, mark }) => isButton(node) && !markup.isAside(node) && CART.test(mark),
  );
  if (marked.length > 0) return marked.map(({ node }) => node);
  return [...markup.tagged('button'), ...markup.tagged('input')].filter((node) => {
    const text = elementText(tree, node, 80) || (markup.attribute(node, 'value') ?? '');
    return CART.test(text);
  });
}

export interface VisiblePrice {
  readonly price: Price;
  readonly list: number | null;
}

/** The visible price of the product: the first one at or after the main heading, if there is a heading. */
export function visiblePrice(evidence: TypedEvidence): VisiblePrice | null {
  const { markup } = evidence;
  const { tree } = markup;
  const all = markup.named(NAMED_PRICE).filter((node) => !NOT_A_PRICE.test(markOf(evidence, node)));
  const heading = markup.heading ?? 0;
  const after = all.filter((node) => node > heading);
  const nodes = (after.length > 0 ? after : all).slice(0, MOST_PRICES);
  let list: number | null = null;
  for (const node of nodes) {
    const old = oldPriceIn(evidence, node);
    const text = textWithoutOld(evidence, node);
    if (text === '') {
      list ??= old;
      continue;
    }
    const price = readPrice(text, evidence.context(pageCurrency(evidence)));
    if (price === null || (price.currency === null && !/\d[.,]\d\d\b/.test(text) && !price.isAmbiguous))
      continue;
    const before = old ?? list ?? price.listPrice ?? oldPriceNear(evidence, node);
    return { price, list: before !== null && before > price.amount ? before : null };
  }
  const [first] = nodes;
  if (first === undefined) return null;
  const price = readPrice(elementText(tree, first, 200), evidence.context(pageCurrency(evidence)));
  return price === null || price.currency === null ? null : { price, list: price.listPrice };
}

export function pageCurrency(evidence: TypedEvidence): string | undefined {
  const said = evidence.openGraph('product:price:currency') ?? evidence.openGraph('price:currency');
  return said?.trim() || undefined;
}

function markOf({ markup }: TypedEvidence, node: number): string {
  return ` ${markup.attribute(node, 'class') ?? ''} ${markup.attribute(node, 'id') ?? ''} `.toLowerCase();
}

function isOld(evidence: TypedEvidence, node: number): boolean {
  const name = evidence.markup.tree.name(node);
  return name === 'del' || name === 's' || name === 'strike' || OLD_PRICE.test(markOf(evidence, node));
}

function oldPriceIn(evidence: TypedEvidence, node: number): number | null {
  const { tree } = evidence.markup;
  const end = tree.ends[node] as number;
  for (let at = node; at < end; at++) {
    if (tree.isText(at) || !isOld(evidence, at)) continue;
    return readPrice(elementText(tree, at, 100), evidence.context(pageCurrency(evidence)))?.amount ?? null;
  }
  return null;
}

/** The crossed-out price beside the current one. */
function oldPriceNear(evidence: TypedEvidence, node: number): number | null {
  const { tree } = evidence.markup;
  const parent = tree.parents[node] as number;
  return parent > 0 && (tree.ends[parent] as number) - parent < 60 ? oldPriceIn(evidence, parent) : null;
}

function textWithoutOld(evidence: TypedEvidence, node: number): string {
  const { tree } = evidence.markup;
  for (let up = node; up > 0; up = tree.parents[up] as number) if (isOld(evidence, up)) return '';
  const end = tree.ends[node] as number;
  let text = '';
  for (let at = node + 1; at < end && text.length < 400; ) {
    if (!tree.isText(at) && isOld(evidence, at)) {
      at = Math.max(at + 1, tree.ends[at] as number);
      text += ' ';
      continue;
    }
    if (tree.tags[at] === TEXT) text += tree.text(at);
    at++;
  }
  return text.replace(/\s+/g, ' ').trim();
}

export function readProductMarkup(evidence: TypedEvidence, draft: Draft<ProductFields>): void {
  const { markup } = evidence;
  const heading = markup.text(markup.heading);
  const named = markup.textNamed(NAME, 300);
  draft.give(
    'name',
    named ?? heading,
    'markup',
    heading !== null && (named === null || named === heading) ? 0.75 : 0.6,
  );
  const shown = visiblePrice(evidence);
  if (shown !== null) {
    givePrice(draft, shown.price, 'markup', 0.7);
    draft.give('listPrice', shown.list, 'markup', 0.6);
    draft.give('highPrice', shown.price.max, 'markup', 0.6);
  }
  draft.give('sku', skuOf(markup.textNamed(SKU, 100)), 'markup', 0.7);
  draft.give(
    'brand',
    markup.textNamed(BRAND, 100)?.replace(/^(?:brand|vendor|manufacturer|hersteller|marque)\s*:?\s*/i, ''),
    'markup',
    0.6,
  );
  readSupply(evidence, draft);
  draft.give('description', markup.textNamed(DESCRIPTION, 20_000), 'markup', 0.6);
  const gallery = markup.firstNamed(GALLERY);
  if (gallery !== null) draft.give('images', picturesIn(markup, gallery), 'markup', 0.6);
  const rating = ratingText(evidence);
  if (rating !== null) {
    draft.give('rating', /\d+(?:[.,]\d+)?/.exec(rating)?.[0]?.replace(',', '.'), 'markup', 0.6);
    draft.give('bestRating', /(?:out of|von|sur|of|\/)\s*(\d+)/i.exec(rating)?.[1], 'markup', 0.6);
  }
  draft.give('reviewCount', /\d[\d.,]*/.exec(markup.textNamed(REVIEWS, 100) ?? '')?.[0], 'markup', 0.6);
  draft.give('attributes', attributeRows(markup), 'markup', 0.6);
}

function readSupply(evidence: TypedEvidence, draft: Draft<ProductFields>): void {
  const { markup } = evidence;
  for (const node of markup.named(STOCK).slice(0, 10)) {
    const said = parseAvailability(elementText(markup.tree, node, 100));
    if (said !== null) draft.give('availability', said, 'markup', 0.7);
  }
  const [button] = cartButtons(evidence);
  if (button === undefined) return;
  const text = elementText(markup.tree, button, 80) || (markup.attribute(button, 'value') ?? '');
  const isOff = markup.attribute(button, 'disabled') !== null;
  const said = parseAvailability(text);
  if (isOff)
    draft.give('availability', said === null || said === 'InStock' ? 'OutOfStock' : said, 'markup', 0.5);
  else draft.give('availability', 'InStock', 'markup', 0.55);
}

function ratingText({ markup }: TypedEvidence): string | null {
  for (const node of markup.named(RATING).slice(0, 10)) {
    const text = `${markup.attribute(node, 'aria-label') ?? ''} ${markup.attribute(node, 'title') ?? ''} ${elementText(markup.tree, node, 100)}`;
    if (/\d\s*(?:out of|\/|von|sur|of)\s*\d/i.test(text)) return text;
  }
  return null;
}

function skuOf(text: string | null): string | null {
  return text === null ? null : text.replace(/^[^:#]{0,30}[:#]\s*/, '').split(' ')[0] || null;
}

/** Reads facts from the text of the product section. */
export function readProductText(evidence: TypedEvidence, draft: Draft<ProductFields>): void {
  const { markup } = evidence;
  const { tree } = markup;
  const [main] = markup.tagged('main');
  const text = elementText(tree, main ?? 0, 20_000);
  draft.give('sku', LABELLED_SKU.exec(text)?.[1], 'text', 0.5);
  draft.give('gtin', LABELLED_GTIN.exec(text)?.[1], 'text', 0.5);
  draft.give('mpn', LABELLED_MPN.exec(text)?.[1], 'text', 0.5);
  if (draft.has('price') || cartButtons(evidence).length === 0) return;
  const price = priceNearHeading(evidence);
  if (price === null) return;
  givePrice(draft, price, 'text', 0.5);
  draft.give('listPrice', price.listPrice, 'text', 0.4);
}

/** For pages without a price class: the first short text after the heading that is a price with a currency. */
export function priceNearHeading(evidence: TypedEvidence): Price | null {
  const { markup } = evidence;
  const { tree } = markup;
  const from = markup.heading ?? 0;
  for (let node = from; node < Math.min(tree.count, from + NEAR); node++) {
    if (!tree.isText(node) || markup.isAside(node)) continue;
    const text = tree.text(node).trim();
    if (text.length < 2 || text.length > 40 || !/\d/.test(text)) continue;
    const price = readPrice(text, evidence.context(pageCurrency(evidence)));
    if (price !== null && price.per === null && likelyCurrency(price) !== null) return price;
  }
  return null;
}

/** The currency of a price; for a shared symbol, the likeliest. */
function likelyCurrency(price: Price): string | null {
  return price.currency ?? price.ambiguity?.currencies[0] ?? null;
}

function givePrice(
  draft: Draft<ProductFields>,
  price: Price,
  source: 'markup' | 'text',
  confidence: number,
): void {
  const isUnsure = (price.ambiguity?.amounts.length ?? 0) > 1;
  draft.give('price', price.amount, source, isUnsure ? confidence - 0.25 : confidence);
  draft.give('currency', likelyCurrency(price), source, price.currency === null ? 0.4 : confidence);
}
