import type { Page, PageMetadata, PageRecord, StructuredItem } from '../../../core/model/page.ts';
import { offerOfPage } from '../../../extract/types/product/offer-of-page.ts';
import { textOf } from './page-table.ts';

/** What a page says about a thing that it sells; null where it does not say. */
export interface ProductFacts {
  readonly price: number | null;
  readonly currency: string | null;
  readonly availability: string | null;
  readonly sku: string | null;
  readonly brand: string | null;
  readonly category: string | null;
  readonly breadcrumbs: readonly string[];
  readonly images: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Deeper structures are not looked into. */
const MOST_LEVELS = 6;

/**
 * What was extracted counts first, because it is normalized. Where nothing was extracted, the structured data of the page
 * speaks for itself: JSON-LD, microdata, Open Graph.
 */
export function productFacts(
  { extracted, extractedType, metadata }: PageRecord,
  { finalUrl, fetchedAt }: Pick<Page, 'finalUrl' | 'fetchedAt'>,
): ProductFacts {
  const typed = extractedType === undefined || extractedType === 'product' ? (extracted ?? {}) : {};
  const items = metadata === null ? [] : itemsOf(metadata);
  const product = items.find((item) => isOf(item, /^(?:Product|ProductGroup|Vehicle|Book)$/)) ?? {};
  const og = metadata?.openGraph ?? {};
  const ogText = (name: string) => textOf([og[name]].flat()[0]);
  const meta = (name: string) => ogText(name) ?? textOf(metadata?.meta[name]);
  return {
    ...offerOfPage({ url: finalUrl, fetchedAt, metadata, extracted: typed }),
    sku: firstText(typed.sku, product.sku),
    brand: firstText(nameOf(typed.brand), nameOf(product.brand), meta('product:brand')),
    category: firstText(typed.category, nameOf(product.category), meta('product:category')),
    breadcrumbs: crumbsOf(typed.breadcrumbs) ?? crumbsOfItems(items),
    images: (imagesOf(typed.images) ?? imagesOf(product.image) ?? imagesOf(og.image) ?? []).map(
      (image) => URL.parse(image, finalUrl)?.href ?? image,
    ),
    attributes: attributesOf(typed.attributes ?? product.additionalProperty),
  };
}

/** Items of JSON-LD and microdata, one like the other, with those that they hold in a graph. */
function itemsOf({ jsonLd, microdata }: PageMetadata): readonly Fields[] {
  const found: Fields[] = [];
  const look = (value: unknown, level: number): void => {
    if (level > MOST_LEVELS || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) look(each, level + 1);
      return;
    }
    found.push(value as Fields);
    for (const name of ['@graph', 'mainEntity', 'itemListElement']) look((value as Fields)[name], level + 1);
  };
  look(jsonLd, 0);
  for (const item of microdata) found.push(plainItem(item, 0));
  return found;
}

/** Microdata holds a list of values for every property; the first one stands for it, but for pictures and crumbs. */
function plainItem({ type, properties }: StructuredItem, level: number): Fields {
  const plain = (value: string | StructuredItem) =>
    typeof value === 'string' ? value : level > MOST_LEVELS ? null : plainItem(value, level + 1);
  const fields = Object.entries(properties).map(([name, values]) => {
    const each = values.map(plain);
    return [name, each.length === 1 ? each[0] : each] as const;
  });
  return { '@type': type, ...Object.fromEntries(fields) };
}

const isOf = (item: Fields, type: RegExp): boolean =>
  [item['@type']].flat().some((name) => typeof name === 'string' && type.test(lastPart(name) ?? ''));

const field = (value: unknown): Fields => {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'object' && first !== null ? (first as Fields) : {};
};

/** Returns the name at the end of a schema.org address: `InStock` for `https://schema.org/InStock`. */
const lastPart = (value: unknown): string | null =>
  textOf(
    String(value ?? '')
      .split(/[/#]/)
      .at(-1),
  );

const nameOf = (value: unknown): unknown => (typeof value === 'object' ? field(value).name : value);

function firstText(...values: readonly unknown[]): string | null {
  for (const value of values) {
    const text = typeof value === 'number' ? String(value) : textOf(value);
    if (text !== null) return text;
  }
  return null;
}

function crumbsOf(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  return value.flatMap((crumb) => firstText(nameOf(crumb), nameOf(field(crumb).item)) ?? []);
}

function crumbsOfItems(items: readonly Fields[]): readonly string[] {
  const list = items.find((item) => isOf(item, /^BreadcrumbList$/));
  return crumbsOf(list?.itemListElement) ?? [];
}

function imagesOf(value: unknown): readonly string[] | null {
  const urls = [value]
    .flat()
    .flatMap((each) => firstText(typeof each === 'object' ? field(each).url : each) ?? []);
  return urls.length === 0 ? null : urls;
}

function attributesOf(value: unknown): Fields | null {
  if (Array.isArray(value)) {
    const named = value.flatMap((each) => {
      const name = textOf(field(each).name);
      return name === null ? [] : [[name, field(each).value ?? null] as const];
    });
    return named.length === 0 ? null : Object.fromEntries(named);
  }
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? (value as Fields)
    : null;
}
