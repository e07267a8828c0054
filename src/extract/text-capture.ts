import { collapse, decodeText } from './white-space.ts';

/** Text this far behind the start of an element that never ends is of no use to anybody. */
const MOST_CHUNKS = 200_000;

/**
 * Keeps the pieces of text that pass while somebody waits for the text of an element (a link, a heading, a property).
 * Elements may nest and overlap: each remembers the place where it began.
 */
export class TextCapture {
  #chunks: string[] = [];
  #waiting = 0;

  get isOn(): boolean {
    return this.#waiting > 0;
  }

  /** Begins to keep; returns the place to ask for later. */
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
    let text = decodeText(first);
    // Leading white space must not use the limit up, so look at more than is wanted.
    for (let i = start + 1; i < chunks.length && text.length <= limit * 4; i++)
      text += decodeText(chunks[i] as string);
    return collapse(text, limit);
  }

  /** One who began no longer waits. */
  release(): void {
    this.#waiting--;
    if (this.#waiting === 0 && this.#chunks.length > 0) this.#chunks = [];
  }
}
