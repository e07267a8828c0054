import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { ContentHash } from '../../core/model/ids.ts';
import type { ActionRecord, ArtifactRef, RenderedRecord, XhrRecord } from '../../core/model/page.ts';
import type { ActionResult, CapturedXhr } from '../../core/model/render.ts';
import type { Blob } from '../../core/ports/blobs.ts';
import { decodeText } from '../../extract/charset/charset.ts';
import { isHtmlType } from '../../extract/html/media-type.ts';
import { pageOptionsFor } from '../frontier/routes.ts';
import type { ReadRequest, RenderedPage } from './page-reading.ts';

/** The parts of a rendered page that are kept: those of the record, and the bytes that it refers to. */
export interface KeptRendering {
  readonly record: RenderedRecord;
  readonly blobs: readonly Blob[];
}

/** Longer answers to scripts are kept as blobs, so that records stay small. */
const MAX_INLINE_BYTES = 16_384;
const TEXTUAL =
  /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:xml|json|javascript|x-ndjson|x-www-form-urlencoded)\b)/i;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Returns null for a page that was not rendered. Only the formats of the job are kept. */
export function keepRendering({ job, task, response }: ReadRequest): KeptRendering | null {
  const { rendered } = response;
  if (rendered === undefined) return null;
  const { formats } = pageOptionsFor(job.options, task.url);
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
    ...failureOf(rendered, response, keep),
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

/** Empty where the body is as the server sent it: only documents are rendered into something else. */
function rawOf(
  { rawBody }: RenderedPage,
  { contentType, headers }: ReadRequest['response'],
  keep: Keep,
): Pick<RenderedRecord, 'raw'> {
  if (!isHtmlType(contentType)) return {};
  if (rawBody === null) return { raw: null };
  const { contentHash } = keep(rawBody, contentType ?? UNKNOWN_TYPE);
  return { raw: { contentHash, charset: rawCharset(rawBody, headers) } };
}

/** The charset of a document as the server sent it. A browser hands over text it has decoded already, whatever the header says. */
export function rawCharset(rawBody: Uint8Array, headers: ReadRequest['response']['headers']): string {
  const sentAs = headers['content-type'];
  return isUtf8(rawBody)
    ? 'utf-8'
    : decodeText(rawBody, (Array.isArray(sentAs) ? sentAs[0] : sentAs) ?? null).charset;
}

/** The failure with what the page looked like: its picture, and its HTML, which is the body of the page. */
function failureOf(
  { failure, extra }: RenderedPage,
  { body, contentType }: ReadRequest['response'],
  keep: Keep,
): Pick<RenderedRecord, 'failure'> {
  if (failure === null) return {};
  const { step } = (failure.details ?? {}) as { readonly step?: unknown };
  const { code, message } = failure;
  const { failurePicture } = extra;
  const hasHtml = body.byteLength > 0 && isHtmlType(contentType);
  return {
    failure: {
      code,
      message,
      step: typeof step === 'string' ? step : null,
      ...(failurePicture === undefined
        ? {}
        : { screenshot: keep(failurePicture.bytes, failurePicture.contentType) }),
      ...(hasHtml ? { html: refTo(body, contentType ?? UNKNOWN_TYPE) } : {}),
    },
  };
}

/** Returns a reference to bytes that are stored for another reason. */
const refTo = (bytes: Uint8Array, contentType: string): ArtifactRef => ({
  contentHash: hash('sha256', bytes, 'hex') as ContentHash,
  contentType,
  bytes: bytes.byteLength,
});

/**
 * A copy of a rendered page that may cross to a thread: plain data without the parts that belong to sessions, and every
 * part of its bytes alone on its memory, so that it can be given away.
 */
export function copiedRenderedPage({ rawBody, extra, failure }: RenderedPage): RenderedPage {
  const { screenshot, pdf, xhr, actions, consoleErrors, failurePicture } = extra;
  return {
    rawBody: rawBody === null ? null : copy(rawBody),
    extra: {
      screenshot: screenshot === null ? null : { ...screenshot, bytes: copy(screenshot.bytes) },
      pdf: pdf === null ? null : copy(pdf),
      xhr: xhr.map((each) => ({ ...each, body: each.body === null ? null : copy(each.body) })),
      actions: actions.map(({ picture, ...each }) =>
        picture === undefined ? each : { ...each, picture: { ...picture, bytes: copy(picture.bytes) } },
      ),
      consoleErrors: [...consoleErrors],
      ...(failurePicture === undefined
        ? {}
        : { failurePicture: { ...failurePicture, bytes: copy(failurePicture.bytes) } }),
    },
    failure:
      failure === null
        ? null
        : { code: failure.code, message: failure.message, details: plain(failure.details) },
  };
}

/** The buffers of the page that can be transferred, each once. */
export function renderedBuffers({ rawBody, extra }: RenderedPage): ArrayBuffer[] {
  const { screenshot, pdf, xhr, actions, failurePicture } = extra;
  const parts = [
    rawBody,
    screenshot?.bytes,
    failurePicture?.bytes,
    pdf,
    ...xhr.map(({ body }) => body),
    ...actions.map(({ picture }) => picture?.bytes),
  ];
  const buffers = new Set<ArrayBuffer>();
  for (const part of parts) {
    if (part && part.byteLength > 0 && part.buffer instanceof ArrayBuffer) buffers.add(part.buffer);
  }
  return [...buffers];
}

const copy = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

/** Details of an error may hold anything; only data crosses. */
function plain(details: unknown): unknown {
  return details === undefined ? undefined : (JSON.parse(JSON.stringify(details)) as unknown);
}
