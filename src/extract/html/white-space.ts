import { decodeHTML } from 'entities/decode';
import { LIMITS } from './limits.ts';

const UNEVEN = /\s\s|[^\S ]/;
const RUNS = /\s+/g;
/** White space may be most of a text; characters beyond `limit` times this factor are ignored. */
const SLACK = 8;

/** Trims, turns runs of white space into single spaces and cuts to `limit` characters, never through a surrogate pair. */
export function collapse(text: string, limit: number): string {
  const part = text.length > limit * SLACK ? text.slice(0, limit * SLACK) : text;
  const even = UNEVEN.test(part) ? part.replace(RUNS, ' ').trim() : part.trim();
  return cut(even, limit);
}

export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
}

export function decodeEntities(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text;
}

/** The words of a space-separated attribute. */
export function words(list: string | null): string[] {
  return list === null
    ? []
    : cut(list, LIMITS.wordsChars)
        .split(/\s+/)
        .filter((word) => word.length > 0);
}
