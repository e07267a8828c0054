import type { ExportPage, PageSource } from '../table/export-page.ts';
import { h1Of } from './full.ts';
import { column, isoOf, pageTable, textOf } from './page-table.ts';

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

const headingsOf = (headings: readonly { readonly level: number }[] | undefined, wanted: number) =>
  headings?.filter(({ level }) => level === wanted).length;

export const seoTable = (pages: PageSource) => pageTable(SEO_COLUMNS, pages, (page) => [page]);
