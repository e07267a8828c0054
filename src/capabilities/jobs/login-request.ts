import { z } from 'zod';
import { pageFields } from './page-options.ts';
import { checkPage } from './page-request.ts';

const fields = pageFields('crawl', ['rawHtml']);
const { wait, actions, engine, headers, timeoutMs, obeyRobots, proxy, identity } = fields;
/** For the fields of a page request that a log-in does not have. */
const DEFAULTS = z.object(fields).parse({});

/** What a log-in may ask for: where, how the pages are fetched, and steps in place of the form that is found. */
export const loginRequestSchema = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(8_192)
      .describe('The page with the log-in form.')
      .meta({ examples: ['https://shop.example/login'] }),
    actions: actions.describe(
      'Steps that log in, for pages whose form is not found or is not enough. `{{username}}` and `{{password}}` in `type` ' +
        'actions stand for the credentials of the session. Left out: the form of the page is filled in and sent. Needs a browser.',
    ),
    engine,
    wait,
    headers,
    timeoutMs: timeoutMs.describe('Time for each of the pages that the log-in takes.'),
    obeyRobots,
    proxy,
    identity,
  })
  .superRefine((given, context) => checkPage({ ...DEFAULTS, ...given }, context))
  .meta({ id: 'LoginRequest', examples: [{ url: 'https://shop.example/login' }] });

export type LoginRequest = z.output<typeof loginRequestSchema>;
