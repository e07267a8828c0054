import { hash } from 'node:crypto';
import type { PortableRow, PortableValue } from '../../core/ports/store-copy.ts';
import { encodeRow } from './row-codec.ts';

export interface TableFigures {
  readonly rows: number;
  /** Equal for the same rows in any order and any store. */
  readonly digest: string;
}

const MODULUS = 1n << 256n;

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
