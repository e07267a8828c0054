import { hash } from 'node:crypto';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { RenderedRecord } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import { decodeText } from '../../extract/charset/charset.ts';
import type { PageReading, ReadRequest } from './page-reading.ts';
import { firstHeader, isTextual } from './read-page.ts';
import { responseRecord } from './response-record.ts';

/**
 * A page that arrived and cannot be read: its response is known, its body is to be stored as it is, and its content stays
 * unknown.
 */
export function unreadPage(
  { task, response, fetchedAt }: ReadRequest,
  error: unknown,
  rendered: RenderedRecord | null,
): Omit<PageReading, 'ms'> {
  const { headers, body, contentType, finalUrl, statusCode } = response;
  const code: ErrorCode = isScrapifieError(error) ? error.code : 'EXTRACTION_FAILED';
  const message = error instanceof Error ? error.message : String(error);
  return {
    page: {
      url: task.url,
      finalUrl,
      statusCode,
      contentType,
      charset: charsetOf(response),
      fetchedAt,
      depth: task.depth,
      contentHash: body.byteLength === 0 ? null : (hash('sha256', body, 'hex') as ContentHash),
      textHash: null,
      bytes: body.byteLength,
      title: null,
      etag: firstHeader(headers.etag),
      lastModified: firstHeader(headers['last-modified']),
      duplicateOf: null,
      errorCode: null,
      errorMessage: null,
      record: packRecord({
        ...(rendered === null ? {} : { rendered }),
        ...responseRecord(response, fetchedAt, { outcome: 'error', evidence: message }),
        metadata: null,
        links: [],
      }),
    },
    discovered: [],
    outcome: 'error',
    evidence: message,
    vendor: null,
    isNoindex: false,
    leadsTo: null,
    yield: { textLength: 0, linkCount: 0 },
    sitemapProblem: null,
    failure: { code, message },
  };
}

/** Enough for every declaration; the whole text may be what cannot be read. */
const LOOKED_AT_BYTES = 4_096;

function charsetOf({ body, contentType }: ReadRequest['response']): string | null {
  if (!isTextual(contentType)) return null;
  let end = Math.min(body.byteLength, LOOKED_AT_BYTES);
  // No character may be cut in two: that would look like another encoding.
  while (end < body.byteLength && end > 0 && (body[end] ?? 0) >= 0x80) end -= 1;
  return decodeText(body.subarray(0, end), contentType).charset;
}
