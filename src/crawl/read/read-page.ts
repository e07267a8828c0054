import { hash } from 'node:crypto';
import type { DeepRecord, PageWarning } from '../../core/model/extraction.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Format } from '../../core/model/job.ts';
import type { NewPage, PageLink, PageRecord, RenderedRecord, ResponseRecord } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import { decodeAs, decodeText } from '../../extract/charset/charset.ts';
import { LIMITS } from '../../extract/html/limits.ts';
import { contentKindOf } from '../../extract/html/media-type.ts';
import { type Extracted, extractPage } from '../../extract/scan/extract-page.ts';
import { hasFrames, inlineFrames } from '../../extract/scan/inline-frames.ts';
import { classify } from '../../fetch/classify/classify.ts';
import { renderedFacts } from '../../fetch/classify/page-facts.ts';
import { readSetCookie } from '../../fetch/cookies/cookie-jar.ts';
import { defined } from '../../lib/defined.ts';
import { pageOptionsFor } from '../frontier/routes.ts';
import { outcomeOf } from '../plan/outcome.ts';
import { findTasks, type JobRules } from './find-tasks.ts';
import type { PageReading, ReadRequest } from './page-reading.ts';
import { rawCharset } from './rendered-page.ts';

/**
 * Reads an ordinary page. Pure: the caller stores the body, and the blobs to which `rendered` refers.
 */
export function readPageTask(
  request: ReadRequest,
  rules: JobRules,
  rendered: RenderedRecord | null = null,
  deep: DeepRecord | null = null,
  decoded: DecodedBody = decodeBody(request),
  feed: FeedFacts | null = null,
): Omit<PageReading, 'ms'> {
  const { job, task, response, fetchedAt } = request;
  const { headers, body, contentType, finalUrl, statusCode } = response;
  const scanned = extractPage({
    text: decoded.text,
    charset: decoded.charset,
    url: finalUrl,
    contentType,
    contentLanguage: firstHeader(headers['content-language']),
    linkHeader: joinedHeader(headers.link, ', '),
    xRobotsTag: joinedHeader(headers['x-robots-tag'], '\n'),
    formats: formatsFor(pageOptionsFor(job.options, task.url).formats),
  });
  const links = unitedLinks(scanned.links, request);
  const extracted: Extracted = feed === null ? { ...scanned, links } : { ...scanned, ...feed };
  const { outcome, evidence, vendor } = classify({
    url: task.url,
    finalUrl,
    statusCode,
    headers,
    contentType,
    bytes: body.byteLength,
    html: decoded.text,
    facts: {
      title: extracted.title,
      heading: extracted.metadata?.headings.find(({ level }) => level === 1)?.text ?? null,
      textLength: extracted.textLength,
      linkCount: scanned.links.length,
      markup: extracted.facts,
    },
    ...(response.rendered === undefined
      ? {}
      : { rendered: renderedFacts(decoded.text, extracted.textLength) }),
  });
  const found = findTasks(request, extracted, rules);
  const page: NewPage = {
    url: task.url,
    finalUrl,
    statusCode,
    contentType,
    charset: extracted.charset,
    fetchedAt,
    depth: task.depth,
    contentHash: body.byteLength === 0 ? null : (hash('sha256', body, 'hex') as ContentHash),
    textHash: extracted.textHash,
    bytes: body.byteLength,
    title: extracted.title,
    etag: firstHeader(headers.etag),
    lastModified: firstHeader(headers['last-modified']),
    duplicateOf: found.duplicateOf,
    errorCode: null,
    errorMessage: null,
    record: packRecord({
      ...recordOf(extracted, rendered, deep, response.stored),
      ...warningsOf(extracted, response, deep, decoded),
      ...responseRecord(response, fetchedAt, {
        outcome: outcomeOf(statusCode, outcome),
        ...(evidence === null ? {} : { evidence }),
      }),
    }),
  };
  return {
    page,
    discovered: found.tasks,
    outcome,
    evidence,
    vendor,
    isNoindex: extracted.robots.isNoindex,
    leadsTo: response.rendered === undefined && statusCode < 400 ? refreshOf(extracted, finalUrl) : null,
    yield: { textLength: extracted.textLength, linkCount: scanned.links.length },
    sitemapProblem: null,
  };
}

