import type { Artifact } from '../../../../capabilities/jobs/results/artifacts.ts';
import type { ScrapeTrace } from '../../../../capabilities/jobs/results/job-reader.ts';
import type { ActionView, PageResult } from '../../../../capabilities/jobs/results/page-result.ts';
import { isDisguised } from '../../../../core/model/engine-traits.ts';
import type { JobId } from '../../../../core/model/ids.ts';
import type { Job } from '../../../../core/model/job.ts';
import type { PageMetadata } from '../../../../core/model/page.ts';
import { defined } from '../../../../lib/defined.ts';
import { attributeName, type Format } from '../request/formats.ts';

/** A page as clients of this API read it: what was asked for, and `metadata`. */
export interface Document {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/** What is remembered of a request; see `viewOf`. */
export interface StoredView {
  readonly formats: readonly { readonly type: Format['type']; readonly [name: string]: unknown }[];
  readonly keepsBase64Images?: boolean;
  readonly steps?: readonly string[];
  readonly origin?: string;
}

/** What a job shows. One that another API has made shows the formats that it has. */
export function storedViewOf({ options }: Pick<Job, 'options'>): StoredView {
  const { shownAs, page } = options;
  if (Array.isArray(shownAs?.formats)) return shownAs as unknown as StoredView;
  const types = (['markdown', 'html', 'rawHtml', 'links', 'screenshot'] as const).filter((type) =>
    page.formats.includes(type),
  );
  return { formats: types.map((type) => ({ type })) };
}

export interface DocumentParts {
  readonly jobId: JobId;
  readonly view: StoredView;
  /** Only of a single page. */
  readonly trace?: ScrapeTrace;
  /** v1 shows what a language model found under another name, too. */
  readonly isV1?: boolean;
}

export function documentOf(page: PageResult, parts: DocumentParts): Document {
  const { view, isV1 = false } = parts;
  const types = new Set(view.formats.map(({ type }) => type));
  const html = page.html ?? page.content?.html ?? '';
  const json = types.has('json') ? fieldsOf(page) : null;
  const actions = actionsOf(page, view.steps ?? []);
  return {
    ...(types.has('markdown') ? { markdown: page.markdown ?? '' } : {}),
    ...(types.has('html') ? { html: view.keepsBase64Images === true ? html : withoutBase64(html) } : {}),
    ...(types.has('rawHtml') ? { rawHtml: page.rawHtml ?? '' } : {}),
    ...(types.has('links') ? { links: linksOf(page) } : {}),
    ...(types.has('images') ? { images: imagesOf(page) } : {}),
    ...(types.has('screenshot') ? { screenshot: addressOf(page.screenshot) } : {}),
    ...(json === null ? {} : { json, ...(isV1 ? { extract: json } : {}) }),
    ...(types.has('attributes') ? { attributes: attributesOf(page, view) } : {}),
    ...(actions === null ? {} : { actions }),
    ...warningOf(page),
    metadata: metadataOf(page, parts),
  };
}

function warningOf({ error, warnings = [] }: PageResult): { warning?: string } {
  const told = [error, ...warnings].flatMap((each) => (each === undefined ? [] : [each.message]));
  return told.length === 0 ? {} : { warning: told.join(' ') };
}

const BASE64_IN_HTML = /(["'])data:image\/[^;"']{1,40};base64,[^"']*\1/g;

const withoutBase64 = (text: string): string =>
  text.includes(';base64,') ? text.replace(BASE64_IN_HTML, '$1<Base64-Image-Removed>$1') : text;

/** Links that a reader could follow, each once. */
function linksOf({ links = [] }: PageResult): string[] {
  return [...new Set(links.filter(({ from }) => from === 'a' || from === 'area').map(({ url }) => url))];
}

const imagesOf = ({ metadata }: PageResult): string[] => [
  ...new Set((metadata?.images ?? []).map(({ url }) => url)),
];

/** A picture as an address that needs no key: its bytes are in it. */
function addressOf(artifact: Artifact | null | undefined): string | undefined {
  if (artifact?.base64 == null) return undefined;
  return `data:${artifact.contentType};base64,${artifact.base64}`;
}

function fieldsOf({ extracted }: PageResult): Record<string, unknown> {
  return Object.fromEntries(Object.entries(extracted ?? {}).filter(([name]) => !/^attribute\d+$/.test(name)));
}

function attributesOf({ extracted }: PageResult, { formats }: StoredView) {
  const selectors = formats.flatMap((each) =>
    each.type === 'attributes' ? (each.selectors as { selector: string; attribute: string }[]) : [],
  );
  return selectors.map(({ selector, attribute }, at) => ({
    selector,
    attribute,
    values: (extracted?.[attributeName(at)] as unknown[] | null | undefined) ?? [],
  }));
}

/** What the steps brought, by their names in the request. */
function actionsOf({ actions, pdf }: PageResult, steps: readonly string[]) {
  const pdfs = [addressOf(pdf)].filter((each) => each !== undefined);
  if (steps.length === 0 && pdfs.length === 0) return null;
  const of = (name: string) => (actions ?? []).filter((_, at) => steps[at] === name);
  return {
    screenshots: of('screenshot').map(({ screenshot }) => addressOf(screenshot)),
    scrapes: of('scrape').map(({ value }) => value),
    javascriptReturns: of('executeJavascript').map(({ value }: ActionView) => ({
      type: value === null ? 'null' : typeof value,
      value,
    })),
    pdfs,
  };
}

const OPEN_GRAPH: Readonly<Record<string, string>> = {
  title: 'ogTitle',
  description: 'ogDescription',
  url: 'ogUrl',
  image: 'ogImage',
  audio: 'ogAudio',
  video: 'ogVideo',
  determiner: 'ogDeterminer',
  locale: 'ogLocale',
  'locale:alternate': 'ogLocaleAlternate',
  site_name: 'ogSiteName',
  'article:published_time': 'publishedTime',
  'article:modified_time': 'modifiedTime',
  'article:tag': 'articleTag',
  'article:section': 'articleSection',
};

function pageFacts(metadata: PageMetadata): Record<string, unknown> {
  const { title, description, language, robots, meta, openGraph, twitter } = metadata;
  const named = (prefix: string, values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name.includes(':') ? name : `${prefix}${name}`, value]),
    );
  const known = Object.entries(openGraph).flatMap(([name, value]) =>
    OPEN_GRAPH[name] === undefined ? [] : [[OPEN_GRAPH[name], value] as const],
  );
  const given = { title, description, language, robots };
  return {
    ...meta,
    ...named('og:', openGraph),
    ...named('twitter:', twitter),
    ...Object.fromEntries(known),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)),
  };
}

