import type { ContentHash } from '../../core/model/ids.ts';
import { isBody } from '../../core/model/page-record.ts';
import type { Blob } from '../../core/ports/blobs.ts';
import type { PortableRow } from '../../core/ports/store-copy.ts';
import { type Content, HashList } from './backup-content.ts';
import { type BackupBegin, type BackupEnd, damaged, type PartContent, readParts } from './backup-parts.ts';
import { decodeRows, TableDigest, type TableFigures } from './table-digest.ts';

type RowsPart = PartContent & { kind: 'rows' };
type BodiesPart = PartContent & { kind: 'bodies' };

/** The bytes of a backup, from the beginning each time. */
export type OpenBackup = () => AsyncIterable<Uint8Array>;

export interface VerifiedBackup {
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
