import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from './class-names.ts';
import styles from './data-grid.module.css';

export interface GridColumn<T> {
  readonly id: string;
  readonly head: ReactNode;
  readonly cell: (row: T) => ReactNode;
  /** Pixels; the columns with `grow` share the remaining width. */
  readonly width: number;
  readonly grow?: number;
  readonly align?: 'end';
  readonly isSortable?: boolean;
}

export interface GridSort {
  readonly by: string;
  readonly direction: 'asc' | 'desc';
}

/** The columns as CSS has them, and how wide they are at least. */
export const gridTemplate = <T,>(columns: readonly GridColumn<T>[]) => ({
  template: columns
    .map(({ width, grow }) => (grow === undefined ? `${width}px` : `minmax(${width}px, ${grow}fr)`))
    .join(' '),
  minWidth: columns.reduce((sum, { width }) => sum + width, 0),
});

export function GridHead<T>({
  columns,
  template,
  minWidth,
  sort,
  onSort,
}: {
  readonly columns: readonly GridColumn<T>[];
  readonly template: string;
  readonly minWidth: number;
  readonly sort: GridSort | undefined;
  readonly onSort: ((sort: GridSort) => void) | undefined;
}) {
  return (
    <div
      className={styles.head}
      style={{ gridTemplateColumns: template, minWidth }}
      role="row"
      aria-rowindex={1}
      tabIndex={-1}
    >
      {columns.map((column) => (
        <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

function HeadCell<T>({
  column,
  sort,
  onSort,
}: {
  readonly column: GridColumn<T>;
  readonly sort: GridSort | undefined;
  readonly onSort: ((sort: GridSort) => void) | undefined;
}) {
  const isSorted = sort?.by === column.id;
  const order = isSorted ? (sort.direction === 'asc' ? 'ascending' : 'descending') : undefined;
  const Arrow = sort?.direction === 'desc' ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      aria-sort={order}
      className={cx(styles.headCell, column.align === 'end' && styles.end)}
    >
      {column.isSortable && onSort ? (
        <button
          type="button"
          className={styles.sort}
          onClick={() =>
            onSort({ by: column.id, direction: isSorted && sort.direction === 'asc' ? 'desc' : 'asc' })
          }
        >
          {column.head}
          {isSorted && <Arrow size={13} aria-hidden />}
        </button>
      ) : (
        column.head
      )}
    </div>
  );
}
