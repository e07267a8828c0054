import type { ResponseRecord } from '../../core/model/page.ts';
import { readSetCookie } from '../../fetch/cookies/cookie-forms.ts';
import type { ReadRequest } from './page-reading.ts';

/** A site decides how many headers it sends; the record of a page has to stay small. */
const MAX_HEADERS = 100;
const MAX_COOKIES = 100;
const MAX_VALUE_CHARS = 2_048;
const HIDDEN = '[hidden]';

/** The response as the record of its page keeps it. */
export function responseRecord(
  { headers, redirects = [], hasSecretCookies = false }: ReadRequest['response'],
  fetchedAt: number,
  judged: Pick<ResponseRecord, 'outcome' | 'evidence'>,
): ResponseRecord {
  const lines = [headers['set-cookie'] ?? []].flat().slice(0, MAX_COOKIES);
  const cookies = lines.flatMap((line) => readSetCookie(line, fetchedAt) ?? []);
  return {
    ...judged,
    headers: keptHeaders(headers),
    ...(cookies.length === 0
      ? {}
      : { cookies: hasSecretCookies ? cookies.map((each) => ({ ...each, value: HIDDEN })) : cookies }),
    ...(redirects.length === 0 ? {} : { redirects }),
  };
}

/** Whether the response has more than its record keeps. */
export function isResponseCut(headers: ReadRequest['response']['headers']): boolean {
  const cookies = [headers['set-cookie'] ?? []].flat().length;
  const others = Object.keys(headers).filter((name) => name !== 'set-cookie').length;
  return cookies > MAX_COOKIES || others > MAX_HEADERS;
}

const cut = (value: string) =>
  value.length > MAX_VALUE_CHARS ? `${value.slice(0, MAX_VALUE_CHARS)}…` : value;

function keptHeaders(headers: ReadRequest['response']['headers']): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name === 'set-cookie' || name === '__proto__') continue;
    kept[name] = typeof value === 'string' ? cut(value) : value.slice(0, MAX_HEADERS).map(cut);
    count += 1;
    if (count === MAX_HEADERS) break;
  }
  return kept;
}
