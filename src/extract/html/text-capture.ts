import { collapse, decodeEntities } from './white-space.ts';

/** Limit for elements that never end. */
const MOST_CHUNKS = 200_000;

/**
 * Collects pieces of text while the text of an element is wanted (a link, a heading, a property). Elements may nest and
 * overlap: each keeps the index returned by `begin`.
 */
export class TextCapture {
  #chunks: string[] = [];
  #waiting = 0;

  get isOn(): boolean {
    return this.#waiting > 0;
  }

  /** Starts collecting for one more element; returns the index to pass to `since`. */
  begin(): number {
    this.#waiting++;
    return this.#chunks.length;
  }

  add(piece: string): void {
    if (this.#chunks.length < MOST_CHUNKS) this.#chunks.push(piece);
  }

  /** The decoded, collapsed text since `start`. */
  since(start: number, limit: number): string {
    const chunks = this.#chunks;
    const first = chunks[start];
    if (first === undefined) return '';
    let text = decodeEntities(first);
    // Leading white space must not use up the limit, so more text than wanted is decoded.
    for (let i = start + 1; i < chunks.length && text.length <= limit * 4; i++)
      text += decodeEntities(chunks[i] as string);
    return collapse(text, limit);
  }

  /** Ends one `begin`. The pieces are dropped when no element needs them any more. */
  release(): void {
    this.#waiting--;
    if (this.#waiting === 0 && this.#chunks.length > 0) this.#chunks = [];
  }
}
