/**
 * A map with a maximum number of entries. A full map evicts the least recently used entry: `get` and `set` count as use,
 * `peek` does not.
 *
 * With `canEvict` entries for which it returns false are kept. A map that is full of such entries grows beyond its
 * maximum until some of them may be evicted.
 */
export class BoundedMap<K, V> {
  readonly #maxEntries: number;
  readonly #canEvict: ((value: V) => boolean) | null;
  /** Least recently used first: a Map iterates in the order of insertion, and each use inserts the entry again. */
  readonly #entries = new Map<K, V>();
  /** The most recently used key: to use it again changes no order, and is by far the most frequent use. */
  #newest: K | undefined;

  constructor(maxEntries: number, canEvict: ((value: V) => boolean) | null = null) {
    this.#maxEntries = maxEntries;
    this.#canEvict = canEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || key === this.#newest) return value;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    return value;
  }

  /** Returns the value and leaves the order of eviction as it is. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Returns the value of the key; a missing one is made and kept. */
  getOrCreate(key: K, create: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const value = create();
    this.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    while (this.#entries.size >= this.#maxEntries && this.#evictOne());
    this.#entries.set(key, value);
    this.#newest = key;
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  #evictOne(): boolean {
    for (const [key, value] of this.#entries) {
      if (this.#canEvict !== null && !this.#canEvict(value)) continue;
      return this.#entries.delete(key);
    }
    return false;
  }
}
