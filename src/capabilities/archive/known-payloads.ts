import { DatabaseSync } from 'node:sqlite';

/** Where a body was first written. */
export interface PayloadPlace {
  readonly id: string;
  readonly url: string;
  readonly at: number;
}

/** The bodies that an archive has already, by digest: a repeated one becomes a reference. */
export interface KnownPayloads {
  get(digest: string): PayloadPlace | undefined;
  add(digest: string, place: PayloadPlace): void;
  /** May be called again. */
  close(): void;
}

/** Beyond this the oldest are forgotten, and their bodies may be written again. */
const MOST_PAYLOADS = 25_000;

/** A database in memory: as objects, the places would take three times as much, and the heap as much again around them. */
export function createKnownPayloads(mostPayloads = MOST_PAYLOADS): KnownPayloads {
  const database = new DatabaseSync(':memory:');
  database.exec(
    `CREATE TABLE payloads (slot INTEGER PRIMARY KEY, digest TEXT UNIQUE, id TEXT, url TEXT, at INTEGER)`,
  );
  const find = database.prepare('SELECT id, url, at FROM payloads WHERE digest = ?');
  const put = database.prepare('INSERT OR REPLACE INTO payloads VALUES (?, ?, ?, ?, ?)');
  let added = 0;
  return {
    get(digest) {
      const row = find.get(digest);
      return row === undefined ? undefined : { id: String(row.id), url: String(row.url), at: Number(row.at) };
    },
    add(digest, { id, url, at }) {
      put.run(added % mostPayloads, digest, id, url, at);
      added += 1;
    },
    close() {
      if (database.isOpen) database.close();
    },
  };
}
