import { z } from 'zod';
import { pluginPart } from '../../../core/config/plugin-part.ts';
import { ENGINE_NAMES } from '../../../core/model/attempt.ts';
import { DEFAULT_ATTEMPT_MS, type Format } from '../../../core/model/job.ts';
import { type JobKind, kindsWith } from '../../../core/model/job-kinds.ts';
import type { PageOption } from '../../../core/model/page-option.ts';
import { PLAIN_PAGE_OPTIONS, PLAIN_RENDER_OPTIONS } from '../../../core/model/plain-options.ts';
import { deviceOptions } from './device-fields.ts';
import { extractField } from './extract-fields.ts';
import { wayOptions } from './fetch-fields.ts';
import { partOptions } from './part-fields.ts';
import { renderOptions } from './render-fields.ts';
import { cookies, headers, singlePageOptions } from './single-page-fields.ts';

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
export const ENGINES = ['auto', ...ENGINE_NAMES] as const;

export const formatSchema = z.enum(FORMATS).meta({ id: 'PageFormat' });
const engineSchema = z
  .union([z.enum(ENGINES), pluginPart])
  .meta({ id: 'PageEngine', description: 'An engine, or one of a plug-in, such as `lab:fetcher`.' });

const KEEPS_PAGES = kindsWith({ isListOfUrls: false });
const formatsField = (standard: readonly Format[]) =>
  z
    .array(formatSchema)
    .min(1)
    .max(FORMATS.length)
    .default([...standard])
    .describe('Formats that are kept of each page and returned.')
    .meta({ examples: [['metadata', 'links', 'text']] });

/** Some have their place among the fields of requests; others come behind them. */
const { crossOriginHeaders, identityBrowser, taskTimeoutMs, ...otherOptions } = PLAIN_PAGE_OPTIONS;

/**
 * The one registry of the options of a page: of every request, in the order of its fields. The API, the command line, the dashboard, the
 * clients and the docs have their options from it. An option that only has to be brought to where it is used stands in
 * `core/model/plain-options.ts`; one that other code has to know of stands here.
 */
