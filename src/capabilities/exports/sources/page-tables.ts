import type { Page, PageMetadata, PageRecord, StructuredItem } from '../../../core/model/page.ts';
import { offerOfPage } from '../../../extract/types/product/offer-of-page.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Cell, Column, ColumnType, ExportPage, PageSource, Row, Table } from '../table.ts';

/** What of the page is in none of its results, in sentences; null when everything is. */
export const warningsOf = ({ warnings = [] }: Pick<PageRecord, 'warnings'>): string | null =>
  warnings.length === 0 ? null : warnings.map(({ message }) => message).join(' ');

/** A column of a table of pages, and where its value comes from. */
export interface PageColumn<T> extends Column {
  readonly read: (page: T) => Cell | undefined;
}

/** A batch of rows ends with the first of these, because a cell may hold a whole page. */
const ROWS_AT_ONCE = 500;
const CHARS_AT_ONCE = 1_048_576;

export const column = <T>(
  name: string,
  type: ColumnType,
  read: (page: T) => Cell | undefined,
): PageColumn<T> => ({ name, type, read });

/** A table with one row for each page, or for each of what `rowsOf` makes of a page. */
export function pageTable<T>(
  columns: readonly PageColumn<T>[],
  pages: PageSource,
  rowsOf: (page: ExportPage) => Iterable<T> | Promise<Iterable<T>>,
): Table {
  return {
    columns: columns.map(({ name, type }) => ({ name, type })),
    async *rows() {
      let batch: Row[] = [];
      let chars = 0;
      for await (const page of pages()) {
        for (const each of await rowsOf(page)) {
          const row = columns.map(({ read }) => read(each) ?? null);
          batch.push(row);
          for (const cell of row) chars += typeof cell === 'string' ? cell.length : 0;
          if (batch.length < ROWS_AT_ONCE && chars < CHARS_AT_ONCE) continue;
          yield batch;
          batch = [];
          chars = 0;
        }
      }
      if (batch.length > 0) yield batch;
    },
  };
}

/** A text, or null where it is empty or no text. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

interface FullPage extends ExportPage {
  readonly product: ProductFacts;
}

/** Separates the values of one cell. */
const CRUMB = ' > ';
const PIPE = '|';

/** Deeper structures are not looked into. */
const MOST_LEVELS = 6;

export const h1Of = ({ record }: ExportPage): string | null =>
  record.metadata?.headings.find(({ level }) => level === 1)?.text ?? null;

const joined = (values: readonly string[], by: string): string | null =>
  values.length === 0 ? null : values.join(by);

/**
 * The columns of `full`. The first sixteen are promised, in this order; columns are only ever added behind the last. Every
 * value depends on the page alone, and not on the way that led the crawl there.
 */
const FULL_COLUMNS = [
  column<FullPage>('url', 'string', ({ page }) => page.url),
  column<FullPage>('final_url', 'string', ({ page }) => page.finalUrl),
  column<FullPage>('http_status', 'integer', ({ page }) => page.statusCode),
  column<FullPage>('fetched_at', 'timestamp', ({ page }) => isoTime(page.fetchedAt)),
  column<FullPage>('title', 'string', ({ page }) => page.title),
  column<FullPage>('h1', 'string', h1Of),
  column<FullPage>('price', 'number', ({ product }) => product.price),
  column<FullPage>('currency', 'string', ({ product }) => product.currency),
  column<FullPage>('availability', 'string', ({ product }) => product.availability),
  column<FullPage>('sku', 'string', ({ product }) => product.sku),
  column<FullPage>('brand', 'string', ({ product }) => product.brand),
  column<FullPage>('category', 'string', ({ product }) => product.category),
  column<FullPage>('breadcrumbs', 'string', ({ product }) => joined(product.breadcrumbs, CRUMB)),
  column<FullPage>('images', 'string', (page) => joined(imageUrls(page), PIPE)),
  column<FullPage>('attrs_json', 'string', ({ product }) =>
    product.attributes === null ? null : JSON.stringify(product.attributes),
  ),
  column<FullPage>('text_hash', 'string', ({ page }) => page.textHash),
  column<FullPage>('content_type', 'string', ({ page }) => page.contentType),
  column<FullPage>('language', 'string', ({ record }) => textOf(record.metadata?.language)),
  column<FullPage>('content_hash', 'string', ({ page }) => page.contentHash),
  column<FullPage>('bytes', 'integer', ({ page }) => page.bytes),
  column<FullPage>('extracted_type', 'string', ({ record }) => record.extractedType),
  column<FullPage>('error_code', 'string', ({ page }) => page.errorCode),
  column<FullPage>('warnings', 'string', ({ record }) => warningsOf(record)),
];

