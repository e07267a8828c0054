import { isBody } from '../model/blob-frame.ts';
import type { ContentHash } from '../model/ids.ts';
import { blobsOfRecord } from '../model/page-record.ts';
import type { Blob } from '../ports/blobs.ts';
import type { PortableRow } from '../ports/store-copy.ts';
import { type BackupBegin, type BackupEnd, type BackupPart, damaged, readParts } from './backup-parts.ts';
import type { Content } from './content.ts';
import { HashList } from './hash-list.ts';
import { decodeRows } from './row-codec.ts';
import { TableDigest } from './table-digest.ts';

/** The bytes of a backup, from the beginning each time. */
export type OpenBackup = () => AsyncIterable<Uint8Array>;

export interface VerifiedBackup {
  readonly begin: BackupBegin;
  readonly end: BackupEnd;
}

/**
 * Reads a backup from beginning to end and checks everything: the checksum of each part, the SHA-256 of each body, number
 * and hash of the rows of each table, and that every body that a page refers to is there or was missing before. Throws
 * BACKUP_DAMAGED.
 */
export async function verifyBackup(open: OpenBackup): Promise<VerifiedBackup> {
  const known = new HashList();
  const referred = new HashList();
  try {
    let begin: BackupBegin | null = null;
    let end: BackupEnd | null = null;
    const digests = new Map<string, TableDigest>();
    const bodies = { count: 0, bytes: 0, absent: 0 };
    for await (const part of readParts(open())) {
      if (part.kind === 'begin') {
        begin = part;
        for (const { name } of part.tables) digests.set(name, new TableDigest());
      } else if (part.kind === 'rows') {
        const rows = rowsOf(part, begin);
        digests.get(part.table)?.add(rows);
        if (part.table === 'pages') referred.add(referencesOf(rows, columnsOf(begin, 'pages')));
      } else if (part.kind === 'bodies') {
        const found = bodiesOf(part);
        known.add(found.map(({ hash }) => hash));
        bodies.count += found.length;
        bodies.bytes += part.payload.length;
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
    for (const hash of referred.all()) {
      if (!known.has(hash)) throw damaged(`a page refers to the body ${hash}, which is missing`);
    }
    const { payload: _, ...first } = begin as BackupBegin & Pick<BackupPart, 'payload'>;
    const { payload: __, ...last } = end as BackupEnd & Pick<BackupPart, 'payload'>;
    return { begin: first, end: last };
  } finally {
    known.close();
    referred.close();
  }
}

/** The content of a backup that was verified. */
export function contentOfBackup(open: OpenBackup, { begin, end }: VerifiedBackup): Content {
  return {
    begin,
    async *bodies() {
      for await (const part of readParts(open())) if (part.kind === 'bodies') yield bodiesOf(part);
    },
    async *rows() {
      for await (const part of readParts(open())) {
        if (part.kind === 'rows') yield { table: part.table, rows: rowsOf(part, begin) };
      }
    },
    end: async () => end,
  };
}

function compareTables(digests: ReadonlyMap<string, TableDigest>, end: BackupEnd): void {
  for (const [name, digest] of digests) {
    const { rows, digest: sum } = digest.figures;
    const expected = end.tables[name];
    if (expected === undefined || expected.rows !== rows || expected.digest !== sum) {
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

function rowsOf(part: BackupPart & { kind: 'rows' }, begin: BackupBegin | null): PortableRow[] {
  return decodeRows(part.payload, part.rows, columnsOf(begin, part.table).length);
}

function referencesOf(rows: readonly PortableRow[], columns: readonly string[]): ContentHash[] {
  const [hashAt, recordAt] = [columns.indexOf('content_hash'), columns.indexOf('record')];
  return rows.flatMap((row) => {
    const [hash, record] = [row[hashAt], row[recordAt]];
    return [
      ...(typeof hash === 'string' ? [hash as ContentHash] : []),
      ...(record instanceof Uint8Array ? blobsOfRecord(record) : []),
    ];
  });
}

function bodiesOf({ bodies, payload }: BackupPart & { kind: 'bodies' }): Blob[] {
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
