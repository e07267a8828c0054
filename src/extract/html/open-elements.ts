import { LIMITS } from './limits.ts';
import { BORDER, IMPLIED_ENDS, TAG, TAG_FLAGS } from './names.ts';

const BUCKETS = 256;
const SVG = TAG.svg;
const MATH = TAG.math;

/** Columns of the open elements, by depth. */
interface Shelf {
  readonly hashes: Int32Array;
  readonly tags: Uint8Array;
  readonly marks: Uint8Array;
  /** How many open elements share a bucket of hashes: tells without a search that none can match. */
  readonly counts: Uint16Array;
}

const newShelf = (depth: number = LIMITS.depth): Shelf => ({
  hashes: new Int32Array(depth),
  tags: new Uint8Array(depth),
  marks: new Uint8Array(depth),
  counts: new Uint16Array(BUCKETS),
});
const NO_SHELF = newShelf(0);

/** Allocating the columns costs as much as reading thirty tags, so pages reuse those of earlier ones. */
const spare: Shelf[] = [];
const MOST_SPARE = 4;

/**
 * The stack of open elements, down to the depth limit; deeper elements are only counted. An element may carry a tag
 * bit set (`mark`); the callback receives it when the element ends.
 */
export class OpenElements {
  depth = 0;
  /** True inside SVG or MathML, and false again inside HTML embedded in them. */
  isForeign = false;
  isTruncated = false;
  #beyond = 0;
  #hashes: Int32Array;
  #tags: Uint8Array;
  #marks: Uint8Array;
  #counts: Uint16Array;
  readonly #ended: (mark: number, depth: number) => void;

  constructor(ended: (mark: number, depth: number) => void) {
    this.#ended = ended;
    const { hashes, tags, marks, counts } = spare.pop() ?? newShelf();
    this.#hashes = hashes;
    this.#tags = tags;
    this.#marks = marks;
    this.#counts = counts;
  }

  push(tag: number, hash: number, mark: number): void {
    const depth = this.depth;
    if (depth === LIMITS.depth) {
      this.#beyond++;
      this.isTruncated = true;
      return;
    }
    this.#hashes[depth] = hash;
    this.#tags[depth] = tag;
    this.#marks[depth] = mark;
    const bucket = hash & (BUCKETS - 1);
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.depth = depth + 1;
    if (((TAG_FLAGS[tag] as number) & BORDER) !== 0) this.#crossBorder(tag);
  }

  /** Ends the elements that the start of `tag` implies the end of. */
  endImplied(tag: number): void {
    const ends = IMPLIED_ENDS[tag] as Uint8Array;
    while (this.depth > 0 && this.#beyond === 0 && ends[this.#tags[this.depth - 1] as number] === 1)
      this.#pop();
  }

  /** Ends the innermost element of that name and all within it; an end tag that matches none is passed over. */
  end(hash: number): void {
    if (this.#beyond > 0) {
      this.#beyond--;
      return;
    }
    if (this.#counts[hash & (BUCKETS - 1)] === 0) return;
    const hashes = this.#hashes;
    for (let index = this.depth - 1; index >= 0; index--) {
      if (hashes[index] === hash) {
        while (this.depth > index) this.#pop();
        return;
      }
    }
  }

  /** Ends all of them; none may be opened afterwards. */
  endAll(): void {
    this.#beyond = 0;
    while (this.depth > 0) this.#pop();
    if (this.#hashes === NO_SHELF.hashes) return;
    // All counts are zero again when no element is open; the other columns are overwritten before they are read.
    if (spare.length < MOST_SPARE) {
      spare.push({ hashes: this.#hashes, tags: this.#tags, marks: this.#marks, counts: this.#counts });
    }
    this.#hashes = NO_SHELF.hashes;
    this.#tags = NO_SHELF.tags;
    this.#marks = NO_SHELF.marks;
    this.#counts = NO_SHELF.counts;
  }

  #pop(): void {
    const depth = --this.depth;
    const bucket = (this.#hashes[depth] as number) & (BUCKETS - 1);
    this.#counts[bucket] = (this.#counts[bucket] as number) - 1;
    const mark = this.#marks[depth] as number;
    if (mark !== 0) this.#ended(mark, depth);
    if (((TAG_FLAGS[this.#tags[depth] as number] as number) & BORDER) !== 0) this.#recheckBorder();
  }

  #crossBorder(tag: number): void {
    if (tag === SVG || tag === MATH) this.isForeign = true;
    else if (this.isForeign) this.isForeign = false;
  }

  #recheckBorder(): void {
    this.isForeign = false;
    for (let index = this.depth - 1; index >= 0; index--) {
      const tag = this.#tags[index] as number;
      if (((TAG_FLAGS[tag] as number) & BORDER) === 0) continue;
      this.isForeign = tag === SVG || tag === MATH;
      return;
    }
  }
}
