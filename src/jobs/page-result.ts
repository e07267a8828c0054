import type { ErrorCode } from '../errors/registry.ts';
import type { Format } from '../model/job.ts';
import type { Page, PageLink, PageMetadata, PageRecord } from '../model/page.ts';
import { unpackRecord } from '../model/page-record.ts';
import type { Blobs } from '../ports/blobs.ts';

/** A stored page as clients see it. Formats that were not asked for are left out; ones a page cannot have are null. */
export interface PageResult {
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly contentType: string | null;
  readonly fetchedAt: string;
  readonly depth: number;
  readonly bytes: number;
  readonly contentHash: string | null;
  readonly title: string | null;
  /** The URL whose page this one repeats, by rel=canonical. */
  readonly duplicateOf: string | null;
  readonly metadata?: PageMetadata | null;
  readonly links?: readonly PageLink[];
  readonly html?: string | null;
  readonly rawHtml?: string | null;
  readonly text?: string | null;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

const EMPTY_RECORD: PageRecord = { metadata: null, links: [] };

function readRecord(packed: Uint8Array | null): PageRecord {
  return packed === null ? EMPTY_RECORD : (JSON.parse(unpackRecord(packed).toString('utf8')) as PageRecord);
}

const TEXTUAL = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:xml|json|javascript|ecmascript|x-ndjson)\b)/i;

/** Null for what is not text, and when the blob is gone. */
async function readRawHtml(page: Page, blobs: Blobs): Promise<string | null> {
  if (page.contentHash === null) return null;
  if (page.contentType !== null && !TEXTUAL.test(page.contentType)) return null;
  const body = await blobs.get(page.contentHash);
  return body === null ? null : decoderFor(page.charset).decode(body);
}

function decoderFor(charset: string | null): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    // A label that nobody knows: most of such pages are UTF-8.
    return new TextDecoder('utf-8');
  }
}

const iso = (at: number) => new Date(at).toISOString();

export async function readPage(page: Page, formats: readonly Format[], blobs: Blobs): Promise<PageResult> {
  const has = (format: Format) => formats.includes(format);
  const needsRecord = has('metadata') || has('links') || has('html') || has('text');
  const record = needsRecord ? readRecord(page.record) : EMPTY_RECORD;
  return {
    url: page.url,
    finalUrl: page.finalUrl,
    statusCode: page.statusCode,
    contentType: page.contentType,
    fetchedAt: iso(page.fetchedAt),
    depth: page.depth,
    bytes: page.bytes,
    contentHash: page.contentHash,
    title: page.title,
    duplicateOf: page.duplicateOf,
    ...(has('metadata') ? { metadata: record.metadata } : {}),
    ...(has('links') ? { links: record.links } : {}),
    ...(has('html') ? { html: record.html ?? null } : {}),
    ...(has('rawHtml') ? { rawHtml: await readRawHtml(page, blobs) } : {}),
    ...(has('text') ? { text: record.text ?? null } : {}),
    ...(page.errorCode === null
      ? {}
      : { error: { code: page.errorCode, message: page.errorMessage ?? page.errorCode } }),
  };
}
