import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { PageFields } from '../../extract/diff/field-diff.ts';
import type { PageView } from '../../extract/diff/watched-page.ts';
import { decodeAs } from '../../fetch/charset.ts';

/** Where bodies and pictures are. */
export type StoredBytes = Pick<Blobs, 'get'>;

/** One version of a page, by what is stored of it: of a job, or a snapshot. */
export interface PageVersion {
  readonly url: string;
  readonly contentType: string | null;
  readonly charset: string | null;
  /** Null when there is no body, or it is not kept any more. */
  readonly contentHash: ContentHash | null;
  readonly textHash: string | null;
  readonly fields: PageFields;
  /** PNG; null without one. */
  readonly screenshot: ContentHash | null;
}

const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i;
const TEXTUAL =
  /^\s*(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:xml|json|javascript|ecmascript|x-ndjson)\b)/i;

export const isHtmlType = (contentType: string | null): boolean =>
  contentType === null || HTML.test(contentType);

/** The version with its bytes; null when a part that is wanted is not kept any more. */
export async function loadView(
  version: PageVersion,
  blobs: StoredBytes,
  parts: { readonly body: boolean; readonly screenshot: boolean },
): Promise<PageView | null> {
  const { url, contentType, charset, contentHash, textHash, fields } = version;
  const bytes = parts.body && contentHash !== null ? await blobs.get(contentHash) : null;
  if (parts.body && bytes === null) return null;
  const isHtml = isHtmlType(contentType);
  const isText = isHtml || TEXTUAL.test(contentType ?? '');
  const picture = parts.screenshot ? version.screenshot : null;
  const screenshot = picture === null ? null : await blobs.get(picture);
  if (picture !== null && screenshot === null) return null;
  return {
    url,
    body: bytes === null || !isText ? null : decodeAs(bytes, charset),
    isHtml,
    textHash,
    fields,
    screenshot,
  };
}
