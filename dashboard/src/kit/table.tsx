import type { ReactNode } from 'react';
import { cx } from './class-names.ts';
import styles from './table.module.css';

export interface Column<T> {
  readonly id: string;
  readonly head: ReactNode;
  readonly cell: (row: T) => ReactNode;
  readonly align?: 'end';
  /** Left out on phones, where the others need the room. */
  readonly isSecondary?: boolean;
  /** Takes the room that the others leave, and cuts long text. */
  readonly isWide?: boolean;
  /** Never broken into lines: buttons, times, short phrases. */
  readonly isOneLine?: boolean;
}

/** A plain table for up to some hundreds of rows; `DataGrid` is for more. */
export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  empty,
}: {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** What stands in place of the table while it has no rows. */
  readonly empty?: ReactNode;
}) {
  if (rows.length === 0 && empty !== undefined) return <p className={styles.empty}>{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={classesOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.id} className={classesOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const classesOf = <T,>({ align, isSecondary, isWide, isOneLine }: Column<T>): string =>
  cx(
    align === 'end' && styles.end,
    isSecondary && styles.secondary,
    isWide && styles.wide,
    isOneLine && styles.oneLine,
  );
