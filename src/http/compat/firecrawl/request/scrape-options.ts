import { z } from 'zod';
import { ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import { defined } from '../../../../lib/defined.ts';
import { actionField, pictureOf, stepNames, stepsOf } from './actions.ts';
import { attributeRules, type Format, type FormatOf, formatsField, jsonExtract } from './formats.ts';

const tags = z.array(z.string().min(1)).max(50);

const parser = z.union([
  z.enum(['pdf', 'image']),
  z.looseObject({ type: z.enum(['pdf', 'image']), maxPages: z.number().int().min(1).max(10_000).optional() }),
]);

/** How a page is scraped, as v2 has it. The same fields are those of a scrape, of a batch and of `scrapeOptions`. */
export const scrapeFields = {
  formats: formatsField.default([{ type: 'markdown' }]),
  headers: z.record(z.string(), z.string()).optional(),
  includeTags: tags.default([]),
  excludeTags: tags.default([]),
  onlyMainContent: z.boolean().default(true),
  onlyCleanContent: z.boolean().default(false),
  timeout: z.number().int().min(1_000).max(300_000).optional(),
  waitFor: z.number().int().min(0).max(60_000).default(0),
  mobile: z.boolean().default(false),
  parsers: z.array(parser).optional(),
  actions: z.array(actionField).max(50).default([]),
  location: z
    .strictObject({
      country: z.string().min(2).max(2).optional(),
      languages: z.array(z.string().min(1).max(35)).max(10).optional(),
    })
    .optional(),
  skipTlsVerification: z.boolean().optional(),
  removeBase64Images: z.boolean().default(true),
  fastMode: z.boolean().default(false),
  useMock: z.string().optional(),
  blockAds: z.boolean().default(true),
  proxy: z.enum(['basic', 'stealth', 'enhanced', 'auto']).default('auto'),
  maxAge: z.number().int().min(0).optional(),
  minAge: z.number().int().min(0).optional(),
  storeInCache: z.boolean().default(true),
  lockdown: z.boolean().default(false),
  redactPII: z.unknown().optional(),
  profile: z.unknown().optional(),
  threatProtection: z.unknown().optional(),
  auditMetadata: z.unknown().optional(),
};

/** Fields that every body may have. */
export const bodyFields = {
  origin: z.string().max(200).optional(),
  integration: z.string().max(200).nullable().optional(),
  zeroDataRetention: z.boolean().default(false),
};

export const scrapeOptionsField = z.strictObject(scrapeFields);
export type ScrapeOptions = z.output<typeof scrapeOptionsField>;

/** Time for a page where the request does not say. */
export const DEFAULT_TIMEOUT_MS = 60_000;
const MOST_CACHE_MS = 365 * 86_400_000;

const cannot = (option: string, why: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', `\`${option}\` is not available on this server: ${why}`);

/** Throws UNSUPPORTED_OPTION for what this server cannot do, before anything is fetched. */
function requirePossible(options: ScrapeOptions): void {
  const { skipTlsVerification, parsers, minAge, lockdown, onlyCleanContent, fastMode, proxy } = options;
  if (skipTlsVerification === true) throw cannot('skipTlsVerification', 'certificates are always checked.');
  if (onlyCleanContent) throw cannot('onlyCleanContent', 'no language model cleans pages.');
  if (minAge !== undefined) throw cannot('minAge', 'pages are fetched, or taken from the cache by `maxAge`.');
  if (fastMode && PROXY[proxy].engine !== undefined) {
    throw cannot('fastMode', `\`proxy: "${proxy}"\` needs a browser, and fast mode has none.`);
  }
  requireOneViewport(options);
  if (lockdown) throw cannot('lockdown', 'pages that are not in the cache are fetched.');
  for (const name of ['useMock', 'redactPII', 'profile', 'threatProtection', 'auditMetadata'] as const) {
    const value = options[name];
    if (value !== undefined && value !== false && value !== null) {
      throw cannot(name, 'it belongs to a service of the vendor.');
    }
  }
  if (parsers === undefined) return;
  const pdf = parsers.find((each) => (typeof each === 'string' ? each : each.type) === 'pdf');
  if (pdf === undefined || parsers.length > 1) {
    throw cannot('parsers', 'the text of PDF files is always read, and that of pictures never.');
  }
  if (typeof pdf === 'object') {
    const { type: _, mode, maxPages: _most, ...rest } = pdf;
    const hasOther =
      Object.keys(rest).length > 0 || (mode !== undefined && mode !== 'auto' && mode !== 'fast');
    if (hasOther)
      throw cannot('parsers', 'of a PDF file `maxPages` can be chosen, and it is read without OCR.');
  }
}

const has = (formats: readonly Format[], type: Format['type']) => formats.some((each) => each.type === type);

const formatOf = <Type extends Format['type']>(formats: readonly Format[], type: Type) =>
  formats.find((each): each is FormatOf<Type> => each.type === type);

/** The formats of ours that hold what is asked for. */
function storedFormats({ formats, actions, onlyMainContent, includeTags }: ScrapeOptions): string[] {
  // `html` of a page is whole unless tags are named; its main part is that of `content`.
  const isPart = onlyMainContent && includeTags.length === 0;
  return [
    'metadata',
    ...(has(formats, 'markdown') ? ['markdown'] : []),
    ...(has(formats, 'html') ? [isPart ? 'content' : 'html'] : []),
    ...(has(formats, 'rawHtml') ? ['rawHtml'] : []),
    ...(has(formats, 'links') ? ['links'] : []),
    ...(has(formats, 'screenshot') ? ['screenshot'] : []),
    ...(actions.some(({ type }) => type === 'pdf') ? ['pdf'] : []),
  ];
}

function extractOf(formats: readonly Format[]): object {
  const json = formatOf(formats, 'json');
  const attributes = formats.flatMap((each) => (each.type === 'attributes' ? each.selectors : []));
  if (json === undefined && attributes.length === 0) return {};
  const asked: { rules?: object } = json === undefined ? {} : jsonExtract(json);
  return { extract: { ...asked, rules: { ...asked.rules, ...attributeRules({ selectors: attributes }) } } };
}

const PROXY: Readonly<
  Record<ScrapeOptions['proxy'], { readonly engine?: string; readonly proxy?: { readonly maxTier: string } }>
> = {
  auto: {},
  basic: { proxy: { maxTier: 'datacenter' } },
  stealth: { engine: 'stealth' },
  enhanced: { engine: 'stealth' },
};

function headersOf({ headers = {}, location }: ScrapeOptions): { headers: object; cookies: object } {
  const cookies: Record<string, string> = {};
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== 'cookie') kept[name] = value;
    else for (const [key, text] of pairsOf(value)) cookies[key] = text;
  }
  const languages = location?.languages ?? [];
  const isSaid = Object.keys(kept).some((name) => name.toLowerCase() === 'accept-language');
  if (languages.length > 0 && !isSaid) kept['Accept-Language'] = languages.join(',');
  return { headers: kept, cookies };
}

