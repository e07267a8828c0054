import { DatabaseSync } from 'node:sqlite';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blob, Blobs } from '../../core/ports/blobs.ts';
import type { PortableRow, SchemaVersions, StoreDraft, StoreSnapshot } from '../../core/ports/store-copy.ts';
import { type BackupBegin, damaged, type Figures } from './backup-parts.ts';
import { TableDigest, type TableFigures } from './table-digest.ts';

interface RowBatch {
  readonly table: string;
  readonly rows: readonly PortableRow[];
}

interface BodyBatch {
  readonly bodies: readonly Blob[];
  /** Referred to, and not kept: lost before, or damaged. */
  readonly absent: readonly ContentHash[];
}

/** Everything of an installation: out of a backup, or out of another installation. */
export interface Content {
  readonly begin: BackupBegin;
  /** From the first body to the last, each time it is called. */
  bodies(): AsyncIterable<BodyBatch>;
  /** From the first row to the last, each time it is called. */
  rows(): AsyncIterable<RowBatch>;
  /** What rows and bodies must come to; of another installation, known once its rows and bodies have been read. */
  end(): Promise<Figures>;
}

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

export interface LoadTarget {
  readonly blobs: Pick<Blobs, 'put' | 'get'>;
  openDraft(schema: SchemaVersions): Promise<StoreDraft>;
}

/**
 * Fills an empty installation. Bodies come first, and those that are there already, left by a process that died, are
 * not written again. Rows become visible at once, when all of them were read back and compared, and every body too.
 */
export async function loadContent(content: Content, target: LoadTarget): Promise<Figures> {
  const stored = new HashList();
  const known = new HashList();
  try {
    for await (const { bodies, absent } of content.bodies()) {
      if (bodies.length > 0) await target.blobs.put(bodies);
      stored.add(bodies.map(({ hash }) => hash));
      known.add([...bodies.map(({ hash }) => hash), ...absent]);
    }
    const draft = await target.openDraft(content.begin.schema);
    try {
      const columns = new Map(content.begin.tables.map((table) => [table.name, table.columns]));
      for await (const { table, rows } of content.rows())
        await draft.add(table, columns.get(table) ?? [], rows);
      const end = await content.end();
      await compareRows(draft, end, columns);
      await compareBodies(target.blobs, stored.all());
      for await (const hashes of draft.references()) {
        const missing = hashes.find((hash) => !known.has(hash));
        if (missing !== undefined) throw damaged(`a page refers to the body ${missing}, which is missing`);
      }
      const numbers = content.begin.tables.flatMap(({ name, lastNumber }): [string, number][] =>
        lastNumber === null ? [] : [[name, lastNumber]],
      );
      await draft.publish(new Map(numbers));
      return end;
    } catch (error) {
      await draft.discard();
      throw error;
    }
  } finally {
    stored.close();
    known.close();
  }
}

/** Changed with the publication of rows: the era of events, which begins anew. */
const REWRITTEN: ReadonlySet<string> = new Set(['event_log']);

/** Whether a store has exactly the rows of the content. */
export async function isSame(content: Content, store: StoreSnapshot): Promise<boolean> {
  const digests = new Map(store.tables.map(({ name }) => [name, new TableDigest()]));
  for (const { name } of store.tables) {
    for await (const rows of store.rows(name)) digests.get(name)?.add(rows);
  }
  const wanted = new Map(content.begin.tables.map(({ name }) => [name, new TableDigest()]));
  for await (const { table, rows } of content.rows()) wanted.get(table)?.add(rows);
  return [...digests].every(
    ([name, { figures }]) => REWRITTEN.has(name) || wanted.get(name)?.figures.digest === figures.digest,
  );
}

/** Columns that the rows did not have are new in this program, and are not compared. */
async function compareRows(
  draft: StoreDraft,
  end: Figures,
  columns: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  for (const table of draft.tables) {
    const names = columns.get(table.name) ?? [];
    const places = names.map((name) => table.columns.indexOf(name));
    const digest = new TableDigest();
    for await (const rows of draft.rows(table.name)) {
      digest.add(rows.map((row) => places.map((at) => row[at] ?? null)));
    }
    const expected = end.tables[table.name] ?? new TableDigest().figures;
    if (expected.rows !== digest.figures.rows || expected.digest !== digest.figures.digest) {
      throw different(`The table ${table.name} was not stored as it was read.`);
    }
  }
}

async function compareBodies(blobs: Pick<Blobs, 'get'>, hashes: Iterable<ContentHash>): Promise<void> {
  for (const hash of hashes) {
    if ((await blobs.get(hash)) === null) throw different(`The body ${hash} was not stored as it was read.`);
  }
}

const different = (what: string): ScrapifieError =>
  new ScrapifieError('STORE_UNAVAILABLE', `${what} Nothing was made visible; start again.`);

const BODIES_AT_ONCE = 64;
const BODY_BYTES_AT_ONCE = 4_194_304;

/** Every blob that the snapshot refers to, each once, in the order of the rows. Close it. */
export async function listReferences(snapshot: StoreSnapshot): Promise<HashList> {
  const hashes = new HashList();
  try {
    for await (const batch of snapshot.references()) hashes.add(batch);
    return hashes;
  } catch (error) {
    hashes.close();
    throw error;
  }
}

/** The bodies of these hashes, a few megabytes at a time; a larger one comes alone. */
export async function* readBodies(
  blobs: Pick<Blobs, 'get'>,
  hashes: Iterable<ContentHash>,
): AsyncGenerator<BodyBatch> {
  let bodies: Blob[] = [];
  let absent: ContentHash[] = [];
  let bytes = 0;
  for (const hash of hashes) {
    const body = await blobs.get(hash);
    if (body === null) absent.push(hash);
    else {
      bodies.push({ hash, bytes: body });
      bytes += body.length;
    }
    if (bodies.length + absent.length < BODIES_AT_ONCE && bytes < BODY_BYTES_AT_ONCE) continue;
    yield { bodies, absent };
    [bodies, absent, bytes] = [[], [], 0];
  }
  if (bodies.length + absent.length > 0) yield { bodies, absent };
}

/** An installation as content of another one. Its rows are counted while they are read. */
export interface StoreContent extends Content {
  close(): void;
}

export async function contentOfStore(
  snapshot: StoreSnapshot,
  blobs: Pick<Blobs, 'get'>,
  head: Omit<BackupBegin, 'schema' | 'tables'>,
): Promise<StoreContent> {
  const references = await listReferences(snapshot);
  const tables: Record<string, TableFigures> = {};
  const figures = { count: 0, bytes: 0, absent: 0 };
  return {
    begin: {
      ...head,
      schema: snapshot.schema,
      tables: snapshot.tables.map(({ name, columns, lastNumber }) => ({
        name,
        columns: [...columns],
        lastNumber,
      })),
    },
    async *bodies() {
      Object.assign(figures, { count: 0, bytes: 0, absent: 0 });
      for await (const { bodies, absent } of readBodies(blobs, references.all())) {
        figures.count += bodies.length;
        figures.absent += absent.length;
        for (const { bytes } of bodies) figures.bytes += bytes.length;
        yield { bodies, absent };
      }
    },
    async *rows() {
      for (const { name } of snapshot.tables) {
        const digest = new TableDigest();
        for await (const rows of snapshot.rows(name)) {
          digest.add(rows);
          yield { table: name, rows };
        }
        tables[name] = digest.figures;
      }
    },
    end: async () => ({ tables, bodies: figures }),
    close: () => references.close(),
  };
}
