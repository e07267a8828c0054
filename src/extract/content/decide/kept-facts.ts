import { type Block, headingLevel, squeeze } from '../features/blocks.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence, PageSignals } from '../features/evidence.ts';
import { HINT_BITS, TOPIC_NAMES } from '../features/word-lists.ts';
import { PAGE_TYPES } from '../model/model.ts';
import type { Structure } from './structures.ts';
import { blocksWithin, isOther } from './whole-structures.ts';

const MOST_WORDS = 40;
const MOST_OBJECTS = 5;
const AWAY =
  ELEMENT_FLAG.nav | ELEMENT_FLAG.footer | ELEMENT_FLAG.aside | ELEMENT_FLAG.dialog | ELEMENT_FLAG.unseen;
const BODY = ELEMENT_FLAG.main | ELEMENT_FLAG.article;

const TITLED = [PAGE_TYPES.indexOf('article'), PAGE_TYPES.indexOf('forum')];
const TITLED_CHANCE = 0.5;
/** In articles and threads a heading with a lower score is the title alone. */
const LEAST_TITLE_SUM = -2.2;

/**
 * The heading of the page introduces its content and belongs to it. Articles and threads have their title beside their
 * content; there the scores decide. Changes `isKept`.
 */
export function keepPageHeading(
  evidence: ContentEvidence,
  types: ArrayLike<number>,
  sums: Float64Array,
  isKept: Uint8Array,
): void {
  const heading = pageHeading(evidence);
  if (heading < 0 || isKept.indexOf(1, heading + 1) < 0) return;
  const titled = TITLED.reduce((sum, type) => sum + (types[type] ?? 0), 0);
  if (titled >= TITLED_CHANCE && (sums[heading] as number) < LEAST_TITLE_SUM) return;
  // A heading may have several lines.
  const { container } = evidence.blocks[heading] as Block;
  for (let index = heading; evidence.blocks[index]?.container === container; index++) isKept[index] = 1;
}

/** The place of the block with the heading of the page; -1 without one. */
function pageHeading({ tree, blocks, shape, signals }: ContentEvidence): number {
  const titles = titlesOf(signals)
    .map(squeeze)
    .filter((title) => title !== '');
  const site = squeeze(signals.meta.get('og:site_name') ?? '');
  let only = -1;
  let count = 0;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    if (headingLevel(tree, block) !== 1 || block.words > MOST_WORDS) continue;
    const around = shape.flagsAround[block.container] as number;
    if ((around & AWAY) !== 0) continue;
    const text = squeeze(block.text);
    // The heading of a site, in its header, stands on every page.
    const isInBody = (around & BODY) !== 0;
    const isOfSite =
      text === site || ((around & ELEMENT_FLAG.header) !== 0 && !isInBody && block.linkWords > 0);
    if (text === '' || isOfSite) continue;
    if (titles.some((title) => title.includes(text) || text.includes(title))) return index;
    if (isInBody || (around & ELEMENT_FLAG.header) === 0) {
      count++;
      only = index;
    }
  }
  return count === 1 ? only : -1;
}

/** The titles that a page gives itself, and the names of what it is about. */
function titlesOf({ title, meta, objects }: PageSignals): string[] {
  const about = objects.slice(0, MOST_OBJECTS).flatMap(({ value }) => [value.headline, value.name]);
  return [title, meta.get('og:title'), meta.get('twitter:title'), ...about].filter(
    (name) => typeof name === 'string',
  );
}

const PRODUCT = PAGE_TYPES.indexOf('product');
const PRODUCT_CHANCE = 0.5;
const PRODUCT_TYPES = new Set(['product', 'productgroup', 'individualproduct']);

const OTHER_PRODUCTS = HINT_BITS.related | HINT_BITS.promo | HINT_BITS.review | HINT_BITS.nav;

/** A price stands near the name: within so many blocks after it, or a few before. */
const PRICE_AFTER = 60;
const PRICE_BEFORE = 10;
const PRICE_WORDS = 12;
const PRICE =
  /(?:[$€£¥₹₽₩₺₪฿]|\b(?:USD|EUR|GBP|CHF|CAD|AUD|JPY|INR|PLN|SEK|NOK|DKK|kr|zł|Kč|Ft|lei|TL|R\$))\s?\d|\d\s?(?:[$€£¥₹₽₩₺₪฿]|\b(?:USD|EUR|GBP|CHF|CAD|AUD|PLN|SEK|NOK|DKK|kr|Kč|Ft|lei|TL)\b|zł|,-)/;

/** "Add to cart", "Buy now": a short text with a word of a cart. */
const CART = TOPIC_NAMES.indexOf('cart');
const CART_WORDS = 5;

/** Headings above technical data. */
const SPECIFICATION =
  /\b(?:spec(?:ification)?s?|technical|tech specs|dimensions|product (?:details|information|data)|details|technische|produktdetails|eigenschaften|abmessungen|caractéristiques|fiche technique|especificaciones|características|ficha técnica|scheda tecnica|caratteristiche|specificaties|kenmerken|specyfikacja|parametry|технические|характеристики)(?![\p{L}])/iu;
