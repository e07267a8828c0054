import { z } from 'zod';
import { webhookHeadersField } from '../../../../capabilities/jobs/request/webhook-fields.ts';
import { secretField } from '../../../../capabilities/sessions/secret-fields.ts';
import { ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import { bodyFields, pageRequestOf, scrapeOptionsField } from './scrape-options.ts';

const patterns = z.array(z.string().min(1).max(500)).max(50).default([]);

/** An address of a web page; one without a scheme is taken for http. */
export const webUrl = z
  .string()
  .min(1)
  .max(8_192)
  .transform((url) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`))
  .refine((url) => /^https?:/i.test(url) && URL.canParse(url), 'Invalid URL');

const EVENTS = ['started', 'page', 'completed', 'failed'] as const;

/** The address alone, or an object with it. `secret` is no field of the vendor's: it signs the messages of this job. */
export const webhookField = z
  .preprocess(
    (given) => (typeof given === 'string' ? { url: given } : given),
    z
      .strictObject({
        url: z.string().min(1).max(2_048),
        headers: webhookHeadersField.default({}),
        metadata: z.record(z.string(), z.unknown()).default({}),
        events: z
          .array(z.enum(EVENTS))
          .min(1)
          .default([...EVENTS]),
        secret: secretField('webhook.secret', z.string().min(1).max(200)).optional(),
      })
      .optional(),
  )
  .optional();

export const crawlBody = z.strictObject({
  url: webUrl,
  includePaths: patterns,
  excludePaths: patterns,
  regexOnFullURL: z.boolean().default(false),
  maxDiscoveryDepth: z.number().int().min(0).max(100_000).optional(),
  /** The name in v1 for the most parts of the path below the start. */
  maxDepth: z.number().int().min(0).max(100).optional(),
  limit: z.number().int().min(1).max(10_000_000).default(10_000),
  sitemap: z.enum(['include', 'skip', 'only']).default('include'),
  crawlEntireDomain: z.boolean().default(false),
  allowExternalLinks: z.boolean().default(false),
  allowSubdomains: z.boolean().default(false),
  ignoreRobotsTxt: z.boolean().default(false),
  robotsUserAgent: z.string().optional(),
  deduplicateSimilarURLs: z.boolean().default(true),
  ignoreQueryParameters: z.boolean().default(false),
  delay: z.number().positive().max(60).optional(),
  maxConcurrency: z.number().int().min(1).max(10_000).optional(),
  prompt: z.string().optional(),
  webhook: webhookField,
  scrapeOptions: scrapeOptionsField.prefault({}),
  ...bodyFields,
});

type CrawlBody = z.output<typeof crawlBody>;

/** What stands before the path of a URL. */
const ORIGIN = '^[a-z]+://[^/?#]*';

const cannot = (option: string, why: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', `\`${option}\` is not available on this server: ${why}`);

/** A crawl as our own requests have it. */
export function crawlRequestOf(body: CrawlBody): Record<string, unknown> {
  const { url, scrapeOptions } = body;
  if (body.prompt !== undefined) throw cannot('prompt', 'no language model chooses the options of a crawl.');
  if (body.robotsUserAgent !== undefined)
    throw cannot('robotsUserAgent', 'robots.txt is read as the crawler that asks.');
  if (body.delay !== undefined) throw cannot('delay', 'the pace on each host is set by its policy.');
  const pattern = body.regexOnFullURL ? (source: string) => `re:${source}` : pathPattern;
  const outside = body.crawlEntireDomain ? null : outsidePath(url);
  const { maxDepth } = body;
  return {
    urls: [url],
    maxPages: body.limit,
    maxDepth: body.maxDiscoveryDepth ?? null,
    include: body.includePaths.map(pattern),
    exclude: [
      ...body.excludePaths.map(pattern),
      ...(outside === null ? [] : [outside]),
      ...(maxDepth === undefined ? [] : [deeperThan(pathDepth(url) + maxDepth)]),
    ],
    sitemap: body.sitemap,
    allowExternal: body.allowExternalLinks,
    allowSubdomains: body.allowSubdomains,
    ignoreQueryParameters: body.ignoreQueryParameters ? ['*'] : [],
    followCanonical: body.deduplicateSimilarURLs,
    concurrency: body.maxConcurrency ?? null,
    options: { ...pageRequestOf(scrapeOptions), ...(body.ignoreRobotsTxt ? { obeyRobots: false } : {}) },
  };
}

/**
 * A regular expression for the path of a URL as one for the whole URL, which is what `include` and `exclude` of a crawl
 * are. It is found anywhere in the path, as there.
 */
export function pathPattern(source: string): string {
  return `re:${alternativesOf(source).map(onePath).join('|')}`;
}

function onePath(source: string): string {
  const isAtStart = source.startsWith('^');
  const isAtEnd = /(?:^|[^\\])(?:\\\\)*\$$/.test(source);
  const inner = source.slice(isAtStart ? 1 : 0, isAtEnd ? -1 : undefined);
  // The slash before the path is matched here, so that nothing of the host is taken for a part of the path.
  const [, slash, rest = ''] = /^(\\?\/)?(.*)$/s.exec(inner) ?? [];
  const before = isAtStart ? (slash ?? '') : slash === undefined ? '/[^?#]*' : '(?:/|/[^?#]*/)';
  return `${ORIGIN}${before}(?:${rest})${isAtEnd ? '(?:[?#]|$)' : ''}`;
}

/** Splits at each `|` that stands in no group and in no class. */
function alternativesOf(source: string): string[] {
  const found = [''];
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at] ?? '';
    const whole = char === '\\' ? source.slice(at, at + 2) : char;
    if (whole.length === 2) at += 1;
    else if (isInClass) isInClass = char !== ']';
    else if (char === '[') isInClass = true;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === '|' && depth === 0) {
      found.push('');
      continue;
    }
    found[found.length - 1] += whole;
  }
  return found;
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const other = (char: string) => `[^${char.replace(/[\\\]^-]/g, '\\$&')}]`;

/** URLs of the host whose path does not begin as that of this one; null for one at the root, which has none. */
export function outsidePath(url: string): string | null {
  const { host, pathname } = new URL(url);
  if (pathname === '/') return null;
  // RE2 has no look-ahead: the path differs at its first character, or has that and differs at the second, and so on.
  const differs = [...pathname].reduceRight((rest, char) => {
    const goesOn = rest === '' ? '' : `|${literal(char)}(?:${rest})`;
    return `$|${other(char)}${goesOn}`;
  }, '');
  return `re:^[a-z]+://${literal(host)}(?:${differs})`;
}

/** URLs whose path has more parts than `most`. */
export const deeperThan = (most: number): string => `re:${ORIGIN}(?:/[^/?#]+){${most + 1}}`;

const pathDepth = (url: string): number =>
  new URL(url).pathname.split('/').filter((part) => part !== '').length;

export type Webhook = NonNullable<z.output<typeof webhookField>>;
