/** What stands before the path of a URL. */
const ORIGIN = '^[a-z]+://[^/?#]*';

/**
 * A regular expression for the path of a URL as one for the whole URL, which is what `include` and `exclude` of a crawl
 * are. It is found anywhere in the path, as there.
 */
export function pathPattern(source: string): string {
  return `re:${alternativesOf(source).map(onePath).join('|')}`;
}

function onePath(source: string): string {
  const isAtStart = source.startsWith('^');
  const isAtEnd = /(?:^|[^\\])(?:\\\\)*\$$/.test(source);
  const inner = source.slice(isAtStart ? 1 : 0, isAtEnd ? -1 : undefined);
  // The slash before the path is matched here, so that nothing of the host is taken for a part of the path.
  const [, slash, rest = ''] = /^(\\?\/)?(.*)$/s.exec(inner) ?? [];
  const before = isAtStart ? (slash ?? '') : slash === undefined ? '/[^?#]*' : '(?:/|/[^?#]*/)';
  return `${ORIGIN}${before}(?:${rest})${isAtEnd ? '(?:[?#]|$)' : ''}`;
}

/** Splits at each `|` that stands in no group and in no class. */
function alternativesOf(source: string): string[] {
  const found = [''];
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at] ?? '';
    const whole = char === '\\' ? source.slice(at, at + 2) : char;
    if (whole.length === 2) at += 1;
    else if (isInClass) isInClass = char !== ']';
    else if (char === '[') isInClass = true;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === '|' && depth === 0) {
      found.push('');
      continue;
    }
    found[found.length - 1] += whole;
  }
  return found;
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const other = (char: string) => `[^${char.replace(/[\\\]^-]/g, '\\$&')}]`;

/** URLs of the host whose path does not begin as that of this one; null for one at the root, which has none. */
export function outsidePath(url: string): string | null {
  const { host, pathname } = new URL(url);
  if (pathname === '/') return null;
  // RE2 has no look-ahead: the path differs at its first character, or has that and differs at the second, and so on.
  const differs = [...pathname].reduceRight((rest, char) => {
    const goesOn = rest === '' ? '' : `|${literal(char)}(?:${rest})`;
    return `$|${other(char)}${goesOn}`;
  }, '');
  return `re:^[a-z]+://${literal(host)}(?:${differs})`;
}

/** URLs whose path has more parts than `most`. */
export const deeperThan = (most: number): string => `re:${ORIGIN}(?:/[^/?#]+){${most + 1}}`;

export const pathDepth = (url: string): number =>
  new URL(url).pathname.split('/').filter((part) => part !== '').length;
