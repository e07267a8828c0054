import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { browserUnavailable } from '../render-errors.ts';

/** The service was not reached, or what answers at its address is none. */
export const firecrawlUnavailable = (why: string): ScrapifieError =>
  browserUnavailable(`the Firecrawl API ${why}`);

export const firecrawlCannot = (what: string): ScrapifieError =>
  new ScrapifieError('UNSUPPORTED_OPTION', `The engine firecrawl cannot ${what}`);

const CODES: Readonly<Record<string, ErrorCode>> = {
  SCRAPE_TIMEOUT: 'TASK_TIMEOUT',
  SCRAPE_DNS_RESOLUTION_ERROR: 'DNS_FAILED',
  SCRAPE_SSL_ERROR: 'TLS_FAILED',
  SCRAPE_SITE_ERROR: 'CONNECT_FAILED',
  SCRAPE_ALL_ENGINES_FAILED: 'BLOCKED',
  SCRAPE_UNSUPPORTED_FILE_ERROR: 'EXTRACTION_FAILED',
};

/** Statuses by which it speaks of itself, and what the operator can do. */
const OWN: Readonly<Record<number, string>> = {
  400: 'does not understand the request',
  401: 'refuses the key (SCRAPIFIE_FIRECRAWL_KEY)',
  402: 'has no credits left',
  404: 'has no `/v2/scrape`',
  429: 'wants fewer requests',
};

export interface FirecrawlFailure {
  readonly status: number;
  readonly code: string;
  readonly error: string;
}

/** What went wrong with a page, or with the service. Its own words are not repeated where they may hold addresses. */
export function firecrawlError({ status, code, error }: FirecrawlFailure, host: string): ScrapifieError {
  const known = CODES[code] ?? (status === 408 ? 'TASK_TIMEOUT' : null);
  if (known !== null)
    return new ScrapifieError(known, `The Firecrawl API did not get ${host}: ${plain(error)}`);
  if (status === 403) {
    return new ScrapifieError('BLOCKED', `The Firecrawl API does not fetch ${host}: ${plain(error)}`);
  }
  return firecrawlUnavailable(OWN[status] ?? `failed: ${plain(error)}`);
}

function plain(text: string): string {
  const shown = text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/\s+/g, ' ')
    .trim();
  return shown.slice(0, 160) || 'it does not say why';
}
