import { rawTextOf } from '../../jobs/page-result.ts';
import type { ExportPage, PageSource } from '../table/export-page.ts';
import { column, isoOf, pageTable } from './page-table.ts';

interface RawPage extends ExportPage {
  readonly html: string | null;
}

const RAW_COLUMNS = [
  column<RawPage>('url', 'string', ({ page }) => page.url),
  column<RawPage>('final_url', 'string', ({ page }) => page.finalUrl),
  column<RawPage>('http_status', 'integer', ({ page }) => page.statusCode),
  column<RawPage>('fetched_at', 'timestamp', ({ page }) => isoOf(page.fetchedAt)),
  column<RawPage>('content_type', 'string', ({ page }) => page.contentType),
  column<RawPage>('charset', 'string', ({ page }) => page.charset),
  column<RawPage>('depth', 'integer', ({ page }) => page.depth),
  column<RawPage>('bytes', 'integer', ({ page }) => page.bytes),
  column<RawPage>('content_hash', 'string', ({ page }) => page.contentHash),
  column<RawPage>('text_hash', 'string', ({ page }) => page.textHash),
  column<RawPage>('etag', 'string', ({ page }) => page.etag),
  column<RawPage>('last_modified', 'string', ({ page }) => page.lastModified),
  column<RawPage>('title', 'string', ({ page }) => page.title),
  column<RawPage>('duplicate_of', 'string', ({ page }) => page.duplicateOf),
  column<RawPage>('error_code', 'string', ({ page }) => page.errorCode),
  column<RawPage>('error_message', 'string', ({ page }) => page.errorMessage),
  column<RawPage>('record', 'json', ({ record }) => JSON.stringify(record)),
  column<RawPage>('html', 'string', ({ html }) => html),
];

/** Every stored page with what was read out of it and, of a text, the body as it is stored. */
export const rawTable = (pages: PageSource) =>
  pageTable(RAW_COLUMNS, pages, async (page) => {
    const body = await page.body();
    return [{ ...page, html: body === null ? null : rawTextOf(page.page, body) }];
  });
