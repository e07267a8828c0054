/** What a heap orders: by rank, then by arrival. The heap keeps `slot` up to date. */
export interface Ranked {
  rank: number;
  readonly arrival: number;
  slot: number;
}

/** A binary heap whose elements can move forward while they wait. */
export class RankHeap<T extends Ranked> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (first !== undefined && last !== undefined && first !== last) this.#sink(last, 0);
    return first;
  }

  /** Gives an element a better rank. */
  advance(item: T, rank: number): void {
    item.rank = rank;
    this.#rise(item, item.slot);
  }

  /** An element that nothing stands behind: a cheap stand-in for the worst one. */
  get leaf(): T | undefined {
    return this.#items.at(-1);
  }

  dropLeaf(): void {
    this.#items.pop();
  }

  clear(): void {
    this.#items.length = 0;
  }

  #rise(item: T, from: number): void {
    let slot = from;
    while (slot > 0) {
      const above = (slot - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || !isBefore(item, parent)) break;
      this.#place(parent, slot);
      slot = above;
    }
    this.#place(item, slot);
  }

  #sink(item: T, from: number): void {
    let slot = from;
    for (;;) {
      let below = 2 * slot + 1;
      let child = this.#items[below];
      if (child === undefined) break;
      const other = this.#items[below + 1];
      if (other !== undefined && isBefore(other, child)) {
        below += 1;
        child = other;
      }
      if (!isBefore(child, item)) break;
      this.#place(child, slot);
      slot = below;
    }
    this.#place(item, slot);
  }

  #place(item: T, slot: number): void {
    this.#items[slot] = item;
    item.slot = slot;
  }
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}
