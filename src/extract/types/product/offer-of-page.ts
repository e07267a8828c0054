import type { DeepRecord } from '../../../core/model/extraction.ts';
import type { PageMetadata, StructuredItem } from '../../../core/model/page.ts';
import { type DataItem, ItemGraph, nameOf, type ReadItems } from '../../structured/item.ts';
import { readJsonLdItems } from '../../structured/json-ld.ts';
import { readStructured } from '../../structured/structured-view.ts';
import { buildTree } from '../../tree/tree-builder.ts';
import { extractTyped } from '../extract-typed.ts';

/** What a page asks for the one thing that it offers. Null where the page does not say. */
export interface Offer {
  readonly price: number | null;
  /** Code of ISO 4217, such as `EUR`. */
  readonly currency: string | null;
  /** As in schema.org: `InStock`, `OutOfStock` … */
  readonly availability: string | null;
}

export const NO_OFFER: Offer = { price: null, currency: null, availability: null };

/** What is stored of a page that an offer can be read from. */
export interface OfferSource {
  readonly url: string;
  readonly fetchedAt: number;
  readonly metadata: PageMetadata | null;
  readonly extracted?: DeepRecord['extracted'];
}

/** Less likely product pages are lists of products, and their prices those of the first one. */
const LEAST_PROBABILITY = 0.5;
const MOST_DEPTH = 12;
const EMPTY = buildTree('');

/**
 * The offer of a stored page: from its extracted fields, else from the structured data and Open Graph tags that are kept
 * with its metadata. The body is not read, so a price that stands in the text alone needs `extract`.
 */
export function offerOfPage(page: OfferSource): Offer {
  const own = offerIn(page.extracted ?? null);
  if (own !== null) return own;
  if (page.metadata === null || !hasOffer(page.metadata)) return NO_OFFER;
  const { value, confidence } = extractTyped(
    {
      tree: EMPTY,
      url: page.url,
      fetchedAt: page.fetchedAt,
      structured: structuredOf(page.metadata, page.url),
      contentText: () => '',
    },
    'product',
  );
  return confidence < LEAST_PROBABILITY ? NO_OFFER : (offerIn(value) ?? NO_OFFER);
}

function offerIn(value: Readonly<Record<string, unknown>> | null): Offer | null {
  if (value === null) return null;
  const { availability } = value;
  // Rules of the type `price` give an object with both.
  const { price, currency } = typeof value.price === 'object' ? amountOf(value.price) : value;
  const offer = {
    price: typeof price === 'number' ? price : null,
    currency: typeof currency === 'string' ? currency : null,
    availability: typeof availability === 'string' ? availability : null,
  };
  return offer.price === null && offer.availability === null ? null : offer;
}

const amountOf = (value: object | null): { price?: unknown; currency?: unknown } => {
  const { amount, currency } = (value ?? {}) as { amount?: unknown; currency?: unknown };
  return { price: amount, currency };
};

/** Most pages offer nothing, and need not be read for it. */
function hasOffer({ jsonLd, microdata, rdfa, openGraph }: PageMetadata): boolean {
  if (jsonLd.length > 0 || microdata.length > 0 || rdfa.length > 0) return true;
  return Object.keys(openGraph).some((name) => /(?:^|:)(?:price|availability)(?::|$)/.test(name));
}

function structuredOf(metadata: PageMetadata, url: string) {
  const parts = readStructured(EMPTY, url);
  const documents = metadata.jsonLd.filter(
    (each): each is object => typeof each === 'object' && each !== null,
  );
  const roots = [
    readJsonLdItems(documents, parts.marks.base),
    itemsOf(metadata.microdata, 'microdata'),
    itemsOf(metadata.rdfa, 'rdfa'),
  ].flatMap((read) => read.roots);
  const openGraph = new Map(
    Object.entries(metadata.openGraph).map(([name, value]) => [
      name,
      typeof value === 'string' ? [value] : value,
    ]),
  );
  return { ...parts, roots, head: { ...parts.head, openGraph } };
}

/** Items as a page was read, from how they are stored. */
function itemsOf(stored: readonly StructuredItem[], source: 'microdata' | 'rdfa'): ReadItems {
  const graph = new ItemGraph(source);
  const read = (item: StructuredItem, depth: number): DataItem | null => {
    const found = depth === 0 ? null : graph.own(item.id ?? null);
    if (found === null) return null;
    found.types.push(...item.type.map(nameOf));
    for (const [name, values] of Object.entries(item.properties)) {
      for (const value of values) {
        const inner = typeof value === 'string' ? value : read(value, depth - 1);
        if (inner !== null) graph.add(found, nameOf(name), inner);
      }
    }
    return found;
  };
  for (const item of stored) {
    const root = read(item, MOST_DEPTH);
    if (root !== null) graph.addRoot(root);
  }
  return { roots: graph.finish(), isTruncated: graph.isTruncated };
}
