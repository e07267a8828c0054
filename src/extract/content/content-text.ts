import { type InlineToken, plainText } from './inline-run.ts';
import type { Cell, ContentSink } from './outline-content.ts';

/** Content as plain text: an empty line around blocks, a line per item, tabs between the cells of a row. */
export class TextSink implements ContentSink {
  readonly #out: string[] = [];
  /** Lists around. */
  #lists = 0;
  #isItemStart = false;
  #isTight = false;

  heading(_level: number, run: readonly InlineToken[]): void {
    this.#block(plainText(run, ' '));
  }

  paragraph(run: readonly InlineToken[]): void {
    this.#block(plainText(run, '\n'));
  }

  term(run: readonly InlineToken[]): void {
    this.#block(plainText(run, ' '));
    this.#isTight = true;
  }

  code(text: string): void {
    this.#block(text);
  }

  table(rows: readonly (readonly Cell[])[]): void {
    this.#block(rows.map((row) => row.map(({ run }) => plainText(run, ' ')).join('\t')).join('\n'));
  }

  rule(): void {
    // A line across the page is not text.
  }

  openList(): void {
    this.#lists++;
  }

  closeList(): void {
    this.#lists--;
    this.#isTight = false;
  }

  openItem(): void {
    this.#isItemStart = true;
  }

  closeItem(): void {
    this.#isItemStart = false;
    this.#isTight = true;
  }

  openQuote(): void {
    this.#isTight = false;
  }

  closeQuote(): void {
    this.#isTight = false;
  }

  finish(): string {
    return this.#out.join('').trim();
  }

  #block(text: string): void {
    if (text.trim() === '') return;
    const out = this.#out;
    const isTight = this.#isTight || (this.#lists > 0 && !this.#isItemStart);
    if (out.length > 0) out.push(isTight ? '\n' : '\n\n');
    this.#isTight = false;
    if (this.#isItemStart) out.push('- ');
    this.#isItemStart = false;
    out.push(text);
  }
}
