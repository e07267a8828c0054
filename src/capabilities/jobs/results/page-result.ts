import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { OutcomeKind } from '../../../core/model/attempt.ts';
import type {
  ContentRecord,
  DeepRecord,
  ExtractProblem,
  LlmCall,
  PageWarning,
  PdfPages,
  ValueOrigin,
} from '../../../core/model/extraction.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { Format, PageOptions } from '../../../core/model/job.ts';
import type {
  ActionRecord,
  ArtifactRef,
  NewPage,
  Page,
  PageLink,
  PageMetadata,
  PageRecord,
  PageRedirect,
  RenderedRecord,
  SetCookie,
  XhrRecord,
} from '../../../core/model/page.ts';
import { unpackRecord } from '../../../core/model/page-record.ts';
import type { PagePart } from '../../../core/model/retention.ts';
import type { Blobs } from '../../../core/ports/blobs.ts';
import { decodeAs } from '../../../extract/charset/charset.ts';
import { defined } from '../../../lib/defined.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { type Artifact, artifactPath } from './artifacts.ts';

/** A stored page as clients see it. Formats that were not asked for are left out; ones a page cannot have are null. */
export interface PageResult extends Partial<ResponseFields> {
  readonly url: string;
  /** Exactly as it was submitted; `url` where the page was found on another one. */
  readonly sourceUrl?: string;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly contentType: string | null;
  readonly fetchedAt: string;
  readonly depth: number;
  readonly bytes: number;
  readonly contentHash: string | null;
  readonly title: string | null;
  /** The URL whose page this one repeats: by rel=canonical, or because an earlier page of the job has the same body. */
  readonly duplicateOf: string | null;
  /** Only where the request had `maxAge`. */
  readonly cache?: { readonly hit: boolean; readonly storedAt: string | null };
  /** The host said that the page has not changed since the crawl before. */
  readonly notModified?: true;
  readonly metadata?: PageMetadata | null;
  readonly links?: readonly PageLink[];
  readonly html?: string | null;
  readonly rawHtml?: string | null;
  /** Text of the main content; `markdown` and `content` are of the main content as well. */
  readonly text?: string | null;
  readonly markdown?: string | null;
  readonly content?: ContentRecord | null;
  readonly structured?: unknown;
  /** Values that `extract` found, by field. */
  readonly extracted?: Readonly<Record<string, unknown>> | null;
  readonly extractedType?: string | null;
  readonly extractedProbability?: number;
  readonly extractedBy?: Readonly<Record<string, ValueOrigin>>;
  readonly extractProblems?: readonly ExtractProblem[];
  /** What a language model was asked, and what that has cost. */
  readonly llm?: LlmCall;
  /** Content that is not in the results because it lies beyond a limit, or could not be read; missing when there is none. */
  readonly warnings?: readonly PageWarning[];
  /** Only for PDFs whose text was read. */
  readonly pdfPages?: PdfPages;
  readonly screenshot?: Artifact | null;
  readonly pdf?: Artifact | null;
  readonly xhr?: readonly XhrResult[] | null;
  /** One entry per action that ran to its end. */
  readonly actions?: readonly ActionView[];
  /** Only for pages rendered in a browser. */
  readonly consoleErrors?: readonly string[];
  /** Parts that were deleted because their time was over; missing when all are there. */
  readonly expired?: readonly PagePart[];
  /** Parts that were asked for and are gone although nothing has deleted them: the disk or the object store has lost them. */
  readonly lost?: readonly LostPart[];
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: FailureDetails;
  };
}

export type LostPart = Extract<PagePart, 'bodies' | 'artifacts'>;

/** What failed on a page that a browser showed. */
export interface FailureDetails {
  /** Where on the page it went wrong, as in `actions.2 click #buy`. */
  readonly step?: string;
  /** The page at that moment. */
  readonly screenshot?: Artifact;
  readonly html?: Artifact;
}

/** What the response was, besides its body. */
export interface ResponseFields {
  /** What the response is; null for pages that an earlier version stored. */
  readonly outcome: OutcomeKind | null;
  /** What decided the outcome; null for a page that is plainly ok. */
  readonly evidence: string | null;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly cookies: readonly SetCookie[];
  readonly redirects: readonly PageRedirect[];
}

