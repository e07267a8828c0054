import { RuleText } from '../rule-text.ts';

const NAME_START = /[a-z_\u0080-\uffff-]/i;
const NAME = /[\w\u0080-\uffff-]/;
const SPACE = /[ \t\n\r\f]/;

/** Reads names, strings and white space of a selector by the rules of CSS. */
export class SelectorReader extends RuleText {
  /** Skips white space and comments; returns true when there were any. */
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

  /** Reads name characters, also after a leading digit, as in ids and unquoted values. */
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
    return this.quotedString((char) => {
      if (char !== '\\') return null;
      if (!/[\n\r\f]/.test(this.source[this.at + 1] ?? '')) return this.#escape();
      // A backslash before the end of a line continues the string there.
      this.at += 2;
      return '';
    });
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
