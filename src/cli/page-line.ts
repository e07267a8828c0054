import { ERRORS } from '../errors/registry.ts';
import { readPage } from '../jobs/page-result.ts';
import type { Page } from '../model/page.ts';
import { unpackRecord } from '../model/page-record.ts';
import type { LedgerEntry } from '../model/task.ts';
import type { Blobs } from '../ports/blobs.ts';

const NEWLINE = Buffer.from('\n');
const EMPTY_RECORD = Buffer.from('"metadata":null,"links":[]}');

/**
 * The line of a stored page: its row, then its record as it was stored. The record is JSON already, so it is put
 * behind the row's fields unread; parsing and writing it again would cost more than all the rest.
 */
export function pageLine(page: Page, rawHtml: string | null | undefined): Buffer[] {
  const row: Record<string, unknown> = {
    url: page.url,
    finalUrl: page.finalUrl,
    statusCode: page.statusCode,
    depth: page.depth,
    fetchedAt: new Date(page.fetchedAt).toISOString(),
    contentType: page.contentType,
    charset: page.charset,
    contentHash: page.contentHash,
    textHash: page.textHash,
    bytes: page.bytes,
    title: page.title,
    duplicateOf: page.duplicateOf,
  };
  if (rawHtml !== undefined) row.rawHtml = rawHtml;
  if (page.errorCode !== null) {
    row.error = { code: page.errorCode, message: page.errorMessage ?? page.errorCode };
  }
  const record = page.record === null ? EMPTY_RECORD : unpackRecord(page.record).subarray(1);
  return [Buffer.from(`${JSON.stringify(row).slice(0, -1)},`), record, NEWLINE];
}

/** The same with the body as it came, which is kept elsewhere. */
export async function pageLineWithBody(page: Page, blobs: Blobs): Promise<Buffer[]> {
  const { rawHtml } = await readPage(page, ['rawHtml'], blobs);
  return pageLine(page, rawHtml ?? null);
}

/** A URL that failed before anything was asked of its host has no page; its line comes from the ledger. */
export function failureLine(entry: LedgerEntry): string {
  const code = entry.errorCode ?? 'INTERNAL';
  const message = entry.attempts.at(-1)?.evidence ?? ERRORS[code].meaning;
  return `${JSON.stringify({
    url: entry.url,
    finalUrl: entry.url,
    statusCode: null,
    depth: entry.depth,
    fetchedAt: entry.finishedAt,
    contentType: null,
    charset: null,
    contentHash: null,
    textHash: null,
    bytes: 0,
    title: null,
    duplicateOf: null,
    error: { code, message, rule: entry.rule },
    metadata: null,
    links: [],
  })}\n`;
}

/** Pages of failed tasks are stored when an attempt was made; the rule says that. */
export function hasPage(entry: LedgerEntry): boolean {
  return entry.kind === 'page' && entry.rule?.startsWith('attempt.') === true;
}
