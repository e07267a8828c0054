import { z } from 'zod';
import { pluginPart } from '../config/plugin-part.ts';
import { ENGINE_NAMES } from '../model/attempt.ts';
import { defined } from '../model/defined.ts';
import { isDisguised } from '../model/engine-traits.ts';
import type { ExtractOptions } from '../model/extraction.ts';
import type { Format, PageOptions } from '../model/job.ts';
import { secretField } from '../sessions/secret-fields.ts';
import { deviceFieldsGiven } from './device-fields.ts';
import { extractField } from './extract-fields.ts';
import { proxyOptionsOf, wayFields } from './fetch-fields.ts';
import { partFields, partsOf } from './part-fields.ts';
import { browserFields, checkPauses, renderFields, renderWishOf } from './render-fields.ts';
import { ageMsOf, DAY_MS, timeField } from './retention-fields.ts';

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

/** Formats that can be extracted from a given body; the others require a fetch. */
export const READ_FORMATS = [
  'html',
  'rawHtml',
  'text',
  'links',
  'metadata',
  'markdown',
  'content',
  'structured',
] as const satisfies readonly Format[];

export const FORMATS = [...READ_FORMATS, 'screenshot', 'pdf', 'xhr'] as const satisfies readonly Format[];

/** Types whose pages load parts of themselves when they come into sight. */
const SCROLLED_TYPES: ReadonlySet<string> = new Set(['job_posting', 'linkedin_profile']);

export const ENGINES = ['auto', ...ENGINE_NAMES] as const;

