import { codeFence, type InlineToken, markdownInline } from './markdown-inline.ts';
import type { ContentSink } from './outline-content.ts';
import type { Cell } from './walk-content.ts';

const MOST_CHARS = 16_000_000;

interface Nest {
  /** Prefix of every line inside. */
  readonly indent: string;
  /** Prefix of the first line; empty once it is written. */
  marker: string;
  readonly isOrdered: boolean;
  next: number;
  readonly kind: 'list' | 'item' | 'quote';
}

/** Content as GitHub Flavored Markdown. */
export class MarkdownSink implements ContentSink {
  #out = '';
  readonly #nests: Nest[] = [];
  /** No empty line before the next block: it is the next item of a list whose items are single lines. */
  #isTight = true;
  #isItemStart = false;
  /** The last thing written was a list: an indented or listed block after it would become part of it. */
  #wasList = false;

  heading(level: number, run: readonly InlineToken[]): void {
    const text = markdownInline(run, { isHeading: true, isCell: false });
    if (text !== '') this.#block(`${'#'.repeat(level)} ${text}`);
  }

  paragraph(run: readonly InlineToken[]): void {
    this.#block(markdownInline(run, { isHeading: false, isCell: false }));
  }

  term(run: readonly InlineToken[]): void {
    const text = markdownInline(run, { isHeading: true, isCell: false });
    if (text !== '') this.#block(`**${text}**`);
  }

  code(text: string, language: string): void {
    this.#block(codeFence(text, language));
  }

  table(rows: readonly (readonly Cell[])[]): void {
    this.#block(markdownTable(rows));
  }

  rule(): void {
    if (this.#out !== '') this.#block('---');
  }

  openList(isOrdered: boolean, start: number): void {
    // Two lists one after the other would read as one.
    if (this.#wasList && !this.#isItemStart) this.#block('<!-- -->');
    this.#nests.push({ indent: '', marker: '', isOrdered, next: start, kind: 'list' });
  }

  closeList(): void {
    this.#nests.pop();
    this.#isTight = false;
    this.#wasList = true;
  }

  openItem(isDone: boolean | null): void {
    const list = this.#nests.at(-1);
    const bullet = list?.isOrdered ? `${list.next++}.` : '-';
    const indent = ' '.repeat(bullet.length + 1);
    const task = isDone === null ? '' : isDone ? '[x] ' : '[ ] ';
    this.#nests.push({ indent, marker: `${bullet} ${task}`, isOrdered: false, next: 0, kind: 'item' });
    this.#isItemStart = true;
  }

  closeItem(): void {
    this.#nests.pop();
    this.#isItemStart = false;
    this.#isTight = true;
  }

  openQuote(): void {
    this.#nests.push({ indent: '> ', marker: '', isOrdered: false, next: 0, kind: 'quote' });
  }

  closeQuote(): void {
    this.#nests.pop();
    this.#isTight = false;
  }

  finish(): string {
    return this.#out === '' ? '' : `${this.#out}\n`;
  }

  #block(text: string): void {
    if (text === '' || this.#out.length > MOST_CHARS) return;
    const indent = this.#indent();
    if (this.#out !== '') {
      const isTight = this.#isTight || (this.#isItemStart && this.#nests.length > 2);
      this.#out += isTight ? '\n' : `\n${this.#blankIndent()}\n`;
    }
    this.#isTight = false;
    this.#isItemStart = false;
    this.#wasList = false;
    let isFirst = true;
    for (const line of text.split('\n')) {
      if (isFirst) this.#out += this.#firstIndent() + line;
      else this.#out += line === '' ? `\n${indent.trimEnd()}` : `\n${indent}${line}`;
      isFirst = false;
    }
  }

  #indent(): string {
    let indent = '';
    for (const nest of this.#nests) indent += nest.indent;
    return indent;
  }

  /** Prefix of an empty line between blocks: the quote markers around both. */
  #blankIndent(): string {
    let indent = '';
    for (const nest of this.#nests) {
      if (nest.marker !== '') break;
      indent += nest.indent;
    }
    return indent.trimEnd();
  }

  #firstIndent(): string {
    let indent = '';
    for (const nest of this.#nests) {
      indent += nest.marker === '' ? nest.indent : nest.marker;
      nest.marker = '';
    }
    return indent;
  }
}

/** Rows as a table. Its first row is the head, because Markdown has no table without one. */
function markdownTable(rows: readonly (readonly Cell[])[]): string {
  const lines = rows.map((row) =>
    row.flatMap(({ run, columns }) => [
      markdownInline(run, { isHeading: false, isCell: true }),
      ...new Array<string>(columns - 1).fill(''),
    ]),
  );
  const width = lines.reduce((most, { length }) => Math.max(most, length), 0);
  const [head = [], ...body] = lines;
  const rule = new Array<string>(width).fill('---');
  return [head, rule, ...body].map((cells) => lineOf(cells, width)).join('\n');
}

function lineOf(cells: readonly string[], width: number): string {
  const full = [...cells, ...new Array<string>(width - cells.length).fill('')];
  return `| ${full.join(' | ')} |`;
}
