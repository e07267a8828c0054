import type { Format } from '../../core/model/job.ts';
import type { PageLink, PageMetadata } from '../../core/model/page.ts';
import { BaseUrl, parseLinkHeader, TypedLinks } from '../html/links.ts';
import { type ContentKind, contentKindOf } from '../html/media-type.ts';
import { codeUnitsOf, HtmlScanner } from '../html/scanner.ts';
import type { PageItems } from '../structured/streamed-items.ts';
import { cleanHtml } from './clean-html.ts';
import { type MarkupFacts, noMarkupFacts } from './markup-facts.ts';
import { ownRobotsHeader, type RobotsDirectives, readRobotsContent } from './meta-tags.ts';
import { PageScan } from './page-scan.ts';
import { TextDigest } from './text-digest.ts';

export interface ExtractInput {
  /** The decoded body of the page. */
  readonly text: string;
  readonly charset: string | null;
  /** The URL of the response, after redirects. */
  readonly url: string;
  readonly contentType: string | null;
  readonly contentLanguage?: string | null;
  readonly linkHeader: string | null;
  /** Several headers are joined with newlines, because a comma could be part of one. */
  readonly xRobotsTag: string | null;
  readonly formats: readonly Format[];
  /** The visible text is wanted as well. */
  readonly keepsText?: boolean;
}

export interface Extracted {
  readonly kind: ContentKind;
  readonly charset: string | null;
  readonly title: string | null;
  /** 32 hex characters of the SHA-256 of the visible text with its white space collapsed; null without text. */
  readonly textHash: string | null;
  /** Characters of that text. */
  readonly textLength: number;
  /** Null unless the format was asked for and the page is HTML. */
  readonly metadata: PageMetadata | null;
  /** In document order, repeats included; absolute, not yet canonical. */
  readonly links: readonly PageLink[];
  readonly html?: string;
  /** The visible text with its white space collapsed, of a long one the beginning; only when it was asked for. */
  readonly text?: string;
  readonly robots: RobotsDirectives;
  readonly canonical: string | null;
  readonly facts: MarkupFacts;
  /** True when a limit cut the page. */
  readonly isTruncated: boolean;
}

// One page at a time per thread: the buffers are reused for the next page.
const scanner = new HtmlScanner();
const digest = new TextDigest();
const NO_ITEMS: PageItems = { microdata: [], rdfa: [], isTruncated: false };

/** Extracts a page in one pass: pure, synchronous, linear in its size; it never throws. */
export function extractPage(input: ExtractInput): Extracted {
  const kind = contentKindOf(input.contentType, input.text);
  digest.reset(input.keepsText);
  return kind === 'html' ? extractHtml(input) : extractOther(input, kind);
}

function extractHtml(input: ExtractInput): Extracted {
  const page = BaseUrl.parse(input.url) ?? BaseUrl.NOWHERE;
  const hasMetadata = input.formats.includes('metadata');
  const reader = new PageScan(scanner, digest, page, hasMetadata);
  scanner.scan(input.text, reader);
  reader.finish();
  const { meta, base, facts } = reader;
  const typed = new TypedLinks();
  const links = reader.links.resolve(base, typed);
  links.push(...typed.addHeader(parseLinkHeader(input.linkHeader), page));
  facts.refresh = meta.refresh === null ? null : base.resolve(meta.refresh);
  facts.refreshSeconds = facts.refresh === null ? null : meta.refreshSeconds;
  if (facts.refresh !== null) links.push({ url: facts.refresh, text: '', rel: '', from: 'refresh' });
  const robotsHeader = ownRobotsHeader(input.xRobotsTag);
  const { hash, length } = digest.finish();
  const items = reader.structured?.finish(input.text, input.url) ?? NO_ITEMS;
  const isTruncated = reader.isTruncated || typed.isTruncated || items.isTruncated;
  const clean = input.formats.includes('html') ? cleanHtml(scanner, input.text, base) : null;
  return {
    kind: 'html',
    charset: input.charset,
    title: reader.title,
    textHash: hash,
    textLength: length,
    metadata: hasMetadata ? metadataOf(input, reader, typed, items, robotsHeader) : null,
    links,
    ...(clean === null ? {} : { html: clean.html }),
    ...(input.keepsText === true ? { text: digest.text() } : {}),
    robots: meta.directives(robotsHeader),
    canonical: typed.canonical,
    facts,
    isTruncated: isTruncated || (clean?.isTruncated ?? false),
  };
}

function metadataOf(
  input: ExtractInput,
  reader: PageScan,
  typed: TypedLinks,
  { microdata, rdfa }: PageItems,
  robotsHeader: string,
): PageMetadata {
  const { meta } = reader;
  const robots = [...meta.robots, robotsHeader].filter((part) => part !== '').join(', ');
  return {
    title: reader.title,
    description: meta.description,
    language: reader.language?.trim() || meta.language || input.contentLanguage?.trim() || null,
    canonical: typed.canonical,
    robots: robots === '' ? null : robots,
    charset: input.charset,
    headings: reader.headings,
    meta: meta.named,
    openGraph: meta.openGraph,
    twitter: meta.twitter,
    hreflang: typed.hreflang,
    jsonLd: reader.jsonLd,
    microdata,
    rdfa,
    feeds: typed.feeds,
    pagination: typed.pagination(),
    images: reader.images.resolve(reader.base),
  };
}

/** JSON, plain text, XML and other types: only the headers are read. */
function extractOther(input: ExtractInput, kind: ContentKind): Extracted {
  const hasText = kind !== 'other';
  if (hasText) digest.add(input.text, codeUnitsOf(input.text), 0, input.text.length, false);
  const typed = new TypedLinks();
  const page = BaseUrl.parse(input.url);
  if (page !== null) typed.addHeader(parseLinkHeader(input.linkHeader), page);
  const { hash, length } = digest.finish();
  return {
    kind,
    charset: hasText ? input.charset : null,
    title: null,
    textHash: hash,
    textLength: length,
    metadata: null,
    links: [],
    ...(input.keepsText === true ? { text: digest.text() } : {}),
    robots: readRobotsContent(ownRobotsHeader(input.xRobotsTag)),
    canonical: typed.canonical,
    facts: noMarkupFacts(),
    isTruncated: typed.isTruncated,
  };
}
