import { hashName, TAG } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { SILENT } from '../features/blocks.ts';
import { KIND, kindOf, type NodeKind } from './content-nodes.ts';
import type { InlineToken } from './markdown-inline.ts';

const SHADOW_ROOT = hashName('shadowrootmode');

/** Receives the kept part of a page in document order. Every `open` has its `close`. */
export interface ContentVisitor {
  open(kind: NodeKind, node: number): void;
  close(kind: NodeKind, node: number): void;
  /** Decoded text with the white space of the page. */
  text(text: string, node: number): void;
}

/** Places of covering cells beyond this are left out, so that spans cannot make a table much larger than its page. */
const MOST_COVERED = 50_000;

/** Walks over the nodes with `kept` 1. Elements that only group others are skipped, but not their content. */
export function walkContent(tree: PageTree, kept: Uint8Array, visitor: ContentVisitor): void {
  const { tags, hashes, ends } = tree;
  const nodes: number[] = [];
  const kinds: NodeKind[] = [];
  const closeUntil = (node: number): void => {
    while (nodes.length > 0 && node >= (ends[nodes.at(-1) as number] as number)) {
      visitor.close(kinds.pop() as NodeKind, nodes.pop() as number);
    }
  };
  for (let node = 1; node < tree.count; node++) {
    if (kept[node] !== 1 || isSilent(tree, node)) {
      // Nothing inside an element is kept unless the element is.
      if (!tree.isText(node)) node = (ends[node] as number) - 1;
      continue;
    }
    closeUntil(node);
    if (tree.isText(node)) {
      visitor.text(tree.text(node), node);
      continue;
    }
    const kind = isCustomBox(tree, node) ? KIND.box : kindOf(tags[node] as number, hashes[node] as number);
    if (kind === KIND.inline) continue;
    visitor.open(kind, node);
    if ((ends[node] as number) === node + 1) visitor.close(kind, node);
    else {
      nodes.push(node);
      kinds.push(kind);
    }
  }
  closeUntil(tree.count);
}

function isSilent(tree: PageTree, node: number): boolean {
  const tag = tree.tags[node] as number;
  // The content of a declarative shadow root is shown.
  return SILENT.has(tag) && !(tag === TAG.template && tree.attribute(node, SHADOW_ROOT) !== null);
}

/** A custom element that holds blocks is a box. */
function isCustomBox(tree: PageTree, node: number): boolean {
  if (tree.tags[node] !== 0) return false;
  const dash = tree.html.indexOf('-', tree.starts[node]);
  return dash >= 0 && dash < (tree.stops[node] as number);
}

/** By node: 1 for data tables, 0 for layout tables. */
export function dataTables(tree: PageTree, kept: Uint8Array): Uint8Array {
  const isData = new Uint8Array(tree.count);
  const tableOf = new Int32Array(tree.count);
  const rows = new Int32Array(tree.count);
  const columns = new Int32Array(tree.count);
  const cells = new Int32Array(tree.count);
  const isLayout = new Uint8Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    if (kept[node] !== 1 || tree.isText(node)) continue;
    const parent = tree.parents[node] as number;
    const outer = tableOf[parent] as number;
    const kind = kindOf(tree.tags[node] as number, tree.hashes[node] as number);
    tableOf[node] = kind === KIND.table ? node : outer;
    if (kind === KIND.table) isData[node] = 1;
    if (outer === 0) continue;
    if (kind === KIND.row) rows[outer] = (rows[outer] as number) + 1;
    else if (kind === KIND.cell) {
      cells[parent] = (cells[parent] as number) + 1;
      columns[outer] = Math.max(columns[outer] as number, cells[parent] as number);
    } else if (kind === KIND.table || kind === KIND.code || kind === KIND.quote || kind === KIND.heading) {
      isLayout[outer] = 1;
    }
  }
  for (let node = 1; node < tree.count; node++) {
    if (isData[node] !== 1) continue;
    if ((rows[node] as number) < 2 || (columns[node] as number) < 2 || isLayout[node] === 1) isData[node] = 0;
  }
  return isData;
}

export interface Cell {
  readonly isHeader: boolean;
  /** Columns and rows that the cell covers. 0 rows: the place is covered by a cell above, and has no text. */
  readonly columns: number;
  readonly rows: number;
  readonly run: readonly InlineToken[];
}

/**
 * Rows in which every cell stands in its column: places that a cell covers from above are cells of their own. Rows
 * without text are left out, and spans count the rows that are left. A span never leads beyond the last row.
 */
export function tableGrid(rows: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  const placed = placeCells(rows);
  const isFull = placed.map((row) => row.some(({ run }) => run.length > 0));
  /** How many rows with text stand before each row. */
  const before = [0];
  for (const full of isFull) before.push((before.at(-1) as number) + (full ? 1 : 0));
  return placed
    .map((row, at) =>
      row.map((cell) => {
        if (cell.rows < 2) return cell;
        const left = (before[at + cell.rows] as number) - (before[at] as number);
        return { ...cell, rows: Math.max(1, left) };
      }),
    )
    .filter((_row, at) => isFull[at]);
}

function placeCells(rows: readonly (readonly Cell[])[]): Cell[][] {
  /** By column: in how many more rows it is covered from above. */
  const covered: number[] = [];
  let fillers = 0;
  return rows.map((row, at) => {
    const line: Cell[] = [];
    let column = 0;
    const fill = (): void => {
      while ((covered[column] ?? 0) > 0) {
        covered[column] = (covered[column] as number) - 1;
        column++;
        if (fillers++ < MOST_COVERED) line.push({ isHeader: false, columns: 1, rows: 0, run: [] });
      }
    };
    for (const cell of row) {
      fill();
      const spanned = Math.min(cell.rows, rows.length - at);
      line.push({ ...cell, rows: spanned });
      for (let place = 0; place < cell.columns; place++) covered[column++] = spanned - 1;
    }
    // Columns after the last cell that are still covered; a gap between them cannot be.
    while (column < covered.length) {
      if ((covered[column] ?? 0) > 0) fill();
      else column++;
    }
    return line;
  });
}