function pairsOf(header: string): [string, string][] {
  return header.split(';').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]];
  });
}

/** What a browser is to do, and how its window is; empty where plain HTTP is enough. */
function renderOf({ formats, actions, waitFor, mobile, blockAds }: ScrapeOptions): object {
  const picture = formatOf(formats, 'screenshot');
  const steps = stepsOf(actions);
  const [viewport] = viewportsOf({ formats, actions });
  const wish = {
    ...(picture === undefined ? {} : { screenshot: pictureOf(picture) }),
    ...defined({ viewport }),
    ...(steps.length === 0 ? {} : { actions: steps }),
    ...(waitFor === 0 ? {} : { wait: { ms: waitFor } }),
    ...(mobile ? { mobile } : {}),
  };
  // Plain HTTP loads no advertisements anyway.
  const isRendered = Object.keys(wish).length > 0 || actions.length > 0;
  return isRendered && blockAds ? { ...wish, blockResources: ['trackers'] } : wish;
}

const viewportsOf = ({ formats, actions }: Pick<ScrapeOptions, 'formats' | 'actions'>) =>
  [formatOf(formats, 'screenshot'), ...actions].flatMap((each) =>
    each?.type === 'screenshot' ? (each.viewport ?? []) : [],
  );

function requireOneViewport(options: ScrapeOptions): void {
  const sizes = new Set(viewportsOf(options).map(({ width, height }) => `${width}x${height}`));
  if (sizes.size > 1) throw cannot('viewport', 'a window has one size, and different ones are given.');
}

