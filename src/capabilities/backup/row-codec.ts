import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PortableRow, PortableValue } from '../../core/ports/store-copy.ts';

/** Rows as bytes: each value is a byte for its kind and what that kind needs. */
const NULL = 0;
const NUMBER = 1;
const BIG = 2;
const TEXT = 3;
const BYTES = 4;

export function encodeRow(row: PortableRow): Buffer {
  const pieces: Uint8Array[] = [];
  for (const value of row) {
    if (value === null) pieces.push(Buffer.of(NULL));
    else if (typeof value === 'number') {
      const piece = Buffer.allocUnsafe(9);
      piece.writeUInt8(NUMBER, 0);
      piece.writeDoubleLE(value, 1);
      pieces.push(piece);
    } else if (typeof value === 'bigint') {
      const piece = Buffer.allocUnsafe(9);
      piece.writeUInt8(BIG, 0);
      piece.writeBigInt64LE(value, 1);
      pieces.push(piece);
    } else {
      const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
      const head = Buffer.allocUnsafe(5);
      head.writeUInt8(typeof value === 'string' ? TEXT : BYTES, 0);
      head.writeUInt32LE(bytes.length, 1);
      pieces.push(head, bytes);
    }
  }
  return Buffer.concat(pieces);
}

/** Throws BACKUP_DAMAGED for bytes that are not that many rows of that many values. */
export function decodeRows(bytes: Buffer, rowCount: number, columnCount: number): PortableRow[] {
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw unreadable();
    at += count;
    return bytes.subarray(at - count, at);
  };
  const value = (): PortableValue => {
    const kind = take(1)[0];
    if (kind === NULL) return null;
    if (kind === NUMBER) return take(8).readDoubleLE(0);
    if (kind === BIG) return take(8).readBigInt64LE(0);
    if (kind !== TEXT && kind !== BYTES) throw unreadable();
    const content = take(take(4).readUInt32LE(0));
    return kind === TEXT ? content.toString('utf8') : content;
  };
  const rows = Array.from({ length: rowCount }, () => Array.from({ length: columnCount }, value));
  if (at !== bytes.length) throw unreadable();
  return rows;
}

const unreadable = () => new ScrapifieError('BACKUP_DAMAGED', 'The backup has rows that cannot be read.');
