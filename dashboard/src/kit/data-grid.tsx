import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { cx } from './class-names.ts';
import styles from './data-grid.module.css';

export interface GridColumn<T> {
  readonly id: string;
  readonly head: ReactNode;
  readonly cell: (row: T) => ReactNode;
  /** A width of CSS, such as `120px` or `minmax(200px, 2fr)`. */
  readonly width: string;
  readonly align?: 'end';
  readonly isSortable?: boolean;
}

export interface GridSort {
  readonly by: string;
  readonly direction: 'asc' | 'desc';
}

interface DataGridProps<T> {
  readonly label: string;
  readonly columns: readonly GridColumn<T>[];
  /** The rows that were loaded so far. */
  readonly rows: readonly T[];
  readonly keyOf: (row: T, index: number) => string;
  /** How many rows there are in all, where that is known. */
  readonly total?: number | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Called when the end of what is loaded comes near. */
  readonly onMore: () => void;
  readonly sort?: GridSort | undefined;
  readonly onSort?: (sort: GridSort) => void;
  /** On Enter or a click. */
  readonly onOpen?: (row: T) => void;
  readonly height?: string;
}

const ROW_HEIGHT = 38;
const NEAR_END = 40;

/**
 * A grid of any number of rows, of which only those in sight are in the document. Arrow keys, Page Up/Down, Home and
 * End move the focused row, Enter opens it.
 */
export function DataGrid<T>(props: DataGridProps<T>) {
  const { label, columns, rows, keyOf, total, hasMore, isLoading, onMore, sort, onSort, onOpen, height } =
    props;
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const visible = virtual.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoading && last >= rows.length - NEAR_END) onMore();
  }, [hasMore, isLoading, last, rows.length, onMore]);

  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setFocused(next);
    virtual.scrollToIndex(next);
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus({ preventScroll: true });
    });
  };
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    const target = event.key === 'Home' ? 0 : event.key === 'End' ? rows.length - 1 : step && index + step;
    if (target !== undefined) {
      event.preventDefault();
      moveTo(target);
    } else if (event.key === 'Enter' && event.target === event.currentTarget) {
      const row = rows[index];
      if (row !== undefined) onOpen?.(row);
    }
  };
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };

  return (
    <div
      ref={scroller}
      className={styles.scroller}
      {...(height !== undefined && { style: { height } })}
      role="grid"
      aria-label={label}
      aria-rowcount={total ?? (hasMore ? -1 : rows.length)}
      tabIndex={rows.length === 0 ? 0 : -1}
    >
      <div className={styles.head} style={template} role="row" aria-rowindex={1} tabIndex={-1}>
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div className={styles.rows} style={{ height: virtual.getTotalSize() }} role="rowgroup">
        {visible.map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={keyOf(row, index)}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              tabIndex={index === Math.min(focused, rows.length - 1) ? 0 : -1}
              className={cx(styles.row, onOpen && styles.opens)}
              style={{ ...template, transform: `translateY(${start}px)` }}
              onClick={() => onOpen?.(row)}
              onKeyDown={(event) => onKeyDown(event, index)}
              onFocus={() => setFocused(index)}
            >
              {columns.map((column) => (
                <div
                  key={column.id}
                  role="gridcell"
                  tabIndex={-1}
                  className={cx(styles.cell, column.align === 'end' && styles.end)}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {isLoading && <div className={styles.loading}>Loading…</div>}
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
          {isSorted &&
            (sort.direction === 'asc' ? (
              <ArrowUp size={13} aria-hidden />
            ) : (
              <ArrowDown size={13} aria-hidden />
            ))}
        </button>
      ) : (
        column.head
      )}
    </div>
  );
}
