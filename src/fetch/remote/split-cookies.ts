import type { HeaderList } from '../http/request-headers.ts';

export type CookiePair = [name: string, value: string];

/** Header lists as what a browser needs: headers by name, and cookies apart, one by one and in their order. */
export function splitCookies(list: HeaderList): [headers: Record<string, string>, cookies: CookiePair[]] {
  const headers: Record<string, string> = {};
  const cookies: CookiePair[] = [];
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] ?? '';
    const value = list[index + 1] ?? '';
    if (name === 'cookie') cookies.push(...pairsOf(value));
    else headers[name] = value;
  }
  return [headers, cookies];
}

function pairsOf(header: string): CookiePair[] {
  const pairs: CookiePair[] = [];
  for (const part of header.split('; ')) {
    const equals = part.indexOf('=');
    const last = pairs.at(-1);
    // Part of a value that has the separator in it.
    if (equals === -1 && last !== undefined) last[1] += `; ${part}`;
    else pairs.push([part.slice(0, Math.max(0, equals)), part.slice(equals + 1)]);
  }
  return pairs;
}
