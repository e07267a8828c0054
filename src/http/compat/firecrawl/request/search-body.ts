import { z } from 'zod';
import { bodyFields, scrapeOptionsField } from './scrape-options.ts';

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
