import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { allows } from '../../../../capabilities/accounts/scopes.ts';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { batchRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import { ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import { hostOf } from '../../../../crawl/frontier/canonical.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import { clientGone } from '../../../server/connections.ts';
import { bodyOf, type FirecrawlDeps, givenBy, statusParts } from '../firecrawl-deps.ts';
import {
  bodyFields,
  cacheRequestOf,
  derivedRequestOf,
  pageRequestOf,
  type ScrapeOptions,
  scrapeOptionsField,
  viewOf,
} from '../request/scrape-options.ts';
import { searchBodyOfV1 } from '../request/v1.ts';
import { searchWeb, type WebHit } from '../searxng.ts';
import type { Document } from '../view/document.ts';
import { documentsOf } from '../view/job-status.ts';

const unsupported = (message: string) => new ScrapifieError('UNSUPPORTED_OPTION', message);
const NO_PLACE =
  'lang and country have no effect: without a search engine the pages that this account has stored are searched.';
const NEEDS_WEB = 'needs a search engine, and none is set up here (SCRAPIFIE_SEARXNG_URL).';

/** Searches the web through a SearXNG where one is set up, else the stored pages of the account. */
export function addSearchRoutes(app: App, deps: FirecrawlDeps): void {
  const { searches, settings, isV1, jobs } = deps;

  async function storedHits(request: FastifyRequest, body: SearchBody): Promise<WebHit[]> {
    const other = body.sources.find((source) => source !== 'web');
    if (other !== undefined) throw unsupported(`The source "${other}" ${NEEDS_WEB}`);
    if (body.categories.length > 0) throw unsupported(`\`categories\` ${NEEDS_WEB}`);
    for (const name of ['tbs', 'location'] as const) {
      if (body[name] !== undefined) throw unsupported(`\`${name}\` ${NEEDS_WEB}`);
    }
    const key = apiKeyOf(request);
    const scope = { accountId: key.accountId, hasPrivate: allows(key.scopes, 'credentials:read') };
    const hosts = body.includeDomains?.map((domain) => hostOf(domain)) ?? [undefined];
    const excluded = new Set(body.excludeDomains?.map((domain) => String(hostOf(domain))));
    const hits: (WebHit & { readonly score: number })[] = [];
    for (const host of hosts) {
      // More than are wanted where some are left out.
      const limit = Math.min(100, excluded.size === 0 ? body.limit : body.limit * 3);
      const { items } = await searches.run(scope, { q: body.query, host, limit });
      hits.push(
        ...items.map(({ url, title, snippet, score }) => ({
          url,
          title: title?.text ?? '',
          description: snippet.text,
          score,
        })),
      );
    }
    return hits
      .filter(({ url }) => !excluded.has(new URL(url).host))
      .sort((one, other_) => other_.score - one.score)
      .slice(0, body.limit)
      .map(({ score: _score, ...hit }) => hit);
  }

  async function webHits(base: string, body: SearchBody, source: SearchSource, signal: AbortSignal) {
    const timeRange = body.tbs === undefined ? null : timeRangeOf(body.tbs);
    if (timeRange === undefined) throw unsupported('`tbs` may be qdr:d, qdr:w, qdr:m or qdr:y here.');
    if (body.location !== undefined) throw unsupported('`location` is not available here; use `country`.');
    return searchWeb(base, {
      query: queryOf(body),
      category: categoryOf(body, source),
      limit: body.limit,
      language: languageOf(body),
      timeRange,
      timeoutMs: body.timeout,
      signal,
    });
  }

  /** The pages of hits, by the address of the hit. */
  async function documentsFor(
    request: FastifyRequest,
    reply: FastifyReply,
    urls: readonly string[],
    options: ScrapeOptions,
    body: SearchBody,
  ): Promise<ReadonlyMap<string, Document>> {
    const { accountId, scopes } = apiKeyOf(request);
    if (!allows(scopes, 'scrape')) {
      throw new ScrapifieError('FORBIDDEN', 'Pages of hits are for keys with the scope "scrape".');
    }
    const asked = parseRequest(batchRequestSchema, {
      urls,
      ignoreInvalidUrls: true,
      options: { ...pageRequestOf(options), ...cacheRequestOf(options) },
      ...derivedRequestOf(options, body.zeroDataRetention),
    });
    const given = { ...givenBy(request), shownAs: viewOf(options, body) };
    const { id } = await jobs.batch(asked, accountId, given);
    const job = await jobs.waitFor(id, body.timeout, clientGone(reply));
    const { documents } = await documentsOf(job, { skip: 0 }, statusParts(request, deps));
    return new Map(documents.map((document) => [String(document.metadata.sourceURL), document]));
  }

  app.route({
    method: 'POST',
    url: '/search',
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request, reply) {
      const body = bodyOf(searchBody, isV1 ? searchBodyOfV1(request.body) : request.body);
      if (body.highlights === true) throw unsupported('`highlights` needs a language model of the vendor.');
      if (body.enterprise !== undefined)
        throw unsupported('`enterprise` belongs to a service of the vendor.');
      const base = settings.searxngUrl;
      const gone = clientGone(reply);
      const found: [SearchSource, WebHit[]][] =
        base === undefined
          ? [['web', await storedHits(request, body)]]
          : await Promise.all(
              body.sources.map(
                async (source): Promise<[SearchSource, WebHit[]]> => [
                  source,
                  await webHits(base, body, source, gone),
                ],
              ),
            );
      const { scrapeOptions } = body;
      const pages = found.flatMap(([source, hits]) =>
        source === 'images' ? [] : hits.map(({ url }) => url),
      );
      const documents =
        scrapeOptions === undefined || scrapeOptions.formats.length === 0 || pages.length === 0
          ? new Map<string, Document>()
          : await documentsFor(request, reply, pages, scrapeOptions, body);
      const shown = found.map(([source, hits]): [SearchSource, object[]] => [
        source,
        hits.map((hit, at) => ({ ...hitView(hit, source, at), ...documents.get(hit.url) })),
      ]);
      // Clients of v1 send both with every search, so they cannot be refused.
      const isPlaceless = base === undefined && (body.lang !== undefined || body.country !== undefined);
      return {
        success: true,
        ...(isPlaceless ? { warning: NO_PLACE } : {}),
        data: isV1 ? shown.flatMap(([, hits]) => hits) : Object.fromEntries(shown),
      };
    },
  });
}

function hitView(
  { url, title, description, date, imageUrl, imageWidth, imageHeight }: WebHit,
  source: SearchSource,
  at: number,
) {
  const position = at + 1;
  if (source === 'images') return { title, imageUrl, imageWidth, imageHeight, url, position };
  if (source === 'news') return { title, url, snippet: description, date, imageUrl, position };
  return { url, title, description, position };
}

/** Words that search engines know for what a request limits its hits to. */
function queryOf({ query, includeDomains = [], excludeDomains = [], categories }: SearchBody): string {
  const sites = [...includeDomains, ...(categories.includes('github') ? ['github.com'] : [])];
  const only = sites.map((domain) => `site:${domain}`).join(' OR ');
  return [
    query,
    ...(sites.length > 1 ? [`(${only})`] : sites.length === 1 ? [only] : []),
    ...excludeDomains.map((domain) => `-site:${domain}`),
    ...(categories.includes('pdf') ? ['filetype:pdf'] : []),
  ].join(' ');
}

function categoryOf({ categories }: SearchBody, source: SearchSource) {
  if (source !== 'web') return source;
  return categories.includes('research') ? ('science' as const) : ('general' as const);
}

/** `en` and `us` together are `en-US`; a country alone says nothing about the language. */
function languageOf({ lang, country }: SearchBody): string | null {
  if (lang === undefined) return null;
  return country === undefined ? lang : `${lang}-${country.toUpperCase()}`;
}

const SOURCES = ['web', 'news', 'images'] as const;
const CATEGORIES = ['github', 'research', 'pdf'] as const;

const named = <T extends readonly [string, ...string[]]>(names: T) =>
  z.preprocess(
    (given) => (typeof given === 'object' && given !== null && 'type' in given ? given.type : given),
    z.enum(names),
  );

const domains = z.array(z.string().min(1).max(253)).max(50).optional();

export const searchBody = z
  .strictObject({
    query: z.string().min(1).max(500),
    limit: z.number().int().min(1).max(100).default(10),
    sources: z.array(named(SOURCES)).min(1).default(['web']),
    categories: z.array(named(CATEGORIES)).default([]),
    includeDomains: domains,
    excludeDomains: domains,
    tbs: z.string().max(100).optional(),
    lang: z.string().max(10).optional(),
    country: z.string().max(10).optional(),
    location: z.string().max(200).optional(),
    timeout: z.number().int().min(1_000).max(300_000).default(60_000),
    ignoreInvalidURLs: z.boolean().default(false),
    highlights: z.boolean().optional(),
    enterprise: z.array(z.string()).optional(),
    scrapeOptions: z
      .preprocess(
        // A search without formats scrapes no result, so they have no default here.
        (given) => (typeof given === 'object' && given !== null ? { formats: [], ...given } : given),
        scrapeOptionsField,
      )
      .optional(),
    ...bodyFields,
  })
  .refine(
    ({ includeDomains, excludeDomains }) => includeDomains === undefined || excludeDomains === undefined,
    'includeDomains and excludeDomains cannot both be specified',
  );

export type SearchBody = z.output<typeof searchBody>;
export type SearchSource = SearchBody['sources'][number];

const TIME_RANGES = { d: 'day', w: 'week', m: 'month', y: 'year' } as const;

/** `qdr:w` is the last week. Undefined: not a span that can be searched by. */
export function timeRangeOf(tbs: string): (typeof TIME_RANGES)[keyof typeof TIME_RANGES] | undefined {
  const letter = /^qdr:([dwmy])$/.exec(tbs)?.[1];
  return letter === undefined ? undefined : TIME_RANGES[letter as keyof typeof TIME_RANGES];
}