export const PAGE_OPTIONS = {
  engine: {
    schema: engineSchema
      .default('auto')
      .describe(
        'How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the ' +
          'operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a ' +
          'plug-in has the name of the plug-in in front, such as `lab:fetcher`.',
      ),
    flags: {
      engine: {
        flag: '--engine <name>',
        says: 'how pages are fetched',
        reads: 'choice-or-plugin',
        choices: ENGINES,
      },
    },
    form: [
      {
        group: 'fetch',
        isMain: true,
        label: 'Engine',
        kind: 'choice',
        hint: 'Automatic takes the cheapest that works; the tab “Why” gives the reason.',
        choices: [
          ['', 'Automatic'],
          ['http', 'HTTP, without scripts'],
          ['browser', 'Browser'],
          ['stealth', 'Stealth browser (needs consent)'],
          ['flaresolverr', 'FlareSolverr (needs consent)'],
          ['firecrawl', 'Firecrawl-compatible API (needs consent)'],
          ['replay', 'Archive of the operator'],
        ],
      },
    ],
  },
  formats: {
    schema: formatsField([]),
    requests: KEEPS_PAGES,
    form: [
      {
        group: 'get',
        isMain: true,
        label: 'Formats',
        kind: 'checks',
        choices: [
          ['markdown', 'Markdown', 'main content'],
          ['text', 'Text', 'main content'],
          ['html', 'HTML', 'without scripts'],
          ['rawHtml', 'Raw HTML', 'as the server sent it'],
          ['links', 'Links', 'with text and rel'],
          ['metadata', 'Metadata', 'title, OG, JSON-LD'],
          ['content', 'Content', 'author, dates, words'],
          ['structured', 'Structured data', 'in one view'],
          ['screenshot', 'Screenshot', 'needs a browser'],
          ['pdf', 'PDF', 'needs a browser'],
          ['xhr', 'Network', 'needs a browser'],
        ],
      },
    ],
  },
  inline: {
    schema: z
      .boolean()
      .default(false)
      .describe('Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.'),
    requests: KEEPS_PAGES,
    form: [],
    stored: 'isInline',
  },
  headers: {
    schema: headers,
    flags: {
      header: {
        flag: '--header <line>',
        says: `request header 'Name: value'; repeatable`,
        reads: 'header',
        isHidden: true,
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Request headers',
        kind: 'pairs',
        hint: 'Name: value, one per line.',
        placeholder: 'Accept-Language: de',
      },
    ],
  },
  crossOriginHeaders,
  cookies: {
    schema: cookies,
    flags: {
      cookie: {
        flag: '--cookie <pair>',
        says: `cookie 'name=value' to send; repeatable`,
        reads: 'cookie',
        isHidden: true,
      },
    },
    form: [
      {
        group: 'fetch',
        label: 'Cookies',
        kind: 'pairs',
        hint: 'Name: value, one per line. Sent to the origin of the URL alone.',
      },
    ],
  },
  extract: {
    schema: extractField,
    requests: KEEPS_PAGES,
    form: [
      {
        group: 'extract',
        isMain: true,
        part: 'type',
        label: 'Read the page as',
        kind: 'choice',
        choices: [
          ['', 'No type'],
          ['auto', 'Whatever the evidence says'],
          ['product', 'Product'],
          ['article', 'Article'],
          ['job_posting', 'Job posting'],
          ['recipe', 'Recipe'],
          ['event', 'Event'],
          ['forum_thread', 'Forum thread'],
          ['organization', 'Organization'],
          ['company_website', 'Company website'],
          ['linkedin_profile', 'LinkedIn profile'],
          ['breadcrumbs', 'Breadcrumbs'],
        ],
      },
      {
        group: 'extract',
        isMain: true,
        part: 'rules',
        label: 'Rules',
        kind: 'json',
        hint: 'Field → CSS selector, or an object. The tab “Picker” writes them by a click.',
        placeholder: '{ "title": "h1", "price": { "css": ".price", "type": "price" } }',
      },
      {
        group: 'extract',
        part: 'schema',
        label: 'JSON Schema',
        kind: 'json',
        hint: 'What the rules found is checked against it.',
        placeholder: '{ "required": ["title"] }',
      },
      {
        group: 'extract',
        part: 'llm',
        label: 'Language model',
        kind: 'choice',
        hint: 'Asks the model of the settings for required fields that the rules left empty.',
        choices: [
          ['', 'Not asked'],
          ['true', 'Fills gaps'],
          ['derived', 'Fills gaps and judges'],
        ],
      },
    ],
  },
  ...partOptions,
  ...renderOptions,
  ...PLAIN_RENDER_OPTIONS,
  ...deviceOptions,
  ...wayOptions,
  identityBrowser,
  timeoutMs: {
    schema: z
      .number()
      .int()
      .min(1_000)
      .max(300_000)
      .default(DEFAULT_ATTEMPT_MS)
      .describe(
        'Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.',
      ),
    form: [
      {
        group: 'limits',
        isMain: true,
        label: 'One attempt, ms',
        kind: 'number',
        placeholder: '30000',
        isHalf: true,
      },
    ],
  },
  taskTimeoutMs,
  maxAttempts: {
    schema: z.number().int().min(1).max(10).default(3).describe('Tries per URL, the first one included.'),
    flags: {
      maxAttempts: {
        flag: '--max-attempts <n>',
        says: 'tries per URL, the first one included',
        reads: 'whole-number',
      },
    },
    form: [
      {
        group: 'limits',
        isMain: true,
        label: 'Attempts',
        kind: 'number',
        placeholder: '3',
        isHalf: true,
      },
    ],
  },
  maxBodyBytes: {
    schema: z
      .number()
      .int()
      .min(1_024)
      .max(104_857_600)
      .default(10_485_760)
      .describe('Largest body that is read, after decompression.'),
    flags: {
      maxBodyBytes: {
        flag: '--max-body-bytes <size>',
        says: 'largest body that is read, e.g. 20MB',
        reads: 'bytes',
      },
    },
    form: [
      {
        group: 'limits',
        label: 'Largest body, bytes',
        kind: 'number',
        placeholder: '10485760',
        isHalf: true,
      },
    ],
  },
  obeyRobots: {
    schema: z
      .boolean()
      .default(true)
      .describe('`false` is refused unless the operator’s policy consents to that for the host.'),
    ownFlag: '--no-robots',
    form: [
      {
        group: 'fetch',
        label: 'Obey robots.txt',
        kind: 'off',
        hint: 'Off needs the consent of the operator.',
      },
    ],
  },
  ...otherOptions,
  ...singlePageOptions,
} as const satisfies Readonly<Record<string, PageOption>>;

export type PageOptionName = keyof typeof PAGE_OPTIONS;
type RequestsOf<Option> = Option extends { readonly requests: readonly (infer Kind)[] } ? Kind : JobKind;
/** The schemas of the fields of a page in requests of this kind. */
export type PageFields<Kind extends JobKind> = {
  [Name in PageOptionName as Kind extends RequestsOf<(typeof PAGE_OPTIONS)[Name]>
    ? Name
    : never]: (typeof PAGE_OPTIONS)[Name]['schema'];
};

export const pageOption = (name: PageOptionName): PageOption => PAGE_OPTIONS[name];
export const PAGE_OPTION_NAMES = Object.keys(PAGE_OPTIONS) as PageOptionName[];

/** Where `PageOptions` have the value of an option. */
export const storedPlace = (name: PageOptionName): string =>
  pageOption(name).stored ?? (name in PLAIN_RENDER_OPTIONS ? `render.${name}` : name);

/** The fields of a page in a request, with the formats that are kept unless others are asked for. */
export function pageFields<Kind extends JobKind>(
  kind: Kind,
  standard: readonly Format[] = [],
): PageFields<Kind> {
  const names = PAGE_OPTION_NAMES.filter((name) => pageOption(name).requests?.includes(kind) !== false);
  const fields = names.map((name) => [
    name,
    name === 'formats' ? formatsField(standard) : pageOption(name).schema,
  ]);
  return Object.fromEntries(fields) as PageFields<Kind>;
}
