/** A map that forgets what was not used for the longest time when it is full. */
export class LruMap<Key, Value> {
  private readonly maxEntries: number;
  private readonly entries = new Map<Key, Value>();

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Looks without counting as use. */
  peek(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.entries.delete(key);
    if (this.entries.size >= this.maxEntries) {
      const oldest = this.entries.keys().next();
      if (oldest.done !== true) this.entries.delete(oldest.value);
    }
    this.entries.set(key, value);
  }

  delete(key: Key): void {
    this.entries.delete(key);
  }
}
