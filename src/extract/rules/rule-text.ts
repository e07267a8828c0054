import { RuleSyntaxError, shown } from './rule-problem.ts';

/** The text of a selector or path while it is read, character by character; what is wrong is told with its place. */
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
    return this.fail(`Expected ${wanted}, found ${shown(this.source, this.at)}.`);
  }

  /** Goes past the text if it stands here. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  expect(text: string, what = `\`${text}\``): void {
    if (!this.take(text)) this.unexpected(what);
  }

  /** Goes past what a sticky pattern finds here; null when that is nothing. */
  read(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }
}
