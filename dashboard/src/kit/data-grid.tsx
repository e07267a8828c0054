import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { formatNumber } from '../format/format.ts';
import { Button } from './button.tsx';
import { cx } from './class-names.ts';
import styles from './data-grid.module.css';
import { type GridColumn, GridHead, type GridSort, gridTemplate } from './grid-head.tsx';
import type { RowSource } from './row-source.ts';
import { FailureNotice } from './states.tsx';
import { useRowWindow } from './use-row-window.ts';

export type { GridColumn } from './grid-head.tsx';

interface DataGridProps<T> {
  readonly label: string;
  readonly columns: readonly GridColumn<T>[];
  /** `arraySource` for rows that are there, `BlockSource` for a list behind a cursor. */
  readonly source: RowSource<T>;
  readonly sort?: GridSort | undefined;
  readonly onSort?: (sort: GridSort) => void;
  /** On Enter or a click. */
  readonly onOpen?: (row: T, index: number) => void;
  /** In place of the rows when there are none. */
  readonly empty?: ReactNode;
  readonly height?: string;
}

const ROW_HEIGHT = 38;
const HEAD_HEIGHT = 34;
/** Borders and a scroll bar at the bottom, so that a short list has none at its side. */
const EDGES = 18;

/**
 * A grid of any number of rows, of which only those in sight are in the document. Arrow keys, Page Up and Down, Home and End
 * move the active row, Enter opens it. The grid itself has the focus, so that it is not lost with a row that scrolls away.
 */
export function DataGrid<T>(props: DataGridProps<T>) {
  const { label, columns, source, sort, onSort, onOpen, empty, height } = props;
  useSyncExternalStore(
    (listener) => source.subscribe(listener),
    () => source.version(),
  );
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const { count } = source;
  const rows = useRowWindow(scroller, { count, rowHeight: ROW_HEIGHT, headHeight: HEAD_HEIGHT });
  const { first, end } = rows;
  useEffect(() => source.show(first, Math.max(first, end - 1)), [source, first, end]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey || event.metaKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: rows.fits, PageUp: -rows.fits }[event.key];
    const target =
      event.key === 'Home'
        ? 0
        : event.key === 'End'
          ? count - 1
          : step === undefined
            ? undefined
            : active + step;
    if (target !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(count - 1, target));
      setActive(next);
      rows.scrollToRow(next);
    } else if (event.key === 'Enter') {
      const row = source.row(active);
      if (row !== undefined) onOpen?.(row, active);
    }
  };
  const { template, minWidth } = gridTemplate(columns);
  const opened = useRef(onOpen);
  opened.current = onOpen;
  const open = useCallback((row: T, index: number) => opened.current?.(row, index), []);
  const drawn = Array.from({ length: Math.max(0, end - first) }, (_, place) => first + place);

  if (empty !== undefined && count === 0 && source.progress === null && source.failure === null) return empty;
  return (
    <div className={styles.grid}>
      <div
        ref={scroller}
        className={styles.scroller}
        style={{
          ...(height !== undefined && { height }),
          maxHeight: HEAD_HEIGHT + count * ROW_HEIGHT + EDGES,
        }}
        role="grid"
        aria-label={label}
        aria-rowcount={source.isCounted ? count + 1 : -1}
        aria-colcount={columns.length}
        aria-busy={source.progress !== null}
        aria-activedescendant={active >= first && active < end ? `${id}-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <GridHead columns={columns} template={template} minWidth={minWidth} sort={sort} onSort={onSort} />
        <div className={styles.rows} style={{ height: rows.height, minWidth }} role="rowgroup">
          {drawn.map((index) => (
            <GridRow
              // Rows that leave at one end are used again at the other: far cheaper than making new ones.
              key={index % Math.max(1, drawn.length)}
              id={`${id}-${index}`}
              index={index}
              top={index * ROW_HEIGHT - rows.offset}
              row={source.row(index)}
              columns={columns}
              template={template}
              isActive={index === active}
              onActivate={setActive}
              onOpen={onOpen && open}
            />
          ))}
        </div>
      </div>
      <span className={styles.far} role="status">
        {source.progress?.isFar && `Reading on to these rows: ${Math.round(source.progress.share * 100)} %`}
      </span>
      <GridFoot source={source} />
    </div>
  );
}

/** How the loading goes, below the rows, so that nothing moves when it ends. */
function GridFoot<T>({ source }: { readonly source: RowSource<T> }) {
  const { progress, failure, count, isCounted } = source;
  if (failure !== null) {
    return (
      <div className={styles.failure}>
        <FailureNotice failure={failure} />
        <Button size="small" onClick={() => source.retry()}>
          Try again
        </Button>
      </div>
    );
  }
  return (
    <div className={styles.foot}>
      <span>{`${isCounted ? '' : 'About '}${formatNumber(count)} ${count === 1 ? 'row' : 'rows'}`}</span>
      <span>{progress !== null && 'Loading…'}</span>
    </div>
  );
}

interface GridRowProps<T> {
  readonly id: string;
  readonly index: number;
  readonly top: number;
  readonly row: T | undefined;
  readonly columns: readonly GridColumn<T>[];
  readonly template: string;
  readonly isActive: boolean;
  readonly onActivate: (index: number) => void;
  readonly onOpen: ((row: T, index: number) => void) | undefined;
}

const GridRow = memo(function GridRow<T>(props: GridRowProps<T>) {
  const { id, index, top, row, columns, template, isActive, onActivate, onOpen } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and handles the keys
    <div
      id={id}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isActive}
      className={cx(styles.row, onOpen && styles.opens, isActive && styles.active)}
      style={{ gridTemplateColumns: template, transform: `translateY(${top}px)` }}
      onClick={(event) => {
        onActivate(index);
        if (row === undefined || onOpen === undefined || event.ctrlKey || event.metaKey || event.shiftKey)
          return;
        const inner = (event.target as Element).closest('a, button');
        // A link of the cell that leads within the dashboard is the row's own, for opening it in another tab.
        if (inner !== null && !(inner instanceof HTMLAnchorElement && inner.target === '')) return;
        event.preventDefault();
        onOpen(row, index);
      }}
    >
      {columns.map((column) => (
        <div
          key={column.id}
          role="gridcell"
          tabIndex={-1}
          className={cx(styles.cell, column.align === 'end' && styles.end)}
        >
          {row === undefined ? <span className={styles.pending} /> : column.cell(row)}
        </div>
      ))}
    </div>
  );
}) as <T>(props: GridRowProps<T>) => ReactNode;
