import type { Blobs } from '../../core/ports/blobs.ts';
import type { StoreSnapshot } from '../../core/ports/store-copy.ts';
import { type BackupBegin, type Figures, PartWriter } from './backup-parts.ts';
import { listReferences, readBodies } from './store-content.ts';
import { encodeRow, TableDigest, type TableFigures } from './table-digest.ts';

export interface BackupSource {
  /** Closed as soon as its rows are read: bodies are read after that. */
  readonly snapshot: StoreSnapshot;
  readonly blobs: Pick<Blobs, 'get'>;
  /** Called with every part. Throws when bodies may have been removed meanwhile. */
  keepBodies(): Promise<void>;
}

export type BackupHead = Omit<BackupBegin, 'kind' | 'schema' | 'tables'>;

/** The bytes of a backup; `onEnd` hears what it holds, before the last part. */
export async function* writeBackup(
  { snapshot, blobs, keepBodies }: BackupSource,
  head: BackupHead,
  onEnd: (end: Figures) => void,
): AsyncGenerator<Uint8Array> {
  const writer = new PartWriter();
  yield writer.start;
  const shapes = snapshot.tables.map(({ name, columns, lastNumber }) => ({
    name,
    columns: [...columns],
    lastNumber,
  }));
  yield writer.write({ kind: 'begin', ...head, schema: snapshot.schema, tables: shapes });
  const tables: Record<string, TableFigures> = {};
  for (const { name } of shapes) {
    const digest = new TableDigest();
    for await (const rows of snapshot.rows(name)) {
      digest.add(rows);
      yield writer.write(
        { kind: 'rows', table: name, rows: rows.length },
        Buffer.concat(rows.map(encodeRow)),
      );
      await keepBodies();
    }
    tables[name] = digest.figures;
  }
  const references = await listReferences(snapshot);
  try {
    await snapshot.close();
    const bodies = { count: 0, bytes: 0, absent: 0 };
    const referred = new TableDigest();
    for (const hash of references.all()) referred.add([[hash]]);
    for await (const batch of readBodies(blobs, references.all())) {
      const listed = batch.bodies.map(({ hash, bytes }) => ({ hash: hash as string, size: bytes.length }));
      if (listed.length > 0) {
        const payload = Buffer.concat(batch.bodies.map(({ bytes }) => bytes));
        yield writer.write({ kind: 'bodies', bodies: listed }, payload);
        bodies.count += listed.length;
        bodies.bytes += payload.length;
      }
      if (batch.absent.length > 0) {
        yield writer.write({ kind: 'absent', hashes: [...batch.absent] });
        bodies.absent += batch.absent.length;
      }
      await keepBodies();
    }
    onEnd({ tables, bodies });
    yield writer.end({ tables, bodies, references: referred.figures });
  } finally {
    references.close();
  }
}
