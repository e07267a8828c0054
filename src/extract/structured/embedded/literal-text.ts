/** Limits of reading one literal; a larger one gives no value. */
export const LITERAL_LIMITS = {
  chars: 5_000_000,
  depth: 100,
  /** Values of all kinds, keys not counted. */
  values: 300_000,
} as const;

/** Thrown when a piece of source is no literal; caught by `readLiteral`. */
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

export type Dialect = 'json' | 'script';

interface QuotedText {
  readonly value: string;
  readonly end: number;
  readonly repairs: ReadonlySet<string>;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' };
const JSON_ESCAPES = 'ntrbfu"\\/';
const HEX = /^[0-9a-fA-F]+$/;
const KEY_INSIDE = /["']\s*:/;

/** The quoted text at `start`. In broken JSON a quote ends the text only before a character that may follow a text. */
export function readString(
  source: string,
  start: number,
  end: number,
  dialect: Dialect,
  isKey: boolean,
): QuotedText {
  const quote = source[start] as string;
  const repairs = new Set<string>();
  if (quote === "'" && dialect === 'json') repairs.add('single quotes');
  let value = '';
  let hasQuoteInside = false;
  let from = start + 1;
  for (let at = from; at < end; at++) {
    const code = source.charCodeAt(at);
    if (code === 92) {
      const escaped = readEscape(source, at, end);
      if (!JSON_ESCAPES.includes(source[at + 1] ?? ' ')) repairs.add('escape');
      value += source.slice(from, at) + escaped.value;
      from = escaped.end;
      at = from - 1;
    } else if (source[at] === quote) {
      if (dialect === 'script' || mayEnd(source, at + 1, end, isKey)) {
        value += source.slice(from, at);
        // A text that contains something like another property has been read too far.
        if (hasQuoteInside && (value.includes('\n') || KEY_INSIDE.test(value))) throw new NotALiteral();
        return { value, end: at + 1, repairs };
      }
      if (quote === "'" || isKey) throw new NotALiteral();
      repairs.add('quote inside');
      hasQuoteInside = true;
    } else if (code < 32) {
      if (dialect === 'script' && quote !== '`' && (code === 10 || code === 13)) throw new NotALiteral();
      repairs.add('control character');
    } else if (quote === '`' && code === 36 && source[at + 1] === '{') {
      throw new NotALiteral();
    }
  }
  throw new NotALiteral();
}

function readEscape(source: string, at: number, end: number): { value: string; end: number } {
  const char = source[at + 1];
  if (char === undefined || at + 1 >= end) throw new NotALiteral();
  if (char === 'u') {
    if (source[at + 2] === '{') {
      const close = source.indexOf('}', at);
      const digits = source.slice(at + 3, close);
      const point = HEX.test(digits) && digits.length < 7 ? Number.parseInt(digits, 16) : 0x110000;
      if (close < 0 || point > 0x10ffff) throw new NotALiteral();
      return { value: String.fromCodePoint(point), end: close + 1 };
    }
    return codeEscape(source, at + 2, 4);
  }
  if (char === 'x') return codeEscape(source, at + 2, 2);
  // A backslash before the end of a line continues the text there.
  if (char === '\n') return { value: '', end: at + 2 };
  return { value: ESCAPES[char] ?? char, end: at + 2 };
}

function codeEscape(source: string, at: number, length: number): { value: string; end: number } {
  const digits = source.slice(at, at + length);
  if (digits.length < length || !HEX.test(digits)) throw new NotALiteral();
  return { value: String.fromCharCode(Number.parseInt(digits, 16)), end: at + length };
}

function mayEnd(source: string, start: number, end: number, isKey: boolean): boolean {
  let at = start;
  let hasNewLine = false;
  while (at < end && isBlank(source.charCodeAt(at))) hasNewLine = source[at++] === '\n' || hasNewLine;
  const next = source[at];
  if (at >= end || next === undefined) return true;
  if (isKey) return next === ':';
  if (next === '/' && (source[at + 1] === '/' || source[at + 1] === '*')) return true;
  return next === ',' || next === '}' || next === ']' || (hasNewLine && next === '"');
}
