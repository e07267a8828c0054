import { LIMITS } from './limits.ts';
import { ATTR, BLOCK, CELL, HIDDEN, IMPLIES_END, PARAGRAPH, TAG, TAG_FLAGS, VOID } from './names.ts';
import { OpenElements } from './open-elements.ts';
import { decodeEntities } from './page-text.ts';
import type { HtmlScanner, ScanHandler } from './scanner.ts';

const UNSEEN = 1;
const PREFORMATTED = 2;
const SPACES = /[ \t\n\f\r]+/g;
/** Most text has nothing to collapse, and testing is much cheaper than replacing. */
const UNEVEN = /[\t\n\f\r]| {2}/;

/** The text a reader sees: a line for each block, an empty line around paragraphs, tabs between the cells of a row. */
export function visibleText(scanner: HtmlScanner, html: string): string {
  const writer = new TextWriter(scanner);
  scanner.scan(html, writer);
  return writer.finish();
}

class TextWriter implements ScanHandler {
  readonly #scanner: HtmlScanner;
  readonly #elements = new OpenElements((mark) => {
    if (mark === UNSEEN) this.#unseen--;
    else this.#preformatted--;
  });
  readonly #out: string[] = [];
  #unseen = 0;
  #preformatted = 0;
  /** Line breaks due before the next text. */
  #breaks = 0;
  /** A space is due before the next text of the line. */
  #hasSpace = false;
  #needsTab = false;
  #isFirstCell = true;

  constructor(scanner: HtmlScanner) {
    this.#scanner = scanner;
  }

  get isForeign(): boolean {
    return this.#elements.isForeign;
  }

  text(start: number, end: number): void {
    if (this.#unseen > 0) return;
    const text = decodeEntities(this.#scanner.html.slice(start, end));
    if (this.#preformatted > 0) this.#write(text);
    else this.#writeCollapsed(text);
  }

  rawText(tag: number, start: number, end: number): void {
    if (this.#unseen > 0 || tag === TAG.iframe) return;
    const text = this.#scanner.html.slice(start, end);
    if (tag === 0) this.#writeCollapsed(text);
    else this.#write(text);
  }

  open(tag: number, hash: number, isSelfClosing: boolean): void {
    const flags = TAG_FLAGS[tag] as number;
    const elements = this.#elements;
    if ((flags & IMPLIES_END) !== 0) elements.endImplied(tag);
    if ((flags & CELL) !== 0) this.#startCell();
    else if (tag === TAG.br) this.#breaks = Math.min(2, this.#breaks + 1);
    else if ((flags & BLOCK) !== 0) this.#breakLine(flags);
    if (tag === TAG.tr) this.#isFirstCell = true;
    if ((flags & VOID) !== 0 || (isSelfClosing && elements.isForeign)) return;
    let mark = 0;
    if (elements.depth < LIMITS.depth) {
      const isShadow = tag === TAG.template && this.#scanner.attribute(ATTR.shadowrootmode) !== null;
      if ((flags & HIDDEN) !== 0 && !isShadow) mark = UNSEEN;
      else if (tag === TAG.pre) mark = PREFORMATTED;
    }
    if (mark === UNSEEN) this.#unseen++;
    else if (mark === PREFORMATTED) this.#preformatted++;
    elements.push(tag, hash, mark);
  }

  close(tag: number, hash: number): void {
    const flags = TAG_FLAGS[tag] as number;
    if ((flags & (BLOCK | CELL | VOID)) === BLOCK) this.#breakLine(flags);
    this.#elements.end(hash);
  }

  finish(): string {
    return this.#out.join('').trimEnd();
  }

  #startCell(): void {
    if (this.#unseen > 0) return;
    this.#needsTab = !this.#isFirstCell;
    this.#isFirstCell = false;
    if (this.#needsTab) this.#breaks = 0;
  }

  /** A block at the start of a cell must not break the row into lines. */
  #breakLine(flags: number): void {
    if (this.#unseen > 0) return;
    if (!this.#needsTab) this.#breaks = Math.max(this.#breaks, (flags & PARAGRAPH) !== 0 ? 2 : 1);
    this.#hasSpace = false;
  }

  #writeCollapsed(piece: string): void {
    const text = UNEVEN.test(piece) ? piece.replace(SPACES, ' ') : piece;
    if (text === ' ') {
      this.#hasSpace = true;
      return;
    }
    const startsApart = text.startsWith(' ');
    const endsApart = text.endsWith(' ');
    if (startsApart) this.#hasSpace = true;
    this.#write(text.slice(startsApart ? 1 : 0, endsApart ? -1 : undefined));
    this.#hasSpace = endsApart;
  }

  #write(text: string): void {
    if (text === '') return;
    const out = this.#out;
    if (out.length > 0) {
      if (this.#needsTab) out.push('\t');
      else if (this.#breaks > 0) out.push(this.#breaks === 1 ? '\n' : '\n\n');
      else if (this.#hasSpace) out.push(' ');
    }
    this.#breaks = 0;
    this.#needsTab = false;
    this.#hasSpace = false;
    out.push(text);
  }
}
