import { z } from 'zod';
import { FETCHING_GIVEN } from '../../core/model/job-kinds.ts';
import type { PageOption } from '../../core/model/page-option.ts';
import { secretField } from '../sessions/secret-fields.ts';
import { ageMsOf, DAY_MS, timeField } from './retention-fields.ts';

const MOST_AGE_MS = 365 * DAY_MS;
/** Requests whose URLs are all the caller's own: a crawl never sends anything but GET, and never takes a stored page. */
const NAMES_PAGES = FETCHING_GIVEN;

/** The options of pages that are asked for by name. */
export const singlePageOptions = {
  method: {
    schema: z.enum(['GET', 'POST']).default('GET').describe('HTTP method.'),
    requests: NAMES_PAGES,
    form: [
      {
        group: 'fetch',
        label: 'Method',
        kind: 'choice',
        choices: [
          ['', 'GET'],
          ['POST', 'POST'],
        ],
      },
    ],
  },
  body: {
    schema: secretField('page.body', z.string().max(1_048_576))
      .nullable()
      .default(null)
      .describe('Request body; needs `method: "POST"`.'),
    requests: NAMES_PAGES,
    form: [{ group: 'fetch', label: 'Request body', kind: 'long', hint: 'Needs the method POST.' }],
  },
  maxAge: {
    schema: timeField
      .refine((age) => ageMsOf(age) <= MOST_AGE_MS, 'At most 365 days.')
      .default(0)
      .describe(
        'A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none ' +
          'does. Never for requests with headers, cookies, a session, a proxy, actions or a body.',
      ),
    requests: NAMES_PAGES,
    stored: 'maxAgeMs',
    form: [
      {
        group: 'limits',
        isMain: true,
        label: 'A stored page may answer',
        kind: 'text',
        hint: 'If it is no older than this: 2h, 30m, or milliseconds.',
        placeholder: '0',
      },
    ],
  },
  reuse: {
    schema: z
      .boolean()
      .default(true)
      .describe('Whether the page that is fetched may answer later requests with `maxAge`.'),
    requests: NAMES_PAGES,
    stored: 'isReusable',
    form: [
      {
        group: 'limits',
        label: 'The page may answer later requests',
        kind: 'off',
        hint: 'Those that take a stored page by its age.',
      },
    ],
  },
} as const satisfies Readonly<Record<string, PageOption>>;
