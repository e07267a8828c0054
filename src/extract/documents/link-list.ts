import type { PageLink } from '../../core/model/page.ts';
import { BaseUrl } from '../html/base-url.ts';
import { collapse } from '../html/white-space.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';

const ANCHOR_CHARS = 500;
const URL_IN_TEXT = /https?:\/\/[^\s<>"'`|\\^{}\u3000-\u303f\uff00-\uffef]{3,4000}/gi;
/** A sentence goes on behind a URL; a bracket that the URL did not open is not its own. */
const SENTENCE_END = '.,;:!?*_~';

/** The URLs in a document: absolute, each once, in order. */
export class LinkList {
  readonly #from: string;
  readonly #base: BaseUrl;
  readonly #links = new Map<string, PageLink>();

  constructor(url: string, from: string) {
    this.#from = from;
    this.#base = BaseUrl.parse(url) ?? BaseUrl.NOWHERE;
  }

  get all(): readonly PageLink[] {
    return [...this.#links.values()];
  }

  get isFull(): boolean {
    return this.#links.size >= DOCUMENT_LIMITS.links;
  }

  /** The absolute URL; null when it cannot be fetched. */
  resolve(reference: string | null | undefined): string | null {
    return reference === null || reference === undefined ? null : this.#base.resolve(reference.trim());
  }

  add(reference: string | null | undefined, text = '', rel = ''): string | null {
    const url = this.resolve(reference);
    if (url !== null && !this.isFull && !this.#links.has(url)) {
      this.#links.set(url, { url, text: collapse(text, ANCHOR_CHARS), rel, from: this.#from });
    }
    return url;
  }

  /** Adds every URL in running text. */
  addFrom(text: string): void {
    for (const [found] of text.matchAll(URL_IN_TEXT)) {
      if (this.isFull) return;
      this.add(withoutEnd(found));
    }
  }
}

function withoutEnd(found: string): string {
  const open = { ')': count(found, '('), ']': count(found, '[') };
  const closed = { ')': count(found, ')'), ']': count(found, ']') };
  let end = found.length;
  for (; end > 0; end--) {
    const last = found[end - 1] ?? '';
    if (last === ')' || last === ']') {
      if (closed[last] <= open[last]) break;
      closed[last]--;
    } else if (!SENTENCE_END.includes(last)) break;
  }
  return found.slice(0, end);
}

function count(text: string, sign: string): number {
  let found = 0;
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) found++;
  return found;
}
