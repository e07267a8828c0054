/** Limits of rule sets and of their cost. Larger rule sets are refused before any fetch; a page that exceeds a limit fails with a typed error. */
export const RULE_LIMITS = {
  /** All fields, nested ones and fallbacks included. */
  fields: 500,
  /** How deep fields may be nested in fields. */
  depth: 10,
  nameChars: 100,
  /** A selector, a pattern, a path, a template. */
  selectorChars: 4_000,
  /** Brackets within brackets of one selector. */
  selectorNesting: 32,
  fallbacks: 10,
  transforms: 20,
  /** Values of one list. */
  listItems: 10_000,
  /** Characters of a single value. */
  valueChars: 1_000_000,
  /** The whole result, written as JSON. */
  outputBytes: 8_000_000,
  /** Arrays and objects within each other, in what a rule takes out of JSON. */
  jsonDepth: 64,
  /** Characters that one regular expression searches; the rest of the text is ignored. */
  regexChars: 2_000_000,
  /** Visits of nodes, comparisons and the like, for all rules of a page. */
  steps: 100_000_000,
  timeMs: 5_000,
  /** Problems reported for one page. */
  problems: 100,
  /** Parts of a JSON Schema. */
  schemaParts: 2_000,
  schemaDepth: 64,
} as const;

/** A mistake in rules, or in a value they found, with its path. */
export interface RuleProblem {
  /** `rules.price.css` for rules, `items.3.price` for values. */
  readonly path: string;
  readonly message: string;
  /** Column of the mistake in a selector or pattern, from 1. */
  readonly column?: number;
}

/** An invalid selector, path or pattern. Thrown by the parsers, caught where rules are compiled. */
export class RuleSyntaxError extends Error {
  /** Offset of the mistake; null when it concerns the whole text. */
  readonly position: number | null;

  constructor(position: number | null, message: string) {
    super(message);
    this.name = 'RuleSyntaxError';
    this.position = position;
  }
}

/** The character at a position, quoted for error messages. */
export function quoteAt(source: string, position: number): string {
  if (position >= source.length) return 'the end';
  const code = source.codePointAt(position) ?? 0;
  return code < 32
    ? `the character U+${code.toString(16).padStart(4, '0')}`
    : `\`${String.fromCodePoint(code)}\``;
}

/** Cursor over the text of a selector or path; errors carry their position. */
export class RuleText {
  readonly source: string;
  at = 0;

  constructor(source: string) {
    this.source = source;
  }

  get char(): string {
    return this.source[this.at] ?? '';
  }

  get isAtEnd(): boolean {
    return this.at >= this.source.length;
  }

  get isAtString(): boolean {
    return this.char === '"' || this.char === "'";
  }

  fail(message: string, at = this.at): never {
    throw new RuleSyntaxError(at, message);
  }

  unexpected(wanted: string): never {
    return this.fail(`Expected ${wanted}, found ${quoteAt(this.source, this.at)}.`);
  }

  /** Skips the text at this position; returns false when another text is here. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  expect(text: string, what = `\`${text}\``): void {
    if (!this.take(text)) this.unexpected(what);
  }

  /**
   * Reads the quoted string at this position. `readSpecial` reads an escape of the language and moves `at` behind it, or
   * returns null for a character that stands for itself.
   */
  protected quotedString(readSpecial: (char: string, quote: string) => string | null): string {
    const start = this.at;
    const quote = this.char;
    let text = '';
    this.at++;
    for (;;) {
      const { char } = this;
      if (char === '') this.fail('The string has no end.', start);
      const special = readSpecial(char, quote);
      if (special !== null) {
        text += special;
        continue;
      }
      this.at++;
      if (char === quote) return text;
      text += char;
    }
  }

  /** Reads the match of a sticky pattern at this position; null without one. */
  read(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }
}
