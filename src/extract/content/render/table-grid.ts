import type { InlineToken } from './inline-run.ts';

export interface Cell {
  readonly isHeader: boolean;
  /** Columns and rows that the cell covers. 0 rows: the place is covered by a cell above, and has no text. */
  readonly columns: number;
  readonly rows: number;
  readonly run: readonly InlineToken[];
}

/** Places of covering cells beyond this are left out, so that spans cannot make a table much larger than its page. */
const MOST_COVERED = 50_000;

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
