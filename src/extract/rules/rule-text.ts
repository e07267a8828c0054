import { quoteAt, RuleSyntaxError } from './rule-problem.ts';

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
