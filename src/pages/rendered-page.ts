import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { isHtmlType } from '../extract/html/media-type.ts';
import { decodeText } from '../fetch/charset.ts';
import type { ContentHash } from '../model/ids.ts';
import type { ActionRecord, ArtifactRef, RenderedRecord, XhrRecord } from '../model/page.ts';
import type { ActionResult, CapturedXhr } from '../model/render.ts';
import type { Blob } from '../ports/blobs.ts';
import type { ReadRequest, ShownPage } from './page-reading.ts';

/** What is kept of a shown page: the record's part, and the bytes that it refers to. */
export interface KeptRendering {
  readonly record: RenderedRecord;
  readonly blobs: readonly Blob[];
}

/** Longer answers to scripts are kept as blobs, so that records stay small. */
const MAX_INLINE_BYTES = 16_384;
const TEXTUAL =
  /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:xml|json|javascript|x-ndjson|x-www-form-urlencoded)\b)/i;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Null for a page that was not shown. Only what the job asked for is kept. */
export function keepRendering({ job, response }: ReadRequest): KeptRendering | null {
  const { rendered } = response;
  if (rendered === undefined) return null;
  const { formats } = job.options.page;
  const { screenshot, pdf, xhr, actions, consoleErrors } = rendered.extra;
  const blobs: Blob[] = [];
  const keep = (bytes: Uint8Array, contentType: string): ArtifactRef => {
    const contentHash = hash('sha256', bytes, 'hex') as ContentHash;
    blobs.push({ hash: contentHash, bytes });
    return { contentHash, contentType, bytes: bytes.byteLength };
  };
  const record: RenderedRecord = {
    ...(screenshot !== null && formats.includes('screenshot')
      ? { screenshot: keep(screenshot.bytes, screenshot.contentType) }
      : {}),
    ...(pdf !== null && formats.includes('pdf') ? { pdf: keep(pdf, 'application/pdf') } : {}),
    ...(formats.includes('xhr') ? { xhr: xhr.map((each) => xhrRecord(each, keep)) } : {}),
    ...(actions.length === 0 ? {} : { actions: actions.map((each) => actionRecord(each, keep)) }),
    ...(consoleErrors.length === 0 ? {} : { consoleErrors }),
    ...(formats.includes('rawHtml') ? rawOf(rendered, response, keep) : {}),
    ...failureOf(rendered),
  };
  return { record, blobs };
}

type Keep = (bytes: Uint8Array, contentType: string) => ArtifactRef;

function xhrRecord({ body, ...exchange }: CapturedXhr, keep: Keep): XhrRecord {
  const { url, method, statusCode, contentType, isTooLarge } = exchange;
  const record = { url, method, statusCode, contentType, isTooLarge };
  if (body === null) return record;
  const isText = contentType === null ? isUtf8(body) : TEXTUAL.test(contentType);
  if (isText && body.byteLength <= MAX_INLINE_BYTES) {
    return { ...record, text: decodeText(body, contentType).text };
  }
  return { ...record, body: keep(body, contentType ?? UNKNOWN_TYPE) };
}

function actionRecord({ type, ms, value, picture }: ActionResult, keep: Keep): ActionRecord {
  return {
    type,
    ms: Math.round(ms),
    ...(value === undefined ? {} : { value }),
    ...(picture === undefined ? {} : { picture: keep(picture.bytes, picture.contentType) }),
  };
}

/** Nothing where the body is what the server sent: only a document is shown as something else. */
function rawOf(
  { rawBody }: ShownPage,
  { contentType, headers }: ReadRequest['response'],
  keep: Keep,
): Pick<RenderedRecord, 'raw'> {
  if (!isHtmlType(contentType)) return {};
  if (rawBody === null) return { raw: null };
  const { contentHash } = keep(rawBody, contentType ?? UNKNOWN_TYPE);
  const sentAs = headers['content-type'];
  // A browser hands over text it has decoded already, whatever the header says of the bytes.
  const charset = isUtf8(rawBody)
    ? 'utf-8'
    : decodeText(rawBody, (Array.isArray(sentAs) ? sentAs[0] : sentAs) ?? null).charset;
  return { raw: { contentHash, charset } };
}

function failureOf({ failure }: ShownPage): Pick<RenderedRecord, 'failure'> {
  if (failure === null) return {};
  const { step } = (failure.details ?? {}) as { readonly step?: unknown };
  const { code, message } = failure;
  return { failure: { code, message, step: typeof step === 'string' ? step : null } };
}
