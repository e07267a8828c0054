/** A table with rows of accounts, as the schema describes it. */
export interface AccountTable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Other tables that its rows refer to. */
  readonly refersTo: readonly string[];
}

/** Deleted by calls of their own: jobs in steps, keys and accounts last. */
export const LAST_TABLES: ReadonlySet<string> = new Set(['accounts', 'jobs', 'keys']);

/** Puts tables that refer to others before these, so that no row is left that refers to a deleted one. */
export function inDeletionOrder(tables: readonly AccountTable[]): readonly AccountTable[] {
  const ordered: AccountTable[] = [];
  let rest = tables.filter(({ name }) => !LAST_TABLES.has(name));
  while (rest.length > 0) {
    const isReferred = (name: string) =>
      rest.some((other) => other.name !== name && other.refersTo.includes(name));
    const free = rest.filter(({ name }) => !isReferred(name));
    // Tables that refer to each other cannot be ordered; the store will say which row is in the way.
    const next = free.length > 0 ? free : rest;
    ordered.push(...next);
    rest = rest.filter((table) => !next.includes(table));
  }
  return ordered;
}
