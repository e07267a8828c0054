import { ATTR } from './attribute.ts';
import type { BaseUrl } from './base-url.ts';
import { ItemTree } from './item-tree.ts';
import { LIMITS } from './limits.ts';
import type { HtmlScanner } from './scanner.ts';
import { TAG } from './tag.ts';
import type { TextCapture } from './text-capture.ts';
import { cut, words } from './white-space.ts';

const SRC_TAGS = new Set([
  TAG.img,
  TAG.image,
  TAG.iframe,
  TAG.source,
  TAG.video,
  TAG.audio,
  TAG.embed,
  TAG.track,
]);
const HREF_TAGS = new Set([TAG.a, TAG.area, TAG.link]);
const VALUE_TAGS = new Set([TAG.data, TAG.meter]);

/** Reads microdata and RDFa Lite off start tags. The readers answer whether they must hear of the element's end. */
export class StructuredData {
  readonly microdata = new ItemTree();
  readonly rdfa = new ItemTree();
  readonly #vocabs: { readonly depth: number; readonly vocab: string }[] = [];
  readonly #scanner: HtmlScanner;

  constructor(scanner: HtmlScanner) {
    this.#scanner = scanner;
  }

  get isTruncated(): boolean {
    return this.microdata.isTruncated || this.rdfa.isTruncated;
  }

  readMicrodata(tag: number, depth: number, isVoid: boolean, capture: TextCapture, base: BaseUrl): boolean {
    const scanner = this.#scanner;
    const tree = this.microdata;
    const names = words(scanner.attribute(ATTR.itemprop));
    if (scanner.attribute(ATTR.itemscope) !== null) {
      const id = scanner.attribute(ATTR.itemid);
      const type = words(scanner.attribute(ATTR.itemtype));
      const isOpen = tree.open(depth, type, id === null ? null : absolute(base, id), names);
      if (isOpen && isVoid) tree.end(depth, capture);
      return isOpen && !isVoid;
    }
    if (names.length === 0 || !tree.hasItem) return false;
    const value = this.#attributeValue(tag, base);
    if (value !== null || isVoid) {
      tree.addValue(names, value ?? '');
      return false;
    }
    return tree.awaitText(depth, names, capture);
  }

  readRdfa(tag: number, depth: number, isVoid: boolean, capture: TextCapture, base: BaseUrl): boolean {
    const scanner = this.#scanner;
    const tree = this.rdfa;
    const vocab = scanner.attribute(ATTR.vocab);
    if (vocab !== null && !isVoid) this.#vocabs.push({ depth, vocab: vocab.trim() });
    const names = words(scanner.attribute(ATTR.property));
    const types = words(scanner.attribute(ATTR.typeof));
    let isMarked = vocab !== null && !isVoid;
    if (types.length > 0) {
      const prefix = this.#vocabs.at(-1)?.vocab ?? '';
      const id = scanner.attribute(ATTR.resource) ?? scanner.attribute(ATTR.about);
      const type = types.map((name) => (name.includes(':') ? name : prefix + name));
      const isOpen = tree.open(depth, type, id === null ? null : absolute(base, id), names);
      if (isOpen && isVoid) tree.end(depth, capture);
      isMarked ||= isOpen && !isVoid;
    } else if (names.length > 0 && tree.hasItem) {
      const resource = scanner.attribute(ATTR.resource);
      const content = scanner.attribute(ATTR.content);
      const linked = resource === null ? this.#attributeValue(tag, base) : absolute(base, resource);
      const value = content === null ? linked : cut(content, LIMITS.itemValueChars);
      if (value !== null || isVoid) tree.addValue(names, value ?? '');
      else isMarked = tree.awaitText(depth, names, capture) || isMarked;
    }
    return isMarked;
  }

  /** An element that somebody wanted to hear of has ended. */
  end(depth: number, capture: TextCapture): void {
    for (
      let last = this.#vocabs.at(-1);
      last !== undefined && last.depth >= depth;
      last = this.#vocabs.at(-1)
    ) {
      this.#vocabs.pop();
    }
    this.microdata.end(depth, capture);
    this.rdfa.end(depth, capture);
  }

  /** The value that an element of this kind carries in an attribute; null where its text is the value. */
  #attributeValue(tag: number, base: BaseUrl): string | null {
    const scanner = this.#scanner;
    if (tag === TAG.meta) return cut(scanner.attribute(ATTR.content) ?? '', LIMITS.itemValueChars);
    if (SRC_TAGS.has(tag)) return absolute(base, scanner.attribute(ATTR.src) ?? '');
    if (HREF_TAGS.has(tag)) return absolute(base, scanner.attribute(ATTR.href) ?? '');
    if (tag === TAG.object) return absolute(base, scanner.attribute(ATTR.data) ?? '');
    if (VALUE_TAGS.has(tag)) return cut(scanner.attribute(ATTR.value) ?? '', LIMITS.itemValueChars);
    return tag === TAG.time ? scanner.attribute(ATTR.datetime) : null;
  }
}

/** References that are no web addresses (`mailto:`, `#id`, `urn:` …) stay as they are written. */
function absolute(base: BaseUrl, reference: string): string {
  return reference === '' ? '' : (base.resolve(reference) ?? cut(reference.trim(), LIMITS.urlChars));
}
