import { z } from 'zod';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { defined } from '../../../../lib/defined.ts';

/** Bodies of v1 as those of v2, which has other names for some fields. A value that is not an object is returned unchanged. */

type Body = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const flag = z.boolean().optional();
/** Fields that v2 does not have are checked here: its schemas never see them. */
const crawlFields = z.looseObject({ ignoreSitemap: flag });
const mapFields = z.looseObject({
  ignoreSitemap: flag,
  sitemapOnly: flag,
  useIndex: flag,
  filterByPath: flag,
});

/** v1 gives a page half of the time that v2 does. */
const TIMEOUT_MS = 30_000;
/** Most parts of the path below the start of a crawl. */
const MAX_DEPTH = 10;
const SEARCH_LIMIT = 5;
const MODES: ReadonlySet<unknown> = new Set(['llm', 'llm-extraction']);

export function scrapeBodyOfV1(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { formats, extract, jsonOptions, changeTrackingOptions, parsePDF, agent, ...rest } = body;
  const json = isRecord(jsonOptions) ? jsonOptions : isRecord(extract) ? extract : {};
  const tracking = isRecord(changeTrackingOptions) ? changeTrackingOptions : {};
  return {
    timeout: TIMEOUT_MS,
    ...rest,
    ...(Array.isArray(formats) ? { formats: formats.map((each) => formatOfV1(each, json, tracking)) } : {}),
    // `parsePDF: false` asks for the bytes of the file, which v2 says by an empty list of parsers.
    ...(parsePDF === false ? { parsers: [] } : {}),
    ...(isRecord(agent) ? { agent } : {}),
  };
}

function formatOfV1(format: unknown, json: Body, tracking: Body): unknown {
  if (format === 'screenshot@fullPage') return { type: 'screenshot', fullPage: true };
  if (format === 'json' || format === 'extract') {
    // The only mode there is. Anything else is refused with the fields that v2 does not know.
    const { mode, ...wish } = json;
    return { type: 'json', ...wish, ...(mode === undefined || MODES.has(mode) ? {} : { mode }) };
  }
  return format === 'changeTracking' ? { type: format, ...tracking } : format;
}

export function crawlBodyOfV1(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { ignoreSitemap, allowBackwardLinks, scrapeOptions, ...rest } = parseRequest(crawlFields, body);
  return {
    maxDepth: MAX_DEPTH,
    ...rest,
    ...(ignoreSitemap === true ? { sitemap: 'skip' } : {}),
    ...defined({ crawlEntireDomain: allowBackwardLinks }),
    scrapeOptions: scrapeBodyOfV1(scrapeOptions ?? {}),
  };
}

export function mapBodyOfV1(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const fields = parseRequest(mapFields, body);
  // There is no index of other people's pages that could be used.
  const { ignoreSitemap, sitemapOnly, useIndex: _useIndex, ...rest } = fields;
  const sitemap = sitemapOnly === true ? 'only' : ignoreSitemap === true ? 'skip' : undefined;
  return { ...rest, ...defined({ sitemap }) };
}

/** Where v1 names a language v2 has none: it is told from the country. */
export function searchBodyOfV1(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { scrapeOptions, ...rest } = body;
  return {
    limit: SEARCH_LIMIT,
    ...rest,
    ...(scrapeOptions === undefined ? {} : { scrapeOptions: scrapeBodyOfV1(scrapeOptions) }),
  };
}
