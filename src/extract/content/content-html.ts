import { escapeAttribute, escapeText } from 'entities/escape';
import { KIND, type Kind } from './content-kinds.ts';
import type { InlineToken } from './inline-run.ts';
import type { Cell, ContentSink } from './outline-content.ts';

const NAMES: Readonly<Partial<Record<Kind, string>>> = {
  [KIND.strong]: 'strong',
  [KIND.emphasis]: 'em',
  [KIND.strike]: 'del',
  [KIND.snippet]: 'code',
  [KIND.raised]: 'sup',
  [KIND.lowered]: 'sub',
  [KIND.link]: 'a',
};
/** Absolute addresses make content longer; this keeps a page of nothing but addresses from growing without bound. */
const MOST_CHARS = 16_000_000;

/**
 * Content as HTML: only elements that mean something, no classes, no styles, addresses absolute. It is written from
 * scratch, so nothing of the page's own mark-up is in it.
 */
export class HtmlSink implements ContentSink {
  #out = '';
  readonly #lists: string[] = [];
  /** The text of an item stands in it directly, what follows in paragraphs. */
  #isItemStart = false;

  heading(level: number, run: readonly InlineToken[]): void {
    this.#write(`<h${level}>${inline(run)}</h${level}>`);
  }

  paragraph(run: readonly InlineToken[]): void {
    this.#write(this.#isItemStart ? inline(run) : `<p>${inline(run)}</p>`);
  }

  term(run: readonly InlineToken[]): void {
    this.#write(`<p><strong>${inline(run.filter((token) => !isStrong(token)))}</strong></p>`);
  }

  code(text: string, language: string): void {
    const attribute = language === '' ? '' : ` class="language-${escapeAttribute(language)}"`;
    this.#write(
      `<pre><code${attribute}>${text.startsWith('\n') ? '\n' : ''}${escapeText(text)}</code></pre>`,
    );
  }

  table(rows: readonly (readonly Cell[])[]): void {
    const lines = rows.map((row) => `<tr>${row.map(cellHtml).join('')}</tr>`);
    this.#write(`<table>${lines.join('')}</table>`);
  }

  rule(): void {
    this.#write('<hr>');
  }

  openList(isOrdered: boolean, start: number): void {
    this.#lists.push(isOrdered ? 'ol' : 'ul');
    this.#write(isOrdered ? (start === 1 ? '<ol>' : `<ol start="${start}">`) : '<ul>');
  }

  closeList(): void {
    this.#write(`</${this.#lists.pop() ?? 'ul'}>`);
  }

  openItem(isDone: boolean | null): void {
    this.#write('<li>');
    if (isDone !== null) this.#write(`<input type="checkbox"${isDone ? ' checked' : ''} disabled>`);
    this.#isItemStart = true;
  }

  closeItem(): void {
    this.#write('</li>');
  }

  openQuote(): void {
    this.#write('<blockquote>');
  }

  closeQuote(): void {
    this.#write('</blockquote>');
  }

  finish(): string {
    return this.#out;
  }

  #write(piece: string): void {
    this.#isItemStart = false;
    if (this.#out.length + piece.length <= MOST_CHARS) this.#out += piece;
  }
}

function isStrong(token: InlineToken): boolean {
  return (token.type === 'open' || token.type === 'close') && token.kind === KIND.strong;
}

function cellHtml({ isHeader, columns, run }: Cell): string {
  const name = isHeader ? 'th' : 'td';
  return `<${name}${columns > 1 ? ` colspan="${columns}"` : ''}>${inline(run)}</${name}>`;
}

function inline(run: readonly InlineToken[]): string {
  let out = '';
  for (const token of run) {
    if (token.type === 'text') out += escapeText(token.text);
    else if (token.type === 'break') out += '<br>';
    else if (token.type === 'image') {
      out += `<img src="${escapeAttribute(token.url)}" alt="${escapeAttribute(token.alt)}">`;
    } else {
      const name = NAMES[token.kind] ?? 'span';
      if (token.type === 'close') out += `</${name}>`;
      else out += token.kind === KIND.link ? `<a href="${escapeAttribute(token.url)}">` : `<${name}>`;
    }
  }
  return out;
}