/** A page that leads on after a longer time is there to be read. */
const MOST_REFRESH_SECONDS = 5;

function refreshOf({ facts }: Extracted, finalUrl: string): string | null {
  const { refresh, refreshSeconds } = facts;
  if (refresh === null || refreshSeconds === null || refreshSeconds > MOST_REFRESH_SECONDS) return null;
  // A page that reloads itself leads nowhere.
  return refresh.split('#', 1)[0] === finalUrl.split('#', 1)[0] ? null : refresh;
}

export interface DecodedBody {
  readonly text: string;
  readonly charset: string | null;
  /** Some frames of the page are not in the text. */
  readonly areFramesCut?: boolean;
}

const NO_TEXT: DecodedBody = { text: '', charset: null };

/** The text of the body; that of its frames is a part of a web page. */
export function decodeBody({ response: { body, contentType, finalUrl } }: ReadRequest): DecodedBody {
  if (!isTextual(contentType)) return NO_TEXT;
  return withFrames(decodeText(body, contentType), contentType, finalUrl);
}

function withFrames(decoded: DecodedBody, contentType: string | null, finalUrl: string): DecodedBody {
  if (!hasFrames(decoded.text) || contentKindOf(contentType, decoded.text) !== 'html') return decoded;
  const { html, isCut } = inlineFrames(decoded.text, finalUrl);
  return { ...decoded, text: html, areFramesCut: isCut };
}

/** Elements whose links a script may take away although they lead somewhere. */
const LINK_ELEMENTS: ReadonlySet<string> = new Set(['a', 'area', 'form', 'iframe', 'frame']);

/** The links of a rendered page, and those that only the page as the server sent it has. */
function unitedLinks(shown: readonly PageLink[], { response }: ReadRequest): readonly PageLink[] {
  const { rendered, finalUrl, headers } = response;
  if (rendered?.rawBody == null) return shown;
  const known = new Set(shown.map(({ url }) => url));
  const raw = extractPage({
    text: decodeAs(rendered.rawBody, rawCharset(rendered.rawBody, headers)),
    charset: null,
    url: finalUrl,
    contentType: 'text/html',
    linkHeader: null,
    xRobotsTag: null,
    formats: ['links'],
  });
  const more = raw.links.filter(({ url, from }) => LINK_ELEMENTS.has(from) && !known.has(url));
  return [...shown, ...more].slice(0, Math.max(shown.length, LIMITS.links));
}

/** What of the page is in no result. */
function warningsOf(
  { isTruncated, links }: Extracted,
  { headers }: ReadRequest['response'],
  deep: DeepRecord | null,
  { areFramesCut = false }: DecodedBody,
): Pick<PageRecord, 'warnings'> {
  const hasAllLinks = links.length < LIMITS.links;
  const isCutDeep = deep?.warnings?.some(({ code }) => code === 'page-cut') ?? false;
  const warnings: PageWarning[] = [
    ...(deep?.warnings ?? []),
    ...(hasAllLinks
      ? []
      : [{ code: 'links-cut', message: `Only the first ${LIMITS.links} links are kept.` }]),
    ...(isTruncated && hasAllLinks && !isCutDeep ? [PAGE_CUT] : []),
    ...(areFramesCut ? [FRAMES_CUT] : []),
    ...(isResponseCut(headers) ? [RESPONSE_CUT] : []),
  ];
  return warnings.length === 0 ? {} : { warnings };
}

const PAGE_CUT: PageWarning = {
  code: 'page-cut',
  message:
    'The page has more elements, links, images, metadata or structured data than are read; what lies beyond is not in the results.',
};
const FRAMES_CUT: PageWarning = {
  code: 'frames-cut',
  message:
    'The page has more frames, or longer ones, than are read; what stands in the others is not in the results.',
};
const RESPONSE_CUT: PageWarning = {
  code: 'response-cut',
  message: 'The response has more headers or cookies than are kept.',
};

/** Metadata and links are always kept: exports, maps and later questions need them. */
function formatsFor(asked: readonly Format[]): Format[] {
  return [...new Set<Format>(['metadata', 'links', ...asked])];
}

