import type { ListPage } from '../api/client.ts';
import { BLOCK_ROWS, RowChain } from './row-chain.ts';
import type { RowProgress, RowSource } from './row-source.ts';

export interface BlockAsk {
  readonly cursor: string | undefined;
  readonly limit: number;
  /** The list from its end. */
  readonly isReversed: boolean;
  readonly signal: AbortSignal;
}

interface BlockSourceOptions<T> {
  readonly load: (ask: BlockAsk) => Promise<ListPage<T>>;
  /** Whether the list has the same rows in the opposite order when asked from its end. */
  readonly canReverse: boolean;
}

/** Blocks that are loaded before and behind those in sight. */
const MARGIN_ROWS = 60;

const blockOf = (index: number): number => Math.floor(index / BLOCK_ROWS);

/**
 * A list of any length behind a cursor, of which only the rows around those in sight are in memory. Rows near the end are
 * read from the end, where the list can be reversed and its length is known.
 */
export class BlockSource<T> implements RowSource<T> {
  progress: RowProgress | null = null;
  failure: unknown = null;
  readonly #forward: RowChain<T>;
  readonly #backward: RowChain<T> | null;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #total: { readonly count: number; readonly isExact: boolean } | null = null;
  #version = 0;
  #first = 0;
  #last = 0;
  #isLoading = false;

  constructor({ load, canReverse }: BlockSourceOptions<T>) {
    this.#forward = new RowChain((ask) => load({ ...ask, isReversed: false }));
    this.#backward = canReverse ? new RowChain((ask) => load({ ...ask, isReversed: true })) : null;
  }

  get count(): number {
    if (this.#forward.end !== null) return this.#forward.end;
    const known = this.#forward.known;
    if (this.#total === null) return known + BLOCK_ROWS;
    return Math.max(this.#total.count, known);
  }

  get isCounted(): boolean {
    return this.#forward.end !== null || this.#total?.isExact === true;
  }

  /** How many rows there are, as counted by the server. */
  setTotal(count: number, isExact: boolean): void {
    if (this.#total?.count === count && this.#total.isExact === isExact) return;
    this.#total = { count, isExact };
    this.#changed();
  }

  row(index: number): T | undefined {
    return this.#forward.row(index) ?? this.#backward?.row(this.count - 1 - index);
  }

  show(first: number, last: number): void {
    this.#first = first;
    this.#last = last;
    if (this.failure === null) void this.#run();
  }

  retry(): void {
    this.failure = null;
    this.#changed();
    void this.#run();
  }

  /** Loads what is in sight again; the rows that are there stay meanwhile. */
  refresh(): void {
    this.#forward.expire();
    this.#backward?.expire();
    if (this.failure === null) void this.#run();
  }

  /** Where the list can be read from so that the row is among the first 400: a cursor, and the place after it. */
  placeOf(index: number): { readonly cursor: string | undefined; readonly offset: number } | null {
    const before = Math.max(0, blockOf(index) - 1);
    const cursor = this.#forward.cursorOf(before);
    if (before > 0 && cursor === undefined) return null;
    return { cursor, offset: index - before * BLOCK_ROWS };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  version(): number {
    return this.#version;
  }

  close(): void {
    this.#closing.abort();
    this.#listeners.clear();
  }

  #changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }

  /** The chain that reaches the rows in sight with fewer calls, the blocks of it that they need, and the way there. */
  #plan(): { chain: RowChain<T>; block: number; distance: number } | null {
    const first = Math.max(0, this.#first - MARGIN_ROWS);
    const last = Math.min(this.count - 1, this.#last + MARGIN_ROWS);
    const forward = planOf(this.#forward, blockOf(first), blockOf(Math.max(first, last)));
    if (forward === null || this.#backward === null || this.#total?.isExact !== true) return forward;
    const end = this.count - 1;
    const backward = planOf(this.#backward, blockOf(Math.max(0, end - last)), blockOf(end - first));
    if (backward === null) return null;
    return backward.distance < forward.distance ? backward : forward;
  }

  async #run(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    let longest = 0;
    try {
      for (let plan = this.#plan(); plan !== null; plan = this.#plan()) {
        longest = Math.max(longest, plan.distance);
        this.progress = { share: 1 - plan.distance / longest || 0, isFar: plan.distance > 1 };
        this.#changed();
        await plan.chain.approach(plan.block, this.#closing.signal);
        if (plan.distance === 0) longest = 0;
        if (this.#closing.signal.aborted) return;
      }
    } catch (cause) {
      if (this.#closing.signal.aborted) return;
      this.failure = cause;
    } finally {
      this.#isLoading = false;
      this.progress = null;
    }
    this.#changed();
  }
}

function planOf<T>(chain: RowChain<T>, first: number, last: number) {
  const block = chain.missing(first, last);
  for (let each = first; each <= last; each++) chain.touch(each);
  return block === null ? null : { chain, block, distance: block - chain.nearest(block) };
}