const headers = secretField(
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

const crossOriginHeaders = z
  .array(z.string().max(256))
  .max(64)
  .default([])
  .describe(
    'Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret ' +
      '(`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.',
  )
  .meta({ examples: [['X-Request-Id']] });

function headerProblem(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return 'Not a header name.';
  if (!HEADER_VALUE.test(value)) return 'Only printable ASCII is allowed in a header value.';
  const lower = name.toLowerCase();
  if (lower === 'cookie') return 'Use `cookies` instead.';
  return ENGINE_HEADERS.has(lower) ? 'The engine sets this header itself.' : null;
}

const cookies = secretField(
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

/** The fields for fetching and formats, the same in every kind of request. */
export const pageFields = (formats: readonly Format[]) => ({
  engine: z
    .union([z.enum(ENGINES), pluginPart])
    .default('auto')
    .describe(
      'How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the ' +
        'operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a ' +
        'plug-in has the name of the plug-in in front, such as `lab:fetcher`.',
    ),
  formats: z
    .array(z.enum(FORMATS))
    .min(1)
    .max(FORMATS.length)
    .default([...formats])
    .describe('Formats that are kept of each page and returned.')
    .meta({ examples: [['metadata', 'links', 'text']] }),
  inline: z
    .boolean()
    .default(false)
    .describe('Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.'),
  headers,
  crossOriginHeaders,
  cookies,
  extract: extractField,
  ...partFields,
  ...renderFields,
  ...wayFields,
  timeoutMs: z
    .number()
    .int()
    .min(1_000)
    .max(300_000)
    .default(30_000)
    .describe(
      'Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.',
    ),
  taskTimeoutMs: z
    .number()
    .int()
    .min(1_000)
    .max(3_600_000)
    .optional()
    .describe(
      'Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, ' +
        'unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses ' +
        'that the host asks for by `Retry-After` are not counted.',
    ),
  maxAttempts: z.number().int().min(1).max(10).default(3).describe('Tries per URL, the first one included.'),
  maxBodyBytes: z
    .number()
    .int()
    .min(1_024)
    .max(104_857_600)
    .default(10_485_760)
    .describe('Largest body that is read, after decompression.'),
  obeyRobots: z
    .boolean()
    .default(true)
    .describe('`false` is refused unless the operator’s policy consents to that for the host.'),
});

/** Only where each URL is the caller's own: a crawl never sends anything but GET. */
export const messageFields = {
  method: z.enum(['GET', 'POST']).default('GET').describe('HTTP method.'),
  body: secretField('page.body', z.string().max(1_048_576))
    .nullable()
    .default(null)
    .describe('Request body; needs `method: "POST"`.'),
};

const MOST_AGE_MS = 365 * DAY_MS;

/** Only for pages that are asked for by name; a crawl asks only for what changed by `ifModified`. */
export const cacheFields = {
  maxAge: timeField
    .refine((age) => ageMsOf(age) <= MOST_AGE_MS, 'At most 365 days.')
    .default(0)
    .describe(
      'A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none ' +
        'does. Never for requests with headers, cookies, a session, a proxy, actions or a body.',
    ),
  reuse: z
    .boolean()
    .default(true)
    .describe('Whether the page that is fetched may answer later requests with `maxAge`.'),
};

type PageRequest = Omit<
  z.output<z.ZodObject<ReturnType<typeof pageFields>>>,
  'formats' | 'screenshot' | 'inline' | 'extract' | keyof typeof partFields
> &
  Partial<z.output<z.ZodObject<typeof messageFields & typeof partFields>>> & {
    readonly maxAge?: number | string;
    readonly reuse?: boolean;
    readonly formats?: readonly Format[];
    readonly screenshot?: z.output<(typeof renderFields)['screenshot']>;
    readonly inline?: boolean;
    readonly extract?: ExtractOptions | null;
  };

/** Refuses what contradicts itself, by the name of the field that is one too many. */
export function checkPage(given: PageRequest, context: z.core.$RefinementCtx): void {
  const refuse = (path: readonly (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path: [...path], message });
  if (typeof given.body === 'string' && given.method !== 'POST') {
    refuse(['body'], 'A body needs `method: "POST"`.');
  }
  const names = new Set(Object.keys(given.headers).map((name) => name.toLowerCase()));
  for (const [index, name] of given.crossOriginHeaders.entries()) {
    if (!names.has(name.toLowerCase())) refuse(['crossOriginHeaders', index], 'Not among `headers`.');
  }
  if (given.engine === 'http') {
    for (const path of browserFields(given)) refuse(path, 'Needs a browser, and `engine` says `http`.');
  }
  if (given.identity === 'browser' || (given.engine !== undefined && isDisguised(given.engine))) {
    for (const name of deviceFieldsGiven(given)) {
      refuse([name], 'The identity of a browser has a screen and a place of its own.');
    }
  }
  if (given.engine !== undefined && isDisguised(given.engine) && given.identity === 'bot') {
    refuse(['identity'], `The engine \`${given.engine}\` has a browser’s identity.`);
  }
  if (given.identityBrowser !== null && (given.engine !== 'http' || given.identity !== 'browser')) {
    refuse(
      ['identityBrowser'],
      'Needs `identity: "browser"` and `engine: "http"`: what renders pages is Chromium.',
    );
  }
  checkPauses(given, context);
}

export function pageOptionsOf(request: PageRequest): PageOptions {
  const { formats = [], screenshot = null, crossOriginHeaders } = request;
  const maxAgeMs = ageMsOf(request.maxAge ?? 0);
  return {
    engine: request.engine,
    formats: [...new Set<Format>([...formats, ...(screenshot === null ? [] : (['screenshot'] as const))])],
    headers: request.headers,
    ...(crossOriginHeaders.length === 0
      ? {}
      : { crossOriginHeaders: crossOriginHeaders.map((name) => name.toLowerCase()) }),
    cookies: request.cookies,
    method: request.method ?? 'GET',
    body: request.body ?? null,
    timeoutMs: request.timeoutMs,
    ...defined({ taskTimeoutMs: request.taskTimeoutMs }),
    maxAttempts: request.maxAttempts,
    maxBodyBytes: request.maxBodyBytes,
    obeyRobots: request.obeyRobots,
    render: renderWishOf(request),
    ...(request.scroll === null && SCROLLED_TYPES.has(request.extract?.type ?? '')
      ? { scrollsByType: true }
      : {}),
    session: request.session,
    proxy: proxyOptionsOf(request.proxy),
    ...(request.proxy?.maxTier === undefined ? {} : { maxProxyTier: request.proxy.maxTier }),
    identity: request.identity,
    ...(request.identityBrowser === null ? {} : { identityBrowser: request.identityBrowser }),
    extract: request.extract ?? null,
    ...partsOf(request),
    isInline: request.inline ?? false,
    ...(maxAgeMs === 0 ? {} : { maxAgeMs }),
    ...(request.reuse === false ? { isReusable: false as const } : {}),
  };
}