function recordOf(
  { metadata, links, html }: Extracted,
  rendered: RenderedRecord | null,
  deep: DeepRecord | null,
  stored: ReadRequest['response']['stored'],
): PageRecord {
  return {
    ...(rendered === null ? {} : { rendered }),
    ...(stored?.reason === 'cache'
      ? { cache: { hit: true, storedAt: new Date(stored.storedAt).toISOString() } }
      : {}),
    ...(stored?.reason === 'not-modified' ? { notModified: true } : {}),
    metadata,
    links,
    ...defined({ html }),
    ...deep,
  };
}

/** Anything that may hold text is decoded; pictures, archives and the like are only stored. */
export function isTextual(contentType: string | null): boolean {
  return (
    contentType === null ||
    !/^\s*(?:image|audio|video|font)\/(?!svg)|zip|octet-stream|pdf|wasm/i.test(contentType)
  );
}

export function firstHeader(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

export function joinedHeader(header: string | string[] | undefined, separator: string): string | null {
  return Array.isArray(header) ? header.join(separator) : (header ?? null);
}

/** A site decides how many headers it sends; the record of a page has to stay small. */
const MAX_HEADERS = 100;
const MAX_COOKIES = 100;
const MAX_VALUE_CHARS = 2_048;
const HIDDEN = '[hidden]';

/** The response as the record of its page keeps it. */
export function responseRecord(
  { headers, redirects = [], hasSecretCookies = false }: ReadRequest['response'],
  fetchedAt: number,
  judged: Pick<ResponseRecord, 'outcome' | 'evidence'>,
): ResponseRecord {
  const lines = [headers['set-cookie'] ?? []].flat().slice(0, MAX_COOKIES);
  const cookies = lines.flatMap((line) => readSetCookie(line, fetchedAt) ?? []);
  return {
    ...judged,
    headers: keptHeaders(headers),
    ...(cookies.length === 0
      ? {}
      : { cookies: hasSecretCookies ? cookies.map((each) => ({ ...each, value: HIDDEN })) : cookies }),
    ...(redirects.length === 0 ? {} : { redirects }),
  };
}

/** Whether the response has more than its record keeps. */
function isResponseCut(headers: ReadRequest['response']['headers']): boolean {
  const cookies = [headers['set-cookie'] ?? []].flat().length;
  const others = Object.keys(headers).filter((name) => name !== 'set-cookie').length;
  return cookies > MAX_COOKIES || others > MAX_HEADERS;
}

const cut = (value: string) =>
  value.length > MAX_VALUE_CHARS ? `${value.slice(0, MAX_VALUE_CHARS)}…` : value;

function keptHeaders(headers: ReadRequest['response']['headers']): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name === 'set-cookie' || name === '__proto__') continue;
    kept[name] = typeof value === 'string' ? cut(value) : value.slice(0, MAX_HEADERS).map(cut);
    count += 1;
    if (count === MAX_HEADERS) break;
  }
  return kept;
}

/** The title of an XML document, and of a feed its links as well. */
interface FeedFacts {
  readonly title: string | null;
  readonly links: readonly PageLink[];
}

/** Returns null for anything but XML. The reader of XML documents is loaded by the first of them. */
export async function readFeed(
  { response, fetchedAt }: ReadRequest,
  { text }: DecodedBody,
): Promise<FeedFacts | null> {
  if (contentKindOf(response.contentType, text) !== 'xml') return null;
  const { readXmlDocument } = await import('../../extract/documents/read-xml.ts');
  const document = readXmlDocument(text, response.finalUrl, { fetchedAt }, true);
  const { title = null, links = [] } = document ?? {};
  // In other XML an address may be that of a schema or a style sheet, which no reader would follow.
  return { title, links: document?.kind === 'feed' ? links : [] };
}

/** How a stored body was read. */
interface BodyFacts {
  readonly contentType: string | null;
  readonly charset: string | null;
  readonly finalUrl: string;
}

/** The visible text of a stored body with its white space collapsed, of a long one the beginning; empty where there is none. */
export function textOfBody(body: Uint8Array, { contentType, charset, finalUrl }: BodyFacts): string {
  if (!isTextual(contentType)) return '';
  const decoded: DecodedBody = { text: decodeAs(body, charset), charset };
  const { text } = extractPage({
    ...withFrames(decoded, contentType, finalUrl),
    url: finalUrl,
    contentType,
    linkHeader: null,
    xRobotsTag: null,
    formats: [],
    keepsText: true,
  });
  return text ?? '';
}
