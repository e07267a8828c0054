import { ownString } from '../../lib/own-memory.ts';

/**
 * A set of strings that forgets the entries not used lately. Two generations: when the young one is full it
 * becomes the old one, and entries used in the old one move back.
 * It keeps copies: keys may be parts of pages, which must not be held by them.
 */
export class RecentKeys<Key extends string> {
  readonly #maxPerGeneration: number;
  #young = new Set<Key>();
  #old = new Set<Key>();

  constructor(maxPerGeneration = 10_000) {
    this.#maxPerGeneration = maxPerGeneration;
  }

  add(key: Key): void {
    if (!this.#young.has(key)) this.#keep(ownString(key));
  }

  has(key: Key): boolean {
    if (this.#young.has(key)) return true;
    if (!this.#old.has(key)) return false;
    this.#keep(ownString(key));
    return true;
  }

  #keep(key: Key): void {
    if (this.#young.size >= this.#maxPerGeneration) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(key);
  }
}
