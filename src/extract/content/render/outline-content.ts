import type { BaseUrl } from '../../html/links.ts';
import { hashName, TAG } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { isApart } from '../features/blocks.ts';
import { altOf, codeLanguage, imageOf, isBlockKind, KIND, linkOf, type NodeKind } from './content-nodes.ts';
import { InlineRun, type InlineToken } from './markdown-inline.ts';
import { type Cell, type ContentVisitor, dataTables, tableGrid, walkContent } from './walk-content.ts';

/** Receives content as blocks in order. Lists, items and quotes nest; all other blocks are complete. */
export interface ContentSink {
  heading(level: number, run: readonly InlineToken[]): void;
  paragraph(run: readonly InlineToken[]): void;
  /** A term of a description list; its description follows as blocks. */
  term(run: readonly InlineToken[]): void;
  code(text: string, language: string): void;
  table(rows: readonly (readonly Cell[])[]): void;
  rule(): void;
  openList(isOrdered: boolean, start: number): void;
  closeList(): void;
  /** `isDone` for an item of a list of tasks, else null. */
  openItem(isDone: boolean | null): void;
  closeItem(): void;
  openQuote(): void;
  closeQuote(): void;
}

const TYPE = hashName('type');
const CHECKED = hashName('checked');
const START = hashName('start');
const COLSPAN = hashName('colspan');
const ROWSPAN = hashName('rowspan');
const MOST_COLUMNS = 100;
/** The limit that browsers have for `rowspan`. */
const MOST_ROWS = 65_534;
const MOST_CELLS = 50_000;
/** Deeper lists and quotes continue at this depth, because every line repeats all indents. */
const MOST_NESTING = 12;

/** Sends the kept part of a page to the sinks as blocks. Linear in the page. */
export function outlineContent(
  tree: PageTree,
  kept: Uint8Array,
  base: BaseUrl,
  sinks: readonly ContentSink[],
): void {
  const outline = new Outline(tree, kept, base, sinks);
  walkContent(tree, kept, outline);
  outline.finish();
}

class Outline implements ContentVisitor {
  readonly #tree: PageTree;
  readonly #base: BaseUrl;
  readonly #sinks: readonly ContentSink[];
  readonly #isData: Uint8Array;
  readonly #run = new InlineRun();
  /** The level of the enclosing heading, 0 without one. */
  #heading = 0;
  #isTerm = false;
  #code: string[] | null = null;
  #isCodeLineStart = true;
  #codeNode = 0;
  #lastText = 0;
  #rows: Cell[][] | null = null;
  #cells = 0;
  #tableNode = 0;
  #isInCell = false;
  #nesting = 0;
  readonly #lists: ('list' | 'item' | 'quote' | 'none')[] = [];

  constructor(tree: PageTree, kept: Uint8Array, base: BaseUrl, sinks: readonly ContentSink[]) {
    this.#tree = tree;
    this.#base = base;
    this.#sinks = sinks;
    this.#isData = dataTables(tree, kept);
  }

