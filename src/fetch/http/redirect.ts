import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { canBeHostName, MAX_URL_CHARS } from '../../crawl/frontier/canonical.ts';
import type { FetchRequest } from '../engine.ts';

export type Method = FetchRequest['method'];

export function isRedirect(statusCode: number): boolean {
  return (
    statusCode === 302 || statusCode === 301 || statusCode === 308 || statusCode === 307 || statusCode === 303
  );
}

/**
 * Where a redirect leads, without fragment and credentials. BAD_REDIRECT when that is nowhere this engine can go.
 */
export function redirectTarget(location: string | readonly string[] | undefined, from: URL): URL {
  const raw = typeof location === 'string' ? location : location?.[0];
  if (raw === undefined || raw.trim() === '') throw badRedirect(from, 'it has no location');
  const text = asUtf8(raw);
  const target = URL.parse(text, from.href);
  if (target === null) throw badRedirect(from, 'its location is not a URL');
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw badRedirect(from, `it leads to ${target.protocol}`);
  }
  refuseLongTarget(target, from);
  if (!canBeHostName(target.hostname)) throw badRedirect(from, 'its host name is too long');
  target.hash = '';
  target.username = '';
  target.password = '';
  return target;
}

/** Throws BAD_REDIRECT for a target that is longer than any URL that is fetched, whether a server or a page leads there. */
export function refuseLongTarget({ href }: URL, from: URL): void {
  if (href.length <= MAX_URL_CHARS) return;
  throw badRedirect(from, `its target has ${href.length} characters, more than ${MAX_URL_CHARS}`);
}

/** Header bytes arrive one per character; servers that send raw UTF-8 mean UTF-8. */
function asUtf8(header: string): string {
  for (let index = 0; index < header.length; index += 1) {
    if (header.charCodeAt(index) > 0x7f) return Buffer.from(header, 'latin1').toString('utf8');
  }
  return header;
}

/** 303 always asks with GET; 301 and 302 turn POST into GET, as every browser does; 307 and 308 change nothing. */
export function redirectMethod(statusCode: number, method: Method): Method {
  if (method === 'HEAD') return 'HEAD';
  return statusCode === 307 || statusCode === 308 ? method : 'GET';
}

function badRedirect(from: URL, why: string): ScrapifieError {
  return new ScrapifieError('BAD_REDIRECT', `The redirect of ${from.host} cannot be followed: ${why}`);
}
