import type { TrapName } from '../../core/model/reason-spec.ts';
import { pathOf } from './pattern.ts';

const MAX_URL_CHARS = 2_048;
const MAX_SEGMENTS = 30;
const MAX_SAME_SEGMENT = 3;

/** Whether a URL is longer than any page of a site needs. */
export function isTooLong(url: string): boolean {
  return url.length > MAX_URL_CHARS;
}

/**
 * Which kind of endless URL this looks like, or null. It judges one URL by its looks alone, so it catches links that
 * grow from page to page; session ids need no guard, since canonical URLs have none.
 */
export function trapIn(url: string): TrapName | null {
  if (isTooLong(url)) return 'url-length';
  const path = pathOf(url);
  let slashes = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) slashes++;
  if (slashes <= MAX_SAME_SEGMENT) return null;
  // The last slash of a folder opens no further segment.
  if ((path.endsWith('/') ? slashes - 1 : slashes) > MAX_SEGMENTS) return 'path-depth';
  const seen = new Map<string, number>();
  for (const segment of path.slice(1).split('/')) {
    const times = (seen.get(segment) ?? 0) + 1;
    if (times > MAX_SAME_SEGMENT) return 'repeated-segment';
    seen.set(segment, times);
  }
  return null;
}
