import { DatabaseSync } from 'node:sqlite';

/**
 * Sorts values by a text outside of memory, in a temporary database without a name: it is gone with the process, however
 * that ends.
 */
export interface Sorter {
  /** Values with the same key come in the order in which they were added. A value of null stands for its key. */
  add(key: string, value: string | null): void;
  /** In the order of the keys, by their code points. */
  values(): Iterable<string>;
  close(): void;
}

export function createSorter(): Sorter {
  const database = new DatabaseSync('');
  // One transaction without a journal, which never has to be undone.
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048;
    PRAGMA temp_store = FILE; CREATE TABLE items (key TEXT, value TEXT); BEGIN`);
  const insert = database.prepare('INSERT INTO items VALUES (?, ?)');
  return {
    add: (key, value) => void insert.run(key, value),
    *values() {
      const sorted = 'SELECT coalesce(value, key) AS value FROM items ORDER BY key, rowid';
      for (const { value } of database.prepare(sorted).iterate()) yield String(value);
    },
    close: () => database.close(),
  };
}
