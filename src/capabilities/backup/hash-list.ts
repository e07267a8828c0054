import { DatabaseSync } from 'node:sqlite';
import type { ContentHash } from '../../core/model/ids.ts';

/** Hashes, each once, in the order in which they came first. They are in a temporary file that ends with the process. */
export class HashList {
  readonly #database = new DatabaseSync('');
  readonly #insert;
  readonly #find;

  constructor() {
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
      CREATE TABLE hashes (place INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE);
      BEGIN;
    `);
    this.#insert = this.#database.prepare('INSERT OR IGNORE INTO hashes (hash) VALUES (?)');
    this.#find = this.#database.prepare('SELECT 1 FROM hashes WHERE hash = ?');
  }

  add(hashes: readonly ContentHash[]): void {
    for (const each of hashes) this.#insert.run(Buffer.from(each, 'hex'));
  }

  has(hash: ContentHash): boolean {
    return this.#find.get(Buffer.from(hash, 'hex')) !== undefined;
  }

  *all(): Generator<ContentHash> {
    for (const row of this.#database.prepare('SELECT hash FROM hashes ORDER BY place').iterate()) {
      yield Buffer.from(row.hash as Uint8Array).toString('hex') as ContentHash;
    }
  }

  close(): void {
    this.#database.close();
  }
}
