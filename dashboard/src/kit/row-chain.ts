import type { ListPage } from '../api/client.ts';

/** Rows of one block. */
export const BLOCK_ROWS = 200;
/** Blocks that are kept: those in sight and those that were seen last. */
const KEPT_BLOCKS = 24;
/** Blocks that are passed over with one call on the way to a far one. */
const STRIDE_BLOCKS = 5;

export type LoadRows<T> = (ask: {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}) => Promise<ListPage<T>>;

export interface Collected<T> {
  readonly items: readonly T[];
  /** Null at the end of the list. */
  readonly nextCursor: string | null;
}

/** Asks until there are `limit` rows: with a filter an answer may have fewer, or none, although the list goes on. */
export async function collectRows<T>(
  load: LoadRows<T>,
  start: string | undefined,
  limit: number,
  signal: AbortSignal,
): Promise<Collected<T>> {
  const items: T[] = [];
  let cursor: string | undefined = start;
  for (;;) {
    const answer = await load({ cursor, limit: limit - items.length, signal });
    items.push(...answer.items);
    if (answer.nextCursor === null || items.length >= limit) return { items, nextCursor: answer.nextCursor };
    cursor = answer.nextCursor;
  }
}

/**
 * A list that is read by cursors, as blocks of `BLOCK_ROWS` rows. It keeps a bounded number of blocks and the cursors at
 * which blocks begin, so rows that were dropped can be loaded again without reading from the start.
 */
export class RowChain<T> {
  /** How many rows there are; null until the end was seen. */
  end: number | null = null;
  readonly #load: LoadRows<T>;
  readonly #blocks = new Map<number, readonly T[]>();
  readonly #stale = new Set<number>();
  readonly #cursors = new Map<number, string | undefined>([[0, undefined]]);
  #farthest = 0;

  constructor(load: LoadRows<T>) {
    this.#load = load;
  }

  /** Rows that are certainly there. */
  get known(): number {
    return this.end ?? this.#farthest * BLOCK_ROWS;
  }

  row(index: number): T | undefined {
    return this.#blocks.get(Math.floor(index / BLOCK_ROWS))?.[index % BLOCK_ROWS];
  }

  /** The cursor of the block with this number, where it is known. */
  cursorOf(block: number): string | undefined {
    return this.#cursors.get(block);
  }

  /** The first block of those from `first` to `last` that is missing or may be out of date; null when there is none. */
  missing(first: number, last: number): number | null {
    for (let block = first; block <= last; block++) {
      if (this.end !== null && block > 0 && block * BLOCK_ROWS >= this.end) return null;
      if (!this.#blocks.has(block) || this.#stale.has(block)) return block;
    }
    return null;
  }

  /** The last block before `block`, or itself, at which reading can begin. */
  nearest(block: number): number {
    for (let at = Math.min(block, this.#farthest); at > 0; at--) if (this.#cursors.has(at)) return at;
    return 0;
  }

  /** Loads `block`, or comes nearer to it by one call. */
  async approach(block: number, signal: AbortSignal): Promise<void> {
    const from = this.nearest(block);
    const blocks = Math.max(1, Math.min(STRIDE_BLOCKS, block - from));
    const wanted = blocks * BLOCK_ROWS;
    const { items, nextCursor } = await collectRows(this.#load, this.#cursors.get(from), wanted, signal);
    if (nextCursor === null) this.end = from * BLOCK_ROWS + items.length;
    else {
      this.#cursors.set(from + blocks, nextCursor);
      this.#farthest = Math.max(this.#farthest, from + blocks);
      if (this.end !== null && this.end < this.#farthest * BLOCK_ROWS) this.end = null;
    }
    if (from === block) this.#keep(block, items);
  }

  #keep(block: number, items: readonly T[]): void {
    this.#stale.delete(block);
    this.#blocks.delete(block);
    this.#blocks.set(block, items);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT_BLOCKS) return;
      this.#blocks.delete(oldest);
      this.#stale.delete(oldest);
    }
  }

  /** Makes `block` the last one to be dropped. */
  touch(block: number): void {
    const items = this.#blocks.get(block);
    if (items === undefined) return;
    this.#blocks.delete(block);
    this.#blocks.set(block, items);
  }

  /** What is loaded stays until it is loaded again. */
  expire(): void {
    for (const block of this.#blocks.keys()) this.#stale.add(block);
    this.end = null;
  }
}