/** Clients know two kinds: addresses of data centres, and what is taken for a visitor's. */
function proxyUsedBy({ attempts }: ScrapeTrace): 'basic' | 'stealth' {
  const { engine = 'http', proxyTier = null } = attempts.at(-1) ?? {};
  const isVisitor = proxyTier === 'residential' || proxyTier === 'mobile';
  return isVisitor || isDisguised(engine) ? 'stealth' : 'basic';
}

function metadataOf(page: PageResult, { jobId, trace }: DocumentParts): Record<string, unknown> {
  const { cache, error, metadata, pdfPages, warnings } = page;
  const attempts = trace?.attempts;
  return {
    ...(metadata == null ? {} : pageFacts(metadata)),
    sourceURL: page.sourceUrl ?? page.url,
    url: page.finalUrl,
    statusCode: page.statusCode,
    ...(page.contentType === null ? {} : { contentType: page.contentType }),
    ...(error === undefined ? {} : { error: error.message }),
    ...(pdfPages === undefined ? {} : { numPages: pdfPages.read, totalPages: pdfPages.total }),
    scrapeId: jobId,
    ...(cache === undefined ? {} : { cacheState: cache.hit ? 'hit' : 'miss' }),
    ...(cache?.storedAt == null ? {} : { cachedAt: cache.storedAt }),
    ...(trace === undefined ? {} : { creditsUsed: trace.credits, proxyUsed: proxyUsedBy(trace) }),
    scrapifie: {
      jobId,
      outcome: page.outcome ?? null,
      evidence: page.evidence ?? null,
      fetchedAt: page.fetchedAt,
      depth: page.depth,
      bytes: page.bytes,
      contentHash: page.contentHash,
      duplicateOf: page.duplicateOf,
      redirects: page.redirects ?? [],
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      ...defined({
        warnings,
        extractProblems: page.extractProblems,
        extractedBy: page.extractedBy,
        llm: page.llm,
        consoleErrors: page.consoleErrors,
      }),
      ...(attempts === undefined ? {} : { attempts, timings: trace?.timings }),
    },
  };
}
