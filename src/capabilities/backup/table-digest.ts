import { hash } from 'node:crypto';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PortableRow, PortableValue } from '../../core/ports/store-copy.ts';

export interface TableFigures {
  readonly rows: number;
  /** Equal for the same rows in any order and any store. */
  readonly digest: string;
}

const MODULUS = 1n << 256n;

/** Rows as bytes: each value is a byte for its kind and what that kind needs. */
const NULL = 0;
const NUMBER = 1;
const BIG = 2;
const TEXT = 3;
const BYTES = 4;

/**
 * Counts the rows of a table and adds up their hashes, modulo 2^256: stores give rows back in different orders. What
 * stores write in different ways counts as the same: the order of keys and the spaces of JSON, and characters that
 * PostgreSQL does not keep.
 */
export class TableDigest {
  #rows = 0;
  #sum = 0n;

  add(rows: readonly PortableRow[]): void {
    for (const row of rows) {
      this.#sum += BigInt(`0x${hash('sha256', encodeRow(row.map(canonical)), 'hex')}`);
      this.#rows += 1;
    }
    this.#sum %= MODULUS;
  }

  get figures(): TableFigures {
    return { rows: this.#rows, digest: this.#sum.toString(16).padStart(64, '0') };
  }
}

/** What a text that may be JSON begins with; numbers and words are written in one way only. */
const JSON_START = /^[[{"]/;

function canonical(value: PortableValue): PortableValue {
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value);
  // Minus zero is another number to the codec.
  if (value === 0) return 0;
  if (typeof value !== 'string') return value;
  if (!JSON_START.test(value)) return kept(value);
  try {
    return JSON.stringify(sorted(JSON.parse(value)));
  } catch {
    return kept(value);
  }
}

const kept = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

function sorted(value: unknown): unknown {
  if (typeof value === 'string') return kept(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => [kept(key), sorted(each)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b))));
}

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
