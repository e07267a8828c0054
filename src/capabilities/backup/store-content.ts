import type { ContentHash } from '../../core/model/ids.ts';
import type { Blob, Blobs } from '../../core/ports/blobs.ts';
import type { StoreSnapshot } from '../../core/ports/store-copy.ts';
import { type BodyBatch, type Content, HashList } from './backup-content.ts';
import type { BackupBegin } from './backup-parts.ts';
import { TableDigest, type TableFigures } from './table-digest.ts';

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