export interface XhrResult extends Omit<XhrRecord, 'body'> {
  readonly body?: Artifact;
}

export interface ActionView extends Omit<ActionRecord, 'picture'> {
  readonly screenshot?: Artifact;
}

/** What a job wants to see of its pages. */
export type Wanted = Pick<PageOptions, 'formats' | 'isInline' | 'maxAgeMs'>;

const EMPTY_RECORD: PageRecord = { metadata: null, links: [] };

export function readRecord(packed: Uint8Array | null): PageRecord {
  return packed === null ? EMPTY_RECORD : (JSON.parse(unpackRecord(packed).toString('utf8')) as PageRecord);
}

const TEXTUAL = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:xml|json|javascript|ecmascript|x-ndjson)\b)/i;

/** As the server sent it. Null for binary documents, when it has expired or the blob is gone, and when only the rendered document was kept. */
async function readRawHtml(
  page: Page,
  rendered: RenderedRecord | undefined,
  blobs: Blobs,
  onLost: () => void = () => undefined,
): Promise<string | null> {
  if (rendered?.raw === null || page.expired?.includes('bodies') === true) return null;
  const { contentHash, charset } = rendered?.raw ?? page;
  if (contentHash === null) return null;
  if (!isTextual(page.contentType)) return null;
  const body = await blobs.get(contentHash);
  if (body === null) onLost();
  return body === null ? null : decodeAs(body, charset);
}

const isTextual = (contentType: string | null): boolean => contentType === null || TEXTUAL.test(contentType);

/** The text of a body that was read already; null when it holds no text. */
export function rawTextOf(
  { contentType, charset }: Pick<NewPage, 'contentType' | 'charset'>,
  body: Uint8Array,
): string | null {
  return isTextual(contentType) ? decodeAs(body, charset) : null;
}

/** The raw HTML of a stored page, for callers that need nothing else of it. */
export async function rawHtmlOf(page: Page, blobs: Blobs): Promise<string | null> {
  return readRawHtml(page, readRecord(page.record).rendered, blobs);
}

/** What every page has, whatever was asked for. */
export function rowFields(page: NewPage) {
  return {
    url: page.url,
    finalUrl: page.finalUrl,
    statusCode: page.statusCode,
    contentType: page.contentType,
    fetchedAt: isoTime(page.fetchedAt),
    depth: page.depth,
    bytes: page.bytes,
    contentHash: page.contentHash,
    title: page.title,
    duplicateOf: page.duplicateOf,
  };
}

export function responseFields(
  { statusCode, errorCode, errorMessage }: NewPage,
  { outcome, evidence, headers = {}, cookies = [], redirects = [] }: PageRecord,
): ResponseFields {
  if (outcome !== undefined) return { outcome, evidence: evidence ?? null, headers, cookies, redirects };
  const hasNoResponse = statusCode === null && errorCode !== null;
  return {
    outcome: hasNoResponse ? 'error' : null,
    evidence: hasNoResponse ? errorMessage : null,
    headers,
    cookies,
    redirects,
  };
}

/** What was asked for and stands in the record itself. */
export function recordFields(record: PageRecord, formats: readonly Format[]): Partial<PageResult> {
  const has = (format: Format) => formats.includes(format);
  return {
    ...(has('metadata') ? { metadata: record.metadata } : {}),
    ...(has('links') ? { links: record.links } : {}),
    ...(has('html') ? { html: record.html ?? null } : {}),
    ...(has('text') ? { text: record.text ?? null } : {}),
    ...(has('markdown') ? { markdown: record.markdown ?? null } : {}),
    ...(has('content') ? { content: record.content ?? null } : {}),
    ...(has('structured') ? { structured: record.structured ?? null } : {}),
    ...extractedOf(record),
    ...defined({ warnings: record.warnings, pdfPages: record.pdfPages }),
  };
}