/** Scores below which a price, or all of a specification, is of something else on the page. */
const LEAST_PRICE_SUM = -3;
const LEAST_SPECIFICATION_SUM = -0.5;
const HEADING_WORDS = 8;
const LINK_SHARE = 0.5;

/** On the page of a product (by its data, by its type, or with a price and a cart beside its name) its price and its specification are content, beside its name. Changes `isKept`. */
export function keepProductFacts(
  evidence: ContentEvidence,
  types: ArrayLike<number>,
  structures: readonly Structure[],
  sums: Float64Array,
  isKept: Uint8Array,
): void {
  if (!isKept.includes(1)) return;
  const name = pageHeading(evidence);
  if (name < 0) return;
  const price = priceNear(evidence, name);
  const isSold = price >= 0 && hasCart(evidence, name);
  if (!isSold && !isProductPage(evidence.signals, types)) return;
  if (price >= 0 && (sums[price] as number) > LEAST_PRICE_SUM) keepPrice(evidence, price, isKept);
  keepSpecifications(evidence, name, structures, sums, isKept);
}

/** Said by the data of the page, or by the model where the page has none. */
function isProductPage({ objects, meta }: PageSignals, types: ArrayLike<number>): boolean {
  if ((types[PRODUCT] ?? 0) >= PRODUCT_CHANCE) return true;
  if (/^(?:og:)?product(?:\.item)?$/i.test(meta.get('og:type') ?? '')) return true;
  const first = objects.find((object) => object.types.some((type) => PRODUCT_TYPES.has(type)));
  return first?.value.offers !== undefined && !objects.some((object) => object.types.includes('itemlist'));
}

/** The place of the price beside the name; -1 without one. */
function priceNear(evidence: ContentEvidence, name: number): number {
  for (let index = name + 1; index <= name + PRICE_AFTER; index++) if (isPrice(evidence, index)) return index;
  for (let index = name - 1; index >= name - PRICE_BEFORE; index--)
    if (isPrice(evidence, index)) return index;
  return -1;
}

function isPrice({ blocks, shape }: ContentEvidence, index: number): boolean {
  const block = blocks[index];
  if (block === undefined || block.words > PRICE_WORDS || !PRICE.test(block.text)) return false;
  const hints = shape.hintsAround[block.container] as number;
  const flags = shape.flagsAround[block.container] as number;
  // The prices in a list are of other products.
  return (flags & (AWAY | ELEMENT_FLAG.item)) === 0 && (hints & OTHER_PRODUCTS) === 0;
}

/** True when a button near the name puts something into a cart. */
function hasCart({ blocks, elements }: ContentEvidence, name: number): boolean {
  return blocks.slice(name, name + PRICE_AFTER).some((block) => {
    const isButton = ((elements.flags[block.container] as number) & ELEMENT_FLAG.button) !== 0;
    return isButton && block.words <= CART_WORDS && (block.topics[CART] as number) > 0;
  });
}

/** Keeps a price and the old one beside it. */
function keepPrice(evidence: ContentEvidence, price: number, isKept: Uint8Array): void {
  const { tree, blocks } = evidence;
  const { container } = blocks[price] as Block;
  const end = tree.ends[tree.parents[container] as number] as number;
  for (let index = price; index < price + PRICE_BEFORE && isPrice(evidence, index); index++) {
    if ((blocks[index] as Block).first < end) isKept[index] = 1;
  }
}

function keepSpecifications(
  evidence: ContentEvidence,
  name: number,
  structures: readonly Structure[],
  sums: Float64Array,
  isKept: Uint8Array,
): void {
  const { tree, blocks, shape } = evidence;
  let at = 0;
  let heading: Block | null = null;
  for (const structure of structures) {
    const { root, isPlain } = structure;
    for (; at < blocks.length && (blocks[at] as Block).first < root; at++) {
      if (headingLevel(tree, blocks[at] as Block) > 0) heading = blocks[at] as Block;
    }
    if (!isPlain || at < name || !isSpecification(evidence, structure, heading)) continue;
    if ((shape.linkWords[root] as number) > (shape.words[root] as number) * LINK_SHARE) continue;
    const { from, to } = blocksWithin(evidence, root);
    if (!sums.subarray(from, to).some((sum) => sum > LEAST_SPECIFICATION_SUM)) continue;
    for (let index = from; index < to; index++) {
      if (!isOther(evidence, structure, index)) isKept[index] = 1;
    }
  }
}

function isSpecification(
  { shape }: ContentEvidence,
  { kind, root }: Structure,
  heading: Block | null,
): boolean {
  const flags = shape.flagsAround[root] as number;
  const hints = shape.hintsAround[root] as number;
  if ((flags & AWAY) !== 0 || (hints & OTHER_PRODUCTS) !== 0) return false;
  const isHeaded = heading !== null && heading.words <= HEADING_WORDS && SPECIFICATION.test(heading.text);
  return isHeaded || (kind !== 'list' && (hints & HINT_BITS.details) !== 0);
}