/** Pictures of the product, or for previews; of a page that names none, all pictures. */
function imageUrls({ product, record }: FullPage): readonly string[] {
  if (product.images.length > 0) return product.images;
  return [...new Set(record.metadata?.images.map(({ url }) => url) ?? [])];
}

export const fullTable = (pages: PageSource) =>
  pageTable(FULL_COLUMNS, pages, (page) => [{ ...page, product: productFacts(page.record, page.page) }]);

const og = ({ record }: ExportPage, name: string): string | null =>
  textOf([record.metadata?.openGraph[name]].flat()[0]);
const twitter = ({ record }: ExportPage, name: string): string | null =>
  textOf(record.metadata?.twitter[name]);
const lengthOf = (text: string | null | undefined): number | null => text?.length ?? null;

const linksOf = ({ page, record }: ExportPage, isInternal: boolean): number => {
  const host = hostOf(page.finalUrl);
  return record.links.filter(({ url, from }) => from === 'a' && (hostOf(url) === host) === isInternal).length;
};
const hostOf = (url: string): string | null => URL.parse(url)?.host ?? null;

const headingsOf = (headings: readonly { readonly level: number }[] | undefined, wanted: number) =>
  headings?.filter(({ level }) => level === wanted).length;

/**
 * The columns of `seo`. The first fourteen are promised, in this order; columns are only ever added behind the last.
 */
const SEO_COLUMNS = [
  column<ExportPage>('url', 'string', ({ page }) => page.url),
  column<ExportPage>('fetched_at', 'timestamp', ({ page }) => isoTime(page.fetchedAt)),
  column<ExportPage>('title', 'string', ({ page }) => page.title),
  column<ExportPage>('meta_description', 'string', ({ record }) => record.metadata?.description),
  column<ExportPage>('h1', 'string', h1Of),
  column<ExportPage>('og_title', 'string', (page) => og(page, 'title')),
  column<ExportPage>('og_description', 'string', (page) => og(page, 'description')),
  column<ExportPage>('og_image', 'string', (page) => og(page, 'image')),
  column<ExportPage>('twitter_title', 'string', (page) => twitter(page, 'title')),
  column<ExportPage>('twitter_description', 'string', (page) => twitter(page, 'description')),
  column<ExportPage>('canonical', 'string', ({ record }) => record.metadata?.canonical),
  column<ExportPage>('robots', 'string', ({ record }) => record.metadata?.robots),
  column<ExportPage>('hreflang', 'string', ({ record }) =>
    textOf(record.metadata?.hreflang.map(({ lang, url }) => `${lang}=${url}`).join('|')),
  ),
  column<ExportPage>('images_alt_joined', 'string', ({ record }) =>
    textOf(
      record.metadata?.images
        .map(({ alt }) => alt.trim())
        .filter((alt) => alt !== '')
        .join('|'),
    ),
  ),
  column<ExportPage>('final_url', 'string', ({ page }) => page.finalUrl),
  column<ExportPage>('http_status', 'integer', ({ page }) => page.statusCode),
  column<ExportPage>('title_length', 'integer', ({ page }) => lengthOf(page.title)),
  column<ExportPage>('meta_description_length', 'integer', ({ record }) =>
    lengthOf(record.metadata?.description),
  ),
  column<ExportPage>('h1_count', 'integer', ({ record }) => headingsOf(record.metadata?.headings, 1)),
  column<ExportPage>('h2_count', 'integer', ({ record }) => headingsOf(record.metadata?.headings, 2)),
  column<ExportPage>('language', 'string', ({ record }) => textOf(record.metadata?.language)),
  column<ExportPage>('images', 'integer', ({ record }) => record.metadata?.images.length),
  column<ExportPage>(
    'images_without_alt',
    'integer',
    ({ record }) => record.metadata?.images.filter(({ alt }) => alt.trim() === '').length,
  ),
  column<ExportPage>('internal_links', 'integer', (page) => linksOf(page, true)),
  column<ExportPage>('external_links', 'integer', (page) => linksOf(page, false)),
  column<ExportPage>('error_code', 'string', ({ page }) => page.errorCode),
];

export const seoTable = (pages: PageSource) => pageTable(SEO_COLUMNS, pages, (page) => [page]);

/** What a page says about a thing that it sells; null where it does not say. */
interface ProductFacts {
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
