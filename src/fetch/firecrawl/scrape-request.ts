import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { plainRenderWords } from '../../core/model/plain-options.ts';
import type { RenderWish } from '../../core/model/render.ts';
import type { FetchRequest } from '../engine.ts';
import { browserUnavailable } from '../render-errors.ts';

const CODE_OF_FAILURE: Readonly<Record<string, ErrorCode>> = {
  SCRAPE_TIMEOUT: 'TASK_TIMEOUT',
  SCRAPE_DNS_RESOLUTION_ERROR: 'DNS_FAILED',
  SCRAPE_SSL_ERROR: 'TLS_FAILED',
  SCRAPE_SITE_ERROR: 'CONNECT_FAILED',
  SCRAPE_ALL_ENGINES_FAILED: 'BLOCKED',
  SCRAPE_UNSUPPORTED_FILE_ERROR: 'EXTRACTION_FAILED',
};

/** Statuses by which it speaks of itself, and what the operator can do. */
const SENTENCE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'does not understand the request',
  401: 'refuses the key (SCRAPIFIE_FIRECRAWL_KEY)',
  402: 'has no credits left',
  404: 'has no `/v2/scrape`',
  429: 'wants fewer requests',
};

export function urlOf(request: Pick<FetchRequest, 'url'>): URL {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new ScrapifieError('INVALID_URL', 'Not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ScrapifieError('INVALID_URL', 'A URL with credentials is not fetched');
  }
  url.hash = '';
  return url;
}

/**
 * What the service is asked for: the document as it is, fetched now and not kept there. What belongs to a caller is never
 * sent to a service of others, and what the service would leave out is refused.
 */
export function bodyFor(request: FetchRequest, url: URL): Readonly<Record<string, unknown>> {
  const { method, headers, cookies, storage, wantsStorage, secrets = [], proxy, render } = request;
  const refused = [
    [method !== 'GET', 'send anything but GET'],
    [Object.keys(headers).length > 0, 'send headers: they belong to the caller'],
    [Object.keys(cookies).length > 0, 'send cookies: they belong to the caller'],
    [storage !== undefined || wantsStorage === true || secrets.length > 0, 'use a session'],
    [proxy !== undefined, 'use a proxy of ours'],
  ] as const;
  for (const [isWanted, what] of refused) if (isWanted) throw firecrawlCannot(what);
  const waitFor = waitOf(render ?? {});
  return {
    url: url.href,
    formats: ['rawHtml'],
    onlyMainContent: false,
    maxAge: 0,
    storeInCache: false,
    ...(waitFor === 0 ? {} : { waitFor }),
  };
}

function waitOf(wish: RenderWish): number {
  const { wait, scroll, actions = [], screenshot, pdf, captureXhr, device } = wish;
  const refused = [
    [wait?.selector !== undefined || wait?.until !== undefined, 'wait for anything but a time'],
    [scroll !== undefined, 'scroll'],
    [actions.length > 0, 'do actions'],
    [screenshot !== undefined, 'take screenshots'],
    [pdf === true, 'make a PDF'],
    [captureXhr === true, 'keep what scripts load'],
    ...plainRenderWords(wish).map((words) => [true, words] as const),
    [device !== undefined, 'show a page on another screen or in another place'],
  ] as const;
  for (const [isWanted, what] of refused) if (isWanted) throw firecrawlCannot(what);
  return wait?.ms ?? 0;
}

/** The service was not reached, or what answers at its address is none. */
export const firecrawlUnavailable = (why: string): ScrapifieError =>
  browserUnavailable(`the Firecrawl API ${why}`);

const firecrawlCannot = (what: string): ScrapifieError =>
  new ScrapifieError('UNSUPPORTED_OPTION', `The engine firecrawl cannot ${what}`);

interface FirecrawlFailure {
  readonly status: number;
  readonly code: string;
  readonly error: string;
}

/** What went wrong with a page, or with the service. Its own words are not repeated where they may hold addresses. */
export function firecrawlError({ status, code, error }: FirecrawlFailure, host: string): ScrapifieError {
  const known = CODE_OF_FAILURE[code] ?? (status === 408 ? 'TASK_TIMEOUT' : null);
  if (known !== null)
    return new ScrapifieError(known, `The Firecrawl API did not get ${host}: ${plain(error)}`);
  if (status === 403) {
    return new ScrapifieError('BLOCKED', `The Firecrawl API does not fetch ${host}: ${plain(error)}`);
  }
  return firecrawlUnavailable(SENTENCE_OF_STATUS[status] ?? `failed: ${plain(error)}`);
}

function plain(text: string): string {
  const shown = text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/\s+/g, ' ')
    .trim();
  return shown.slice(0, 160) || 'it does not say why';
}