function pdfRequestOf({ parsers = [] }: ScrapeOptions): { readonly maxPdfPages?: number } {
  const pages = parsers.flatMap((each) => (typeof each === 'string' ? [] : (each.maxPages ?? [])));
  return defined({ maxPdfPages: pages[0] });
}

/** The options of a page as our own requests have them. */
export function pageRequestOf(options: ScrapeOptions): Record<string, unknown> {
  requirePossible(options);
  const { formats, includeTags, excludeTags, onlyMainContent, proxy, location, fastMode } = options;
  const isInline = has(formats, 'screenshot') || options.actions.length > 0;
  const way = PROXY[proxy];
  const country = location?.country?.toLowerCase();
  return {
    formats: storedFormats(options),
    ...(isInline ? { inline: true } : {}),
    ...headersOf(options),
    includeTags,
    excludeTags,
    onlyMainContent,
    ...pdfRequestOf(options),
    timeoutMs: options.timeout ?? DEFAULT_TIMEOUT_MS,
    ...renderOf(options),
    ...way,
    ...(country === undefined ? {} : { proxy: { country, ...way.proxy } }),
    ...(fastMode ? { engine: 'http' } : {}),
    ...extractOf(formats),
  };
}

/**
 * `maxAge` and `storeInCache` of a request for pages by name. A crawl always fetches, so what it gets is never too old, and
 * its pages answer no later request.
 */
export const cacheRequestOf = ({ maxAge = 0, storeInCache }: ScrapeOptions): object => ({
  ...(maxAge === 0 ? {} : { maxAge: Math.min(maxAge, MOST_CACHE_MS) }),
  ...(storeInCache ? {} : { reuse: false }),
});

/**
 * What jobs leave besides their pages: they can be searched, and have a history where changes are asked for. The history is
 * no cache: nothing but `changeTracking` reads it.
 */
export function derivedRequestOf({ formats, storeInCache }: ScrapeOptions, isForgotten: boolean): object {
  const isTracked = has(formats, 'changeTracking');
  if (isForgotten && isTracked) {
    throw cannot('zeroDataRetention', 'the format "changeTracking" compares with what is retained.');
  }
  return {
    ...(storeInCache && !isForgotten ? { search: true } : {}),
    ...(isTracked ? { snapshots: true } : {}),
    ...retentionRequestOf(isForgotten),
  };
}

export const retentionRequestOf = (isForgotten: boolean): object =>
  isForgotten ? { retention: FORGOTTEN } : {};

/** `zeroDataRetention`: time to fetch the result, and then nothing. */
const FORGOTTEN = { bodies: '1h', artifacts: '1h', records: '1h', ledger: '1h', jobs: '1h', exports: '1h' };

/** What has to be remembered with a job to show its pages as they were asked for. */
export function viewOf(options: ScrapeOptions, body: { readonly origin?: string | undefined }) {
  const { formats, removeBase64Images, actions } = options;
  const names = stepNames(actions);
  return {
    formats: formats.map((format) =>
      format.type === 'json' || format.type === 'screenshot' ? { type: format.type } : format,
    ),
    ...(removeBase64Images ? {} : { keepsBase64Images: true }),
    ...(names.length === 0 ? {} : { steps: names }),
    ...defined({ origin: body.origin }),
  };
}
