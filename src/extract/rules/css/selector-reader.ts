import { RuleText } from '../rule-text.ts';

const NAME_START = /[a-z_\u0080-\uffff-]/i;
const NAME = /[\w\u0080-\uffff-]/;
const SPACE = /[ \t\n\r\f]/;

/** The letters of a selector, one after the other: names, strings and white space by the rules of CSS. */
export class SelectorReader extends RuleText {
  /** Whether there was any. */
  skipSpace(): boolean {
    const start = this.at;
    for (;;) {
      while (SPACE.test(this.char)) this.at++;
      if (!this.source.startsWith('/*', this.at)) return this.at > start;
      const end = this.source.indexOf('*/', this.at + 2);
      if (end < 0) this.fail('The comment has no end.');
      this.at = end + 2;
    }
  }

  get isAtName(): boolean {
    const { char } = this;
    if (char === '\\') return !/[\n\r\f]/.test(this.source[this.at + 1] ?? '\n');
    if (char !== '-') return NAME_START.test(char);
    const next = this.source[this.at + 1] ?? '';
    return next === '\\' || NAME_START.test(next);
  }

  name(what: string): string {
    if (!this.isAtName) this.unexpected(what);
    return this.nameLetters();
  }

  /** Also what begins with a digit, as ids and unquoted values may. */
  nameLetters(): string {
    let name = '';
    for (;;) {
      const { char } = this;
      if (char === '\\') name += this.#escape();
      else if (char !== '' && NAME.test(char)) {
        name += char;
        this.at++;
      } else return name;
    }
  }

  string(): string {
    const start = this.at;
    const quote = this.char;
    let text = '';
    this.at++;
    for (;;) {
      const { char } = this;
      if (char === '') this.fail('The string has no end.', start);
      if (char === quote) {
        this.at++;
        return text;
      }
      if (char === '\\' && /[\n\r\f]/.test(this.source[this.at + 1] ?? '')) this.at += 2;
      else if (char === '\\') text += this.#escape();
      else {
        text += char;
        this.at++;
      }
    }
  }

  #escape(): string {
    const start = this.at;
    this.at++;
    const hex = /^[0-9a-f]{1,6}/i.exec(this.source.slice(this.at, this.at + 6))?.[0];
    if (hex !== undefined) {
      this.at += hex.length;
      if (SPACE.test(this.char)) this.at++;
      const code = Number.parseInt(hex, 16);
      const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : '\ufffd';
    }
    const char = this.source.codePointAt(this.at);
    if (char === undefined) this.fail('A backslash cannot be the last character.', start);
    const text = String.fromCodePoint(char);
    this.at += text.length;
    return text;
  }
}
