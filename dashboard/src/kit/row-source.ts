/** Rows by their place in a list that may be too long to be loaded as a whole. */
export interface RowSource<T> {
  /** How many rows the list has; an estimate until `isCounted`. */
  readonly count: number;
  readonly isCounted: boolean;
  /** Undefined while the row is not loaded, or no longer. */
  row(index: number): T | undefined;
  /** Says which rows are in sight, so that they are loaded; both ends are included. */
  show(first: number, last: number): void;
  /** What is loaded at present; null when everything in sight is there. */
  readonly progress: RowProgress | null;
  /** Why rows are missing; null while nothing failed. */
  readonly failure: unknown;
  /** Tries again after a failure. */
  retry(): void;
  /** Calls `listener` after each change. */
  subscribe(listener: () => void): () => void;
  /** Differs after each change. */
  version(): number;
}

export interface RowProgress {
  /** From 0 to 1, on the way to rows that are far from all that were loaded before. */
  readonly share: number;
  readonly isFar: boolean;
}

/** Rows that are all there. */
export const arraySource = <T>(rows: readonly T[]): RowSource<T> => ({
  count: rows.length,
  isCounted: true,
  row: (index) => rows[index],
  show: () => {},
  progress: null,
  failure: null,
  retry: () => {},
  subscribe: () => () => {},
  version: () => 0,
});
