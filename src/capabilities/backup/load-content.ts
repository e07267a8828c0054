import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { SchemaVersions, StoreDraft, StoreSnapshot } from '../../core/ports/store-copy.ts';
import { damaged, type Figures } from './backup-parts.ts';
import type { Content } from './content.ts';
import { HashList } from './hash-list.ts';
import { TableDigest } from './table-digest.ts';

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
