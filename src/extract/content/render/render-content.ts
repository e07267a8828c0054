import { escapeAttribute, escapeText } from 'entities/escape';
import type { PageTree } from '../../tree/page-tree.ts';
import { baseOf, KIND, type NodeKind } from './content-nodes.ts';
import { type InlineToken, plainText } from './markdown-inline.ts';
import { MarkdownSink } from './markdown-sink.ts';
import { type ContentSink, outlineContent } from './outline-content.ts';
import type { Cell } from './walk-content.ts';

export interface RenderedContent {
  readonly html: string;
  readonly text: string;
  /** The content in GitHub Flavored Markdown. */
  readonly markdown: string;
}

/** Renders the nodes with `kept` 1 as HTML, text and Markdown. */
export function renderContent(tree: PageTree, kept: Uint8Array, url: string): RenderedContent {
  const sinks = { html: new HtmlSink(), text: new TextSink(), markdown: new MarkdownSink() };
  outlineContent(tree, kept, baseOf(tree, url), [sinks.html, sinks.text, sinks.markdown]);
  return { html: sinks.html.finish(), text: sinks.text.finish(), markdown: sinks.markdown.finish() };
}

const NAMES: Readonly<Partial<Record<NodeKind, string>>> = {
  [KIND.strong]: 'strong',
  [KIND.emphasis]: 'em',
  [KIND.strike]: 'del',
  [KIND.snippet]: 'code',
  [KIND.raised]: 'sup',
  [KIND.lowered]: 'sub',
  [KIND.link]: 'a',
};
/** Absolute URLs make content longer; this bounds the growth of pages that consist of URLs. */
const MOST_CHARS = 16_000_000;

/**
 * Content as HTML: only semantic elements, no classes, no styles, absolute URLs. It is written from scratch, without the
 * markup of the page.
 */
class HtmlSink implements ContentSink {
  #out = '';
  readonly #lists: string[] = [];
  /** The first text of an item is written directly into it, later texts into paragraphs. */
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

/** A place that a cell above covers has no element of its own. */
function cellHtml({ isHeader, columns, rows, run }: Cell): string {
  if (rows === 0) return '';
  const name = isHeader ? 'th' : 'td';
  const spans = `${columns > 1 ? ` colspan="${columns}"` : ''}${rows > 1 ? ` rowspan="${rows}"` : ''}`;
  return `<${name}${spans}>${inline(run)}</${name}>`;
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

/** The cells of a row, each in its column; places that a cell covers are empty. */
const lineOf = (row: readonly Cell[]): string =>
  row
    .map(({ run, columns }) => `${plainText(run, ' ')}${'\t'.repeat(columns - 1)}`)
    .join('\t')
    .trimEnd();

/** Content as plain text: an empty line around blocks, a line per item, tabs between the cells of a row. */
class TextSink implements ContentSink {
  readonly #out: string[] = [];
  /** Number of open lists. */
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
    this.#block(rows.map(lineOf).join('\n'));
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
