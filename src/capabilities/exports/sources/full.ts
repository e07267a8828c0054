import type { ExportPage, PageSource } from '../table.ts';
import { column, isoOf, pageTable, textOf, warningsOf } from './page-table.ts';
import { type ProductFacts, productFacts } from './product-facts.ts';

interface FullPage extends ExportPage {
  readonly product: ProductFacts;
}

/** Separates the values of one cell. */
const CRUMB = ' > ';
const PIPE = '|';

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
  column<FullPage>('fetched_at', 'timestamp', ({ page }) => isoOf(page.fetchedAt)),
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
  column<ExportPage>('fetched_at', 'timestamp', ({ page }) => isoOf(page.fetchedAt)),
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
