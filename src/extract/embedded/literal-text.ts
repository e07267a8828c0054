/** Says that a piece of source is no value; caught where reading began. */
export class NotALiteral extends Error {}

/** The next place that is neither white space nor a comment. */
export function skipBlank(source: string, start: number, end: number): number {
  let at = start;
  for (;;) {
    while (at < end && isBlank(source.charCodeAt(at))) at++;
    if (source[at] !== '/' || at >= end) return at;
    if (source[at + 1] === '/') {
      const line = source.indexOf('\n', at);
      at = line < 0 ? end : line;
    } else if (source[at + 1] === '*') {
      const close = source.indexOf('*/', at + 2);
      if (close < 0) return at;
      at = close + 2;
    } else {
      return at;
    }
  }
}

export function isBlank(code: number): boolean {
  return code <= 32 || code === 0xa0 || code === 0xfeff || code === 0x2028 || code === 0x2029;
}
