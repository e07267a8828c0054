/** Limits of reading one literal; a larger one gives no value. */
export const LITERAL_LIMITS = {
  chars: 5_000_000,
  depth: 100,
  /** Values of all kinds, keys not counted. */
  values: 300_000,
} as const;

/** Thrown when a piece of source is no literal; caught by `readLiteral`. */
class NotALiteral extends Error {}

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

function isBlank(code: number): boolean {
  return code <= 32 || code === 0xa0 || code === 0xfeff || code === 0x2028 || code === 0x2029;
}

type Dialect = 'json' | 'script';

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
function readString(
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

interface LiteralOptions {
  /** `json`: JSON with mistakes. `script`: JavaScript literals, read without running them. */
  readonly dialect: Dialect;
  readonly depth?: number;
  /** Values of identifiers that the literal may use. */
  readonly names?: ReadonlyMap<string, unknown>;
}

interface Literal {
  readonly value: unknown;
  /** Where it ends in the source. */
  readonly end: number;
  /** Kinds of repairs that were needed; empty for valid JSON. */
  readonly repairs: readonly string[];
}

const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F]{1,13}|(?:\d{1,32}(?:\.\d{0,32})?|\.\d{1,32})(?:[eE][+-]?\d{1,4})?)n?/y;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$.-]{0,100}/uy;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]{0,100}/uy;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', null],
  ['NaN', null],
  ['Infinity', null],
]);
/** Calls whose value is known without running them. */
const DATE_CALL = /new\s{1,20}Date\s{0,20}\(/y;
const PARSE_CALL = /JSON\.parse\s{0,20}\(/y;

/** The value that begins at `start`; null when there is none or when it is ambiguous. Never throws. */
export function readLiteral(source: string, start: number, options: LiteralOptions): Literal | null {
  const reader = new LiteralReader(source, start, options);
  try {
    const value = reader.value(options.depth ?? LITERAL_LIMITS.depth);
    return { value, end: reader.at, repairs: [...reader.repairs] };
  } catch (error) {
    if (error instanceof NotALiteral) return null;
    throw error;
  }
}

class LiteralReader {
  at: number;
  readonly repairs = new Set<string>();
  readonly #source: string;
  readonly #end: number;
  readonly #dialect: Dialect;
  readonly #names: ReadonlyMap<string, unknown> | null;
  #values = 0;

  constructor(source: string, start: number, { dialect, names }: LiteralOptions) {
    this.#source = source;
    this.#end = Math.min(source.length, start + LITERAL_LIMITS.chars);
    this.#dialect = dialect;
    this.#names = names ?? null;
    this.at = start;
  }

  value(depth: number): unknown {
    if (depth === 0 || ++this.#values > LITERAL_LIMITS.values) throw new NotALiteral();
    this.#skip();
    const char = this.#source[this.at] ?? '';
    if (char === '{') return this.#object(depth);
    if (char === '[') return this.#array(depth);
    if (char === '"' || char === "'" || (char === '`' && this.#dialect === 'script'))
      return this.#string(false);
    if (/[0-9.+-]/.test(char)) return this.#number();
    if (this.#dialect === 'script' && char === '(') return this.#parenthesis(depth);
    if (this.#dialect === 'script' && char === '!') return this.#negation(depth);
    return this.#word(depth);
  }

  #skip(): void {
    const from = this.at;
    this.at = skipBlank(this.#source, from, this.#end);
    if (this.at > from && this.#source.slice(from, this.at).trim() !== '') this.repairs.add('comment');
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = Object.create(null);
    this.at++;
    for (;;) {
      if (this.#isEnd('}')) return object;
      const key = this.#key();
      this.#skip();
      if (this.#source[this.at] !== ':') throw new NotALiteral();
      this.at++;
      this.#skip();
      if (this.#source[this.at] === ',' || this.#source[this.at] === '}') this.repairs.add('missing value');
      else object[key] = this.value(depth - 1);
      this.#separate('}');
    }
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.at++;
    while (!this.#isEnd(']')) {
      array.push(this.value(depth - 1));
      this.#separate(']');
    }
    return array;
  }

  /** Skips the closing bracket, and commas that separate nothing. */
  #isEnd(close: string): boolean {
    this.#skip();
    while (this.#source[this.at] === ',') {
      this.at++;
      this.repairs.add('comma');
      this.#skip();
    }
    if (this.#source[this.at] !== close) return false;
    this.at++;
    return true;
  }

  #separate(close: string): void {
    const from = this.at;
    this.#skip();
    const char = this.#source[this.at];
    if (char === close) return;
    if (char === ',') {
      this.at++;
      this.#skip();
      if (this.#source[this.at] === close) this.repairs.add('comma');
      return;
    }
    // A new line that begins with a quoted key can only be the next property.
    const isNextLine = close === '}' && char === '"' && this.#source.slice(from, this.at).includes('\n');
    if (!isNextLine || this.#dialect !== 'json') throw new NotALiteral();
    this.repairs.add('comma');
  }

  #key(): string {
    const char = this.#source[this.at];
    if (char === '"' || char === "'") return this.#string(true);
    if (char !== undefined && /[0-9]/.test(char) && this.#dialect === 'script') return String(this.#number());
    const key = this.#match(NAME);
    if (key === null) throw new NotALiteral();
    this.repairs.add('bare key');
    return key;
  }

  #string(isKey: boolean): string {
    const { value, end, repairs } = readString(this.#source, this.at, this.#end, this.#dialect, isKey);
    for (const repair of repairs) this.repairs.add(repair);
    this.at = end;
    return value;
  }

  #number(): number | null {
    const text = this.#match(NUMBER);
    if (text === null) throw new NotALiteral();
    if (!JSON_NUMBER.test(text)) this.repairs.add('number');
    const number = Number(text.endsWith('n') ? text.slice(0, -1) : text);
    return Number.isFinite(number) ? number : null;
  }

  #word(depth: number): unknown {
    if (this.#dialect === 'script') {
      if (this.#match(DATE_CALL) !== null) return this.#date(depth);
      if (this.#match(PARSE_CALL) !== null) return this.#parsed(depth);
    }
    const word = this.#match(IDENTIFIER);
    if (word === null) throw new NotALiteral();
    if (WORDS.has(word)) {
      if (!/^[a-z]/.test(word) || word === 'undefined') this.repairs.add('word');
      return WORDS.get(word);
    }
    if (this.#names?.has(word)) return this.#names.get(word);
    if (word === 'void' && this.#dialect === 'script') {
      this.value(depth - 1);
      return null;
    }
    throw new NotALiteral();
  }

  /** `!0` and `!1`, as minifiers write true and false. */
  #negation(depth: number): boolean {
    this.at++;
    return !this.value(depth - 1);
  }

  #parenthesis(depth: number): unknown {
    this.at++;
    const value = this.value(depth - 1);
    this.#close();
    return value;
  }

  #date(depth: number): unknown {
    const value = this.value(depth - 1);
    this.#close();
    if (typeof value === 'string') return value;
    const date = new Date(typeof value === 'number' ? value : Number.NaN);
    return Number.isNaN(date.getTime()) ? null : date.toISOString();
  }

  #parsed(depth: number): unknown {
    const text = this.value(depth - 1);
    this.#close();
    if (typeof text !== 'string') throw new NotALiteral();
    return readLiteral(text, 0, { dialect: 'json', depth })?.value ?? null;
  }

  #close(): void {
    this.#skip();
    if (this.#source[this.at] !== ')') throw new NotALiteral();
    this.at++;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#source)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }
}
