import { decodeHTML } from 'entities/decode';
import { LIMITS } from './limits.ts';

const UNEVEN = /\s\s|[^\S ]/;
const RUNS = /\s+/g;
/** White space may be most of a text; characters beyond `limit` times this factor are ignored. */
const SLACK = 8;

/** Trims, turns runs of white space into single spaces and cuts to `limit` characters, never through a surrogate pair. */
export function collapse(text: string, limit: number): string {
  const part = text.length > limit * SLACK ? text.slice(0, limit * SLACK) : text;
  const even = UNEVEN.test(part) ? part.replace(RUNS, ' ').trim() : part.trim();
  return cut(even, limit);
}

export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
}

export function decodeEntities(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text;
}

/** The words of a space-separated attribute. */
export function words(list: string | null): string[] {
  return list === null
    ? []
    : cut(list, LIMITS.wordsChars)
        .split(/\s+/)
        .filter((word) => word.length > 0);
}

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
