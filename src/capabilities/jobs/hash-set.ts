import type { ContentHash } from '../../core/model/ids.ts';

/** 52 bits of a hash: a whole number that a double holds. Two blobs among ten million share them by chance of 1 in 90. */
const PREFIX_DIGITS = 13;
export const PREFIX_END = 16 ** PREFIX_DIGITS;
const EMPTY = -1;
const FIRST_SLOTS = 1_024;

export const prefixOf = (hash: ContentHash): number => Number.parseInt(hash.slice(0, PREFIX_DIGITS), 16);

/**
 * The content hashes of a range, by their first 52 bits, in 16 bytes each. It takes in a number of them at most: when
 * there are more, the range is halved and the upper half forgotten, for another pass. That a hash is told to be there
 * which only shares its beginning with one that is does no harm: a blob is then kept for nothing.
 */
export class HashSet {
  readonly #most: number;
  readonly #from: number;
  #end: number;
  #size = 0;
  #slots = new Float64Array(FIRST_SLOTS).fill(EMPTY);

  constructor(from: number, most: number) {
    this.#from = from;
    this.#end = PREFIX_END;
    this.#most = most;
  }

  /** The first prefix above the range that this set speaks for. */
  get end(): number {
    return this.#end;
  }

  isInRange(hash: ContentHash): boolean {
    const prefix = prefixOf(hash);
    return prefix >= this.#from && prefix < this.#end;
  }

  add(hash: ContentHash): void {
    const prefix = prefixOf(hash);
    if (prefix < this.#from || prefix >= this.#end) return;
    if (!this.#insert(prefix)) return;
    if (this.#size > this.#most) this.#narrow();
    else if (this.#size * 2 > this.#slots.length) this.#rebuild(this.#slots.length * 2);
  }

  has(hash: ContentHash): boolean {
    const prefix = prefixOf(hash);
    const slots = this.#slots;
    for (let at = prefix % slots.length; slots[at] !== EMPTY; at = (at + 1) % slots.length) {
      if (slots[at] === prefix) return true;
    }
    return false;
  }

  /** False when it is there already. */
  #insert(prefix: number): boolean {
    const slots = this.#slots;
    let at = prefix % slots.length;
    for (; slots[at] !== EMPTY; at = (at + 1) % slots.length) if (slots[at] === prefix) return false;
    slots[at] = prefix;
    this.#size += 1;
    return true;
  }

  #narrow(): void {
    while (this.#size > this.#most && this.#end - this.#from > 1) {
      this.#end = this.#from + Math.floor((this.#end - this.#from) / 2);
      this.#rebuild(this.#slots.length);
    }
  }

  #rebuild(length: number): void {
    const kept = this.#slots;
    this.#slots = new Float64Array(length).fill(EMPTY);
    this.#size = 0;
    for (const prefix of kept) if (prefix !== EMPTY && prefix < this.#end) this.#insert(prefix);
  }
}
