import { z } from 'zod';
import type { Format, Route } from '../../../core/model/job.ts';
import { routeProblems } from '../../../crawl/frontier/routes.ts';
import { defined } from '../../../lib/defined.ts';
import { extractField } from './extract-fields.ts';
import { FORMATS, formatSchema, PAGE_OPTIONS } from './page-options.ts';
import { browserFields, renderWishOf } from './render-fields.ts';

const MAX_ROUTES = 50;
const MAX_PATTERNS = 20;

const listOf = (match: string | readonly string[]) => (typeof match === 'string' ? [match] : match);

const pattern = z.string().min(1).max(1_000);

/** What of the options of a page a route may set: nothing that holds a secret, or needs a consent. */
const routeOptions = z
  .strictObject({
    engine: z.enum(['auto', 'http', 'browser']).optional().describe('How these pages are fetched.'),
    formats: z.array(formatSchema).min(1).max(FORMATS.length).optional().describe('Formats that are kept.'),
    extract: extractField
      .unwrap()
      .unwrap()
      .nullable()
      .optional()
      .describe('What to read out of these pages.'),
    wait: PAGE_OPTIONS.wait.schema.unwrap().optional().describe('What to wait for before the page is read.'),
    scroll: PAGE_OPTIONS.scroll.schema
      .unwrap()
      .optional()
      .describe('Go down the page until it grows no more.'),
  })
  .superRefine((given, context) => {
    if (given.engine !== 'http') return;
    for (const path of browserFields(rendered(given))) {
      context.addIssue({
        code: 'custom',
        path: [...path],
        message: 'Needs a browser, and `engine` says `http`.',
      });
    }
  });

/** Rules for each kind of page of a crawl. */
export const routesField = z
  .array(
    z
      .strictObject({
        match: z
          .union([pattern, z.array(pattern).min(1).max(MAX_PATTERNS)])
          .describe('Patterns as in `include`.'),
        keep: z.boolean().default(true).describe('`false`: the page is fetched for its links and not kept.'),
        follow: z.boolean().default(true).describe('`false`: the links of the page are not followed.'),
        options: routeOptions.prefault({}).describe('In place of the options of the crawl.'),
      })
      .meta({ id: 'CrawlRoute' }),
  )
  .max(MAX_ROUTES)
  .default([])
  .superRefine((routes, context) => {
    for (const { field, message } of routeProblems(routes.map(({ match }) => ({ match: listOf(match) })))) {
      context.addIssue({ code: 'custom', path: field.split('.').slice(1), message });
    }
  })
  .describe('What becomes of pages whose URL matches; the first route that fits decides.')
  .meta({
    examples: [
      [
        { match: '/category/*', keep: false },
        { match: '/product/*', follow: false, options: { extract: { type: 'product' } } },
      ],
    ],
  });

type RouteOptions = z.output<typeof routeOptions>;

const rendered = ({ wait = null, scroll = false, formats = [] }: RouteOptions) => ({
  wait,
  scroll,
  formats: formats as readonly Format[],
});

export function routeFrom({ match, keep, follow, options }: z.output<typeof routesField>[number]): Route {
  const { engine, formats, extract } = options;
  const render = renderWishOf(rendered(options));
  return {
    match: listOf(match),
    keep,
    follow,
    page: {
      ...defined({ engine }),
      ...(formats === undefined ? {} : { formats: [...new Set<Format>(formats)] }),
      ...defined({ extract }),
      ...(render === null ? {} : { render }),
    },
  };
}