/** A stored page with what was asked for; `url`s of artifacts are paths. */
export async function readPageResult(
  page: Page,
  jobId: JobId,
  { formats, isInline, maxAgeMs = 0 }: Wanted,
  blobs: Blobs,
): Promise<PageResult> {
  const has = (format: Format) => formats.includes(format);
  const record = readRecord(page.record);
  const { rendered } = record;
  const lost = new Set<LostPart>();
  const show = async (name: string, ref: ArtifactRef): Promise<Artifact> => {
    const { contentType, bytes, contentHash } = ref;
    const artifact = { url: artifactPath(jobId, page.taskId, name), contentType, bytes };
    if (!isInline) return artifact;
    const isExpired = page.expired?.includes('artifacts') === true;
    const body = isExpired ? null : await blobs.get(contentHash);
    if (body === null && !isExpired) lost.add('artifacts');
    return { ...artifact, base64: body === null ? null : Buffer.from(body).toString('base64') };
  };
  const shown = rendered ?? {};
  const onLost = () => void lost.add('bodies');
  const result: PageResult = {
    ...rowFields(page),
    ...(maxAgeMs === 0 ? {} : { cache: record.cache ?? { hit: false, storedAt: null } }),
    ...defined({ notModified: record.notModified }),
    ...responseFields(page, record),
    ...recordFields(record, formats),
    ...(has('rawHtml') ? { rawHtml: await readRawHtml(page, rendered, blobs, onLost) } : {}),
    ...(has('screenshot')
      ? { screenshot: shown.screenshot === undefined ? null : await show('screenshot', shown.screenshot) }
      : {}),
    ...(has('pdf') ? { pdf: shown.pdf === undefined ? null : await show('pdf', shown.pdf) } : {}),
    ...(has('xhr') ? { xhr: shown.xhr === undefined ? null : await xhrResults(shown.xhr, show) } : {}),
    ...(shown.actions === undefined ? {} : { actions: await actionResults(shown.actions, show) }),
    ...(rendered === undefined ? {} : { consoleErrors: rendered.consoleErrors ?? [] }),
    ...defined({ expired: page.expired }),
    ...(await shownErrorOf(page, rendered, show)),
  };
  return lost.size === 0 ? result : { ...result, lost: [...lost] };
}

/** The error with what the page looked like when it came. */
async function shownErrorOf(
  page: NewPage,
  rendered: RenderedRecord | undefined,
  show: Show,
): Promise<Pick<PageResult, 'error'>> {
  const { error } = pageErrorOf(page, rendered);
  const { failure } = rendered ?? {};
  if (error === undefined || failure?.code !== error.code) return error === undefined ? {} : { error };
  const { screenshot, html } = failure;
  const details: FailureDetails = {
    ...error.details,
    ...(screenshot === undefined ? {} : { screenshot: await show('failure-screenshot', screenshot) }),
    ...(html === undefined ? {} : { html: await show('failure-html', html) }),
  };
  return { error: Object.keys(details).length === 0 ? error : { ...error, details } };
}

function extractedOf(record: DeepRecord): Partial<PageResult> {
  const { extracted, extractedType, extractedProbability, extractedBy, extractProblems, llm } = record;
  if (extracted === undefined) return {};
  return {
    extracted,
    ...defined({ extractedType, extractedProbability }),
    extractedBy: extractedBy ?? {},
    ...defined({ extractProblems, llm }),
  };
}

type Show = (name: string, ref: ArtifactRef) => Promise<Artifact>;

function xhrResults(records: readonly XhrRecord[], show: Show): Promise<XhrResult[]> {
  return Promise.all(
    records.map(async ({ body, ...record }, at) =>
      body === undefined ? record : { ...record, body: await show(`xhr-${at}`, body) },
    ),
  );
}

function actionResults(records: readonly ActionRecord[], show: Show): Promise<ActionView[]> {
  return Promise.all(
    records.map(async ({ picture, ...record }, at) =>
      picture === undefined ? record : { ...record, screenshot: await show(`action-${at}`, picture) },
    ),
  );
}

export function pageErrorOf(
  { errorCode: code, errorMessage }: NewPage,
  rendered: RenderedRecord | undefined,
): Pick<PageResult, 'error'> {
  if (code === null) return {};
  const { failure } = rendered ?? {};
  const step = failure?.code === code ? failure.step : null;
  const message = errorMessage ?? code;
  return { error: step === null ? { code, message } : { code, message, details: { step } } };
}