  open(kind: NodeKind, node: number): void {
    if (this.#code !== null) {
      if (kind === KIND.break) this.text('\n', node);
      else if (isBlockKind(kind)) this.#breakCode();
      return;
    }
    if (!isBlockKind(kind)) this.#openInline(kind, node);
    else if (this.#rows !== null) this.#openInTable(kind, node);
    else this.#openBlock(kind, node);
  }

  close(kind: NodeKind, node: number): void {
    if (this.#code !== null) {
      if (node === this.#codeNode) this.#endCode();
      else if (isBlockKind(kind)) this.#breakCode();
      return;
    }
    if (!isBlockKind(kind)) {
      if (kind >= KIND.link && kind <= KIND.lowered) this.#run.close(kind);
    } else if (this.#rows !== null) this.#closeInTable(kind, node);
    else this.#closeBlock(kind);
  }

  text(text: string, node: number): void {
    if (this.#code !== null) {
      this.#code.push(text);
      this.#isCodeLineStart = text.endsWith('\n');
    } else {
      if (this.#run.hasContent && isApart(this.#tree, this.#lastText, node)) this.#run.space();
      this.#run.text(text);
      this.#lastText = node;
    }
  }

  finish(): void {
    this.#flush();
  }

  #emit(news: (sink: ContentSink) => void): void {
    for (const sink of this.#sinks) news(sink);
  }

  #flush(): void {
    if (!this.#run.hasContent) return;
    const run = this.#run.take();
    if (run.length === 0) return;
    const level = this.#heading;
    if (level > 0) this.#emit((sink) => sink.heading(level, run));
    else if (this.#isTerm) this.#emit((sink) => sink.term(run));
    else this.#emit((sink) => sink.paragraph(run));
  }

  #openInline(kind: NodeKind, node: number): void {
    const run = this.#run;
    if (kind === KIND.break) {
      if (this.#heading > 0) run.space();
      else run.break();
    } else if (kind === KIND.image) {
      const url = imageOf(this.#tree, node, this.#base);
      if (url !== null) run.image(url, altOf(this.#tree, node));
    } else if (kind === KIND.link) run.open(kind, linkOf(this.#tree, node, this.#base) ?? '');
    else if (kind !== KIND.checkbox) run.open(kind);
  }

  #openBlock(kind: NodeKind, node: number): void {
    if (this.#heading > 0 && kind !== KIND.heading) {
      this.#run.space();
      return;
    }
    this.#flush();
    if (kind === KIND.heading) this.#heading = (this.#tree.tags[node] as number) - TAG.h1 + 1;
    else if (kind === KIND.term) this.#isTerm = true;
    else if (kind === KIND.rule) this.#emit((sink) => sink.rule());
    else if (kind === KIND.code) {
      this.#code = [];
      this.#isCodeLineStart = true;
      this.#codeNode = node;
    } else if (kind === KIND.table && this.#isData[node] === 1) {
      this.#rows = [];
      this.#tableNode = node;
    } else if (kind === KIND.list || kind === KIND.item || kind === KIND.quote) this.#nest(kind, node);
  }

  #closeBlock(kind: NodeKind): void {
    if (this.#heading > 0 && kind !== KIND.heading) {
      this.#run.space();
      return;
    }
    this.#flush();
    if (kind === KIND.heading) this.#heading = 0;
    else if (kind === KIND.term) this.#isTerm = false;
    else if (kind === KIND.list || kind === KIND.item || kind === KIND.quote) this.#unnest();
  }

  #nest(kind: NodeKind, node: number): void {
    const around = this.#lists.findLast((entry) => entry !== 'none');
    if (kind === KIND.item) {
      // An item outside of a list is a paragraph.
      if (around !== 'list') this.#lists.push('none');
      else {
        this.#lists.push('item');
        const state = this.#taskState(node);
        this.#emit((sink) => sink.openItem(state));
      }
      return;
    }
    // A list directly inside a list, and lists nested too deep, continue the outer one.
    if (this.#nesting >= MOST_NESTING || around === 'list') {
      this.#lists.push('none');
      return;
    }
    this.#nesting++;
    if (kind === KIND.quote) {
      this.#lists.push('quote');
      this.#emit((sink) => sink.openQuote());
      return;
    }
    this.#lists.push('list');
    const isOrdered = this.#tree.tags[node] === TAG.ol;
    const start = Number.parseInt(this.#tree.attribute(node, START) ?? '1', 10);
    const from = isOrdered && start >= 0 && start < 1_000_000 ? start : 1;
    this.#emit((sink) => sink.openList(isOrdered, from));
  }

  #unnest(): void {
    const entry = this.#lists.pop();
    if (entry === 'item') this.#emit((sink) => sink.closeItem());
    else if (entry === 'list') this.#emit((sink) => sink.closeList());
    else if (entry === 'quote') this.#emit((sink) => sink.closeQuote());
    if (entry === 'list' || entry === 'quote') this.#nesting--;
  }

  /** A checkbox at the start of an item makes it a task. */
  #taskState(item: number): boolean | null {
    const tree = this.#tree;
    const end = Math.min(tree.ends[item] as number, item + 6);
    for (let node = item + 1; node < end; node++) {
      if (tree.isText(node)) {
        if (tree.text(node).trim() !== '') return null;
      } else if (tree.tags[node] === TAG.input) {
        const isBox = tree.attribute(node, TYPE)?.trim().toLowerCase() === 'checkbox';
        return isBox ? tree.attribute(node, CHECKED) !== null : null;
      }
    }
    return null;
  }

  #openInTable(kind: NodeKind, node: number): void {
    if (kind === KIND.row) {
      this.#endCell();
      this.#rows?.push([]);
    } else if (kind === KIND.cell) {
      this.#endCell();
      this.#isInCell = true;
      this.#cellNode = node;
    } else if (kind === KIND.caption) this.#run.take();
    else this.#breakInCell();
  }

  #cellNode = 0;

  #closeInTable(kind: NodeKind, node: number): void {
    if (kind === KIND.cell || kind === KIND.row) this.#endCell();
    else if (node === this.#tableNode) this.#endTable();
    else if (kind === KIND.caption) this.#caption();
    else this.#breakInCell();
  }

  #caption(): void {
    const run = this.#run.take();
    if (run.length > 0) this.#emit((sink) => sink.paragraph(run));
  }

  #breakInCell(): void {
    if (this.#run.hasContent) this.#run.break();
  }

  #endCell(): void {
    if (!this.#isInCell) return;
    this.#isInCell = false;
    const run = this.#run.take();
    if (this.#cells++ >= MOST_CELLS) return;
    const node = this.#cellNode;
    const row = this.#rows?.at(-1);
    if (row === undefined || row.length >= MOST_COLUMNS) return;
    const columns = this.#span(node, COLSPAN, MOST_COLUMNS);
    row.push({
      isHeader: this.#tree.tags[node] === TAG.th,
      columns,
      rows: this.#span(node, ROWSPAN, MOST_ROWS),
      run,
    });
  }

  /** A span out of the ordinary is taken for 1; 0 rows, "to the end", for all that there may be. */
  #span(node: number, name: number, most: number): number {
    const span = Number.parseInt(this.#tree.attribute(node, name) ?? '1', 10);
    if (span === 0 && name === ROWSPAN) return most;
    return span >= 1 && span <= most ? span : 1;
  }

  #endTable(): void {
    this.#endCell();
    const rows = tableGrid(this.#rows ?? []);
    this.#rows = null;
    if (rows.length > 0) this.#emit((sink) => sink.table(rows));
    this.#flush();
  }

  #breakCode(): void {
    if (!this.#isCodeLineStart) this.#code?.push('\n');
    this.#isCodeLineStart = true;
  }

  #endCode(): void {
    const text = (this.#code ?? [])
      .join('')
      .replace(/^[ \t]*\r?\n/, '')
      .replace(/\r\n?/g, '\n')
      .trimEnd();
    this.#code = null;
    if (text.trim() === '') return;
    const language = codeLanguage(this.#tree, this.#codeNode);
    this.#emit((sink) => sink.code(text, language));
  }
}
