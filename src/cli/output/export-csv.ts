import type { PageResult } from '../../jobs/page-result.ts';

/** Each column and where its value comes from; lists of a page become their number, for the list itself take JSON. What was
 * extracted is one cell of JSON: every type and every set of rules has other fields. */
const COLUMNS: Readonly<Record<string, (page: PageResult) => string | number | null | undefined>> = {
  url: (page) => page.url,
  finalUrl: (page) => page.finalUrl,
  statusCode: (page) => page.statusCode,
  contentType: (page) => page.contentType,
  fetchedAt: (page) => page.fetchedAt,
  depth: (page) => page.depth,
  bytes: (page) => page.bytes,
  contentHash: (page) => page.contentHash,
  title: (page) => page.title,
  description: (page) => page.metadata?.description,
  language: (page) => page.metadata?.language,
  canonical: (page) => page.metadata?.canonical,
  robots: (page) => page.metadata?.robots,
  h1: (page) => page.metadata?.headings.find(({ level }) => level === 1)?.text,
  links: (page) => page.links?.length,
  images: (page) => page.metadata?.images.length,
  extractedType: (page) => page.extractedType,
  extracted: (page) => (page.extracted == null ? null : JSON.stringify(page.extracted)),
  duplicateOf: (page) => page.duplicateOf,
  errorCode: (page) => page.error?.code,
  errorMessage: (page) => page.error?.message,
};

/** RFC 4180: what could be taken for the end of a cell is put into quotes, quotes are doubled, lines end in CRLF. */
function cell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const CSV_HEAD = `${Object.keys(COLUMNS).join(',')}\r\n`;

export function csvRow(page: PageResult): string {
  return `${Object.values(COLUMNS)
    .map((read) => cell(read(page)))
    .join(',')}\r\n`;
}
