import type { ContentHash } from '../../core/model/ids.ts';
import { isBody } from '../../core/model/page-record.ts';
import type { Blob, Blobs } from '../../core/ports/blobs.ts';
import type { PortableRow, StoreSnapshot } from '../../core/ports/store-copy.ts';
import { type Content, HashList, listReferences, readBodies } from './backup-content.ts';
import {
  type BackupBegin,
  type BackupEnd,
  damaged,
  type Figures,
  type PartContent,
  PartWriter,
  readParts,
} from './backup-parts.ts';
import { decodeRows, encodeRow, TableDigest, type TableFigures } from './table-digest.ts';

interface BackupSource {
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

type RowsPart = PartContent & { kind: 'rows' };
type BodiesPart = PartContent & { kind: 'bodies' };

/** The bytes of a backup, from the beginning each time. */
type OpenBackup = () => AsyncIterable<Uint8Array>;

interface VerifiedBackup {
  readonly begin: BackupBegin;
  readonly end: BackupEnd;
}

/**
 * Reads a backup from beginning to end and checks everything: the checksum of each part, the SHA-256 of each body, number
 * and hash of the rows of each table, and that every body that the rows refer to is there or was missing before. Throws
 * BACKUP_DAMAGED.
 */
export async function verifyBackup(open: OpenBackup): Promise<VerifiedBackup> {
  const known = new HashList();
  try {
    let begin: BackupBegin | null = null;
    let end: BackupEnd | null = null;
    const digests = new Map<string, TableDigest>();
    const bodies = { count: 0, bytes: 0, absent: 0 };
    for await (const { payload, ...part } of readParts(open())) {
      if (part.kind === 'begin') {
        begin = part;
        for (const { name } of part.tables) digests.set(name, new TableDigest());
      } else if (part.kind === 'rows') digests.get(part.table)?.add(rowsOf(part, payload, begin));
      else if (part.kind === 'bodies') {
        const found = bodiesOf(part, payload);
        known.add(found.map(({ hash }) => hash));
        bodies.count += found.length;
        bodies.bytes += payload.length;
      } else if (part.kind === 'absent') {
        known.add(part.hashes as ContentHash[]);
        bodies.absent += part.hashes.length;
      } else end = part;
    }
    if (begin === null || end === null) throw damaged('it has no end');
    compareTables(digests, end);
    for (const what of ['count', 'bytes', 'absent'] as const) {
      if (bodies[what] !== end.bodies[what])
        throw damaged(`it has not the bodies that it should have (${what})`);
    }
    const referred = new TableDigest();
    for (const hash of known.all()) referred.add([[hash]]);
    if (!isEqual(referred.figures, end.references))
      throw damaged('it has not the bodies that its rows refer to');
    return { begin, end };
  } finally {
    known.close();
  }
}

/** The content of a backup that was verified. */
export function contentOfBackup(open: OpenBackup, { begin, end }: VerifiedBackup): Content {
  return {
    begin,
    async *bodies() {
      for await (const { payload, ...part } of readParts(open())) {
        if (part.kind === 'bodies') yield { bodies: bodiesOf(part, payload), absent: [] };
        if (part.kind === 'absent') yield { bodies: [], absent: part.hashes as ContentHash[] };
      }
    },
    async *rows() {
      for await (const { payload, ...part } of readParts(open())) {
        if (part.kind === 'rows') yield { table: part.table, rows: rowsOf(part, payload, begin) };
      }
    },
    end: async () => end,
  };
}

function compareTables(digests: ReadonlyMap<string, TableDigest>, end: BackupEnd): void {
  for (const [name, digest] of digests) {
    if (!isEqual(digest.figures, end.tables[name])) {
      throw damaged(`the table ${name} has not the rows that it should have`);
    }
  }
  if (Object.keys(end.tables).length !== digests.size) throw damaged('tables are missing');
}

function columnsOf(begin: BackupBegin | null, table: string): readonly string[] {
  const shape = begin?.tables.find(({ name }) => name === table);
  if (shape === undefined) throw damaged(`it has rows of ${table}, a table that it does not name`);
  return shape.columns;
}

const rowsOf = (part: RowsPart, payload: Buffer, begin: BackupBegin | null): PortableRow[] =>
  decodeRows(payload, part.rows, columnsOf(begin, part.table).length);

const isEqual = (figures: TableFigures, expected: TableFigures | undefined): boolean =>
  figures.rows === expected?.rows && figures.digest === expected.digest;

function bodiesOf({ bodies }: BodiesPart, payload: Buffer): Blob[] {
  let at = 0;
  const found = bodies.map(({ hash, size }) => {
    const bytes = payload.subarray(at, at + size);
    at += size;
    if (bytes.length !== size || !isBody(bytes, hash)) throw damaged(`the body ${hash} is damaged`);
    return { hash: hash as ContentHash, bytes };
  });
  if (at !== payload.length) throw damaged('a part with bodies is longer than these');
  return found;
}
