import { z } from 'zod';
import { FETCHING_GIVEN } from '../../../core/model/job-kinds.ts';
import type { PageOption } from '../../../core/model/page-option.ts';
import { secretField } from '../../sessions/secret-fields.ts';
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

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Visible ASCII, spaces and tabs: what every server reads the same way, and nothing that could end a header. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** RFC 6265 cookie octets. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** Headers the engine must own, because they frame the message or name the target. */
const ENGINE_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'expect',
  'accept-encoding',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
]);

export const headers = secretField(
  'page.headers',
  z.record(z.string(), z.string().max(8_192)).superRefine((given, context) => {
    const names = Object.keys(given);
    if (names.length > 64) context.addIssue({ code: 'custom', message: 'At most 64 headers.' });
    for (const name of names) {
      const problem = headerProblem(name, given[name] ?? '');
      if (problem !== null) context.addIssue({ code: 'custom', path: [name], message: problem });
    }
  }),
)
  .default({})
  .describe(
    'Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. ' +
      'Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.',
  );

function headerProblem(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return 'Not a header name.';
  if (!HEADER_VALUE.test(value)) return 'Only printable ASCII is allowed in a header value.';
  const lower = name.toLowerCase();
  if (lower === 'cookie') return 'Use `cookies` instead.';
  return ENGINE_HEADERS.has(lower) ? 'The engine sets this header itself.' : null;
}

export const cookies = secretField(
  'page.cookies',
  z.record(z.string(), z.string().max(4_096)).superRefine((given, context) => {
    const names = Object.keys(given);
    if (names.length > 64) context.addIssue({ code: 'custom', message: 'At most 64 cookies.' });
    for (const name of names) {
      if (!HEADER_NAME.test(name)) {
        context.addIssue({ code: 'custom', path: [name], message: 'Not a cookie name.' });
      } else if (!COOKIE_VALUE.test(given[name] ?? '')) {
        context.addIssue({ code: 'custom', path: [name], message: 'Not a cookie value; encode it first.' });
      }
    }
  }),
)
  .default({})
  .describe('Cookies to send to the origin of the URL.');
