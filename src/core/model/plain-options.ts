import { z } from 'zod';
import { OTHER_BROWSERS } from './identity.ts';
import type { PageOptions } from './job.ts';
import { isGiven, type KeptOptions, type PlainPageOption, type PlainRenderOption } from './page-option.ts';

/** What need not be loaded to know what a page says. */
const BLOCKED_KINDS = ['images', 'fonts', 'media', 'trackers'] as const;
export type BlockedKind = (typeof BLOCKED_KINDS)[number];

/**
 * What a browser does on a page, beside the options that need code of their own. `RenderWish`, the messages to render workers,
 * and the refusals of other engines follow from it.
 */
export const PLAIN_RENDER_OPTIONS = {
  blockResources: {
    schema: z.array(z.enum(BLOCKED_KINDS)).max(4).default([]).describe('What a browser need not load.'),
    keeps: (kinds: readonly BlockedKind[]) => [...new Set(kinds)],
    cannot: 'choose what is loaded',
    needsBrowser: false,
    flags: {
      blockResources: {
        flag: '--block-resources <kind>',
        says: `what a browser need not load: ${BLOCKED_KINDS.join(', ')}; repeat it or use commas`,
        reads: 'list',
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Do not load',
        kind: 'checks',
        choices: [
          ['images', 'Images'],
          ['fonts', 'Fonts'],
          ['media', 'Media'],
          ['trackers', 'Trackers'],
        ],
      },
    ],
  },
} as const satisfies Readonly<Record<string, PlainRenderOption>>;

/** Options of how a page is fetched, beside those that need code of their own. `PageOptions` has what is kept of them. */
export const PLAIN_PAGE_OPTIONS = {
  /** Kept in lower case. Such headers go to every origin of the job, and not only to those of its start URLs. */
  crossOriginHeaders: {
    schema: z
      .array(z.string().max(256))
      .max(64)
      .default([])
      .describe(
        'Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret ' +
          '(`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.',
      )
      .meta({ examples: [['X-Request-Id']] }),
    keeps: (names: readonly string[]) => names.map((name) => name.toLowerCase()),
    isOfFetch: false,
    flags: {
      crossOriginHeader: {
        flag: '--cross-origin-header <name>',
        says: 'a --header that also goes to other origins, where redirects and links lead; repeatable',
        reads: 'list',
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Headers for other origins too',
        kind: 'lines',
        hint: 'Names of the headers above, one per line.',
      },
    ],
  },
  /** A request without this option looks like Chrome. */
  identityBrowser: {
    schema: z
      .enum(OTHER_BROWSERS)
      .nullable()
      .default(null)
      .describe(
        'The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.',
      ),
    isOfFetch: true,
    flags: {
      identityBrowser: {
        flag: '--identity-browser <name>',
        says: 'browser that plain HTTP looks like, instead of Chrome',
        choices: OTHER_BROWSERS,
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Which browser',
        kind: 'choice',
        choices: [
          ['', 'Chrome'],
          ['firefox', 'Firefox'],
          ['safari', 'Safari'],
        ],
        isHalf: true,
      },
    ],
  },
  /** Without this option the setting decides. */
  taskTimeoutMs: {
    schema: z
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
    isOfFetch: false,
    flags: {
      taskTimeout: {
        flag: '--task-timeout <ms>',
        says: 'time for all attempts at a page and the pauses between them',
        reads: 'duration',
      },
    },
    form: [
      { group: 'limits', label: 'All attempts, ms', kind: 'number', placeholder: '60000', isHalf: true },
    ],
  },
} as const satisfies Readonly<Record<string, PlainPageOption>>;

export type PlainRenderOptions = KeptOptions<typeof PLAIN_RENDER_OPTIONS>;
export type PlainPageOptions = KeptOptions<typeof PLAIN_PAGE_OPTIONS>;

/** Answers the question of `isOfFetch` for the options that need code of their own; one that is added does not compile until it has its answer here. */
const IS_OF_FETCH = {
  engine: true,
  identity: true,
  obeyRobots: true,
  render: true,
  scrollsByType: true,
  // A request with one of these is never answered by a stored page.
  method: false,
  body: false,
  fillBodyFrom: false,
  headers: false,
  cookies: false,
  session: false,
  proxy: false,
  // How the page is read and shown; it is read again.
  formats: false,
  extract: false,
  parts: false,
  isInline: false,
  maxPdfPages: false,
  // Limits, and which stored pages may answer.
  timeoutMs: false,
  maxAttempts: false,
  maxBodyBytes: false,
  maxProxyTier: false,
  maxAgeMs: false,
  isReusable: false,
} as const satisfies Readonly<Record<Exclude<keyof PageOptions, keyof PlainPageOptions>, boolean>>;

/** The options that a stored page has to share with a request to answer it. */
export const FETCH_OPTIONS: readonly (keyof PageOptions)[] = [
  ...Object.entries<boolean>(IS_OF_FETCH),
  ...Object.entries<PlainPageOption>(PLAIN_PAGE_OPTIONS).map(
    ([name, { isOfFetch }]) => [name, isOfFetch] as const,
  ),
].flatMap(([name, isOfFetch]) => (isOfFetch ? [name as keyof PageOptions] : []));

/** In words, the plain options that a browser is asked for. */
export const plainRenderWords = (wish: PlainRenderOptions): readonly string[] =>
  Object.entries<PlainRenderOption>(PLAIN_RENDER_OPTIONS)
    .filter(([name]) => isGiven(wish[name as keyof PlainRenderOptions]))
    .map(([, { cannot }]) => cannot);
