import { DatabaseSync } from 'node:sqlite';

/**
 * Sorts values by a text outside of memory, in a temporary database without a name: it is gone with the process, however
 * that ends.
 */
export interface Sorter {
  /** Values with the same key come in the order in which they were added. */
  add(items: Iterable<readonly [key: string, value: string]>): void;
  /** In the order of the keys, by their code points. */
  values(): Iterable<string>;
  close(): void;
}

export function createSorter(): Sorter {
  const database = new DatabaseSync('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
    PRAGMA temp_store = FILE; CREATE TABLE items (key TEXT, value TEXT)`);
  const insert = database.prepare('INSERT INTO items VALUES (?, ?)');
  return {
    add(items) {
      database.exec('BEGIN');
      for (const [key, value] of items) insert.run(key, value);
      database.exec('COMMIT');
    },
    *values() {
      for (const { value } of database.prepare('SELECT value FROM items ORDER BY key, rowid').iterate()) {
        yield String(value);
      }
    },
    close: () => database.close(),
  };
}
