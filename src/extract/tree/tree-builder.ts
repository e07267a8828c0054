import { BLOCK, BORDER, foldName, TAG, TAG_FLAGS, VOID } from '../html/names.ts';
import { HtmlScanner, type ScanHandler } from '../html/scanner.ts';
import {
  ENDS_PARAGRAPH,
  HEAD_CONTENT,
  IMPLIED,
  type Implied,
  PARAGRAPH_END,
  SCOPE,
  SPECIAL,
  TABLE_PART,
} from './nesting.ts';
import { ATTRIBUTE_SLOTS, PageTree, RAW_TEXT, TEXT, TREE_LIMITS, type TreeColumns } from './page-tree.ts';

const { depth: MOST_DEPTH, nodes: MOST_NODES, attributes: MOST_ATTRIBUTES } = TREE_LIMITS;
const SVG = TAG.svg;
const MATH = TAG.math;
const BUCKETS = 256;
/** Raw elements whose entities are decoded. */
const TITLE = TAG.title;
const TEXTAREA = TAG.textarea;
const CHARS_PER_NODE = 24;
const CHARS_PER_ATTRIBUTE = 40;

// One page at a time per thread: the buffers are reused for the next page.
const scanner = new HtmlScanner();

/** Builds the tree of a page: linear in its size, bounded by `TREE_LIMITS`; it never throws. */
export function buildTree(html: string): PageTree {
  const builder = new TreeBuilder(scanner, html);
  scanner.scan(html, builder);
  return builder.finish();
}

class TreeBuilder implements ScanHandler {
  #isForeign = false;
  #openNoscripts = 0;
  readonly #scanner: HtmlScanner;
  readonly #html: string;
  #count = 1;
  #tags: Uint8Array;
  #hashes: Int32Array;
  #parents: Int32Array;
  #ends: Int32Array;
  #starts: Int32Array;
  #stops: Int32Array;
  #firstAttributes: Int32Array;
  #attributes: Int32Array;
  #attributeEnd = 0;
  readonly #stack = new Int32Array(MOST_DEPTH + 1);
  /** Place of the innermost open element. */
  #top = 0;
  /** How many open elements share a bucket of hashes: tells without a search that none can match. */
  readonly #open = new Uint16Array(BUCKETS);
  #openParagraphs = 0;
  #openPreformatted = 0;
  #beyond = 0;
  #hasBody = false;
  #hasHtml = false;
  /** True right after the start or end of a block, where white space separates no words. */
  #isAtEdge = true;
  #isTruncated = false;

  constructor(owner: HtmlScanner, html: string) {
    this.#scanner = owner;
    this.#html = html;
    const capacity = Math.min(MOST_NODES, 64 + Math.ceil(html.length / CHARS_PER_NODE)) + 1;
    this.#tags = new Uint8Array(capacity);
    this.#hashes = new Int32Array(capacity);
    this.#parents = new Int32Array(capacity);
    this.#ends = new Int32Array(capacity);
    this.#starts = new Int32Array(capacity);
    this.#stops = new Int32Array(capacity);
    this.#firstAttributes = new Int32Array(capacity + 1);
    this.#attributes = new Int32Array(ATTRIBUTE_SLOTS * (64 + Math.ceil(html.length / CHARS_PER_ATTRIBUTE)));
    this.#parents[0] = -1;
  }

  /**
   * Also true in a `noscript`: browsers with scripts search it only for its end tag, so a frame or a style that is never
   * closed must not swallow the page.
   */
  get isForeign(): boolean {
    return this.#isForeign || this.#openNoscripts > 0;
  }

  text(start: number, end: number): void {
    if (this.#isAtEdge && this.#openPreformatted === 0 && isBlank(this.#scanner.codes, start, end)) return;
    this.#isAtEdge = false;
    this.#addText(TEXT, start, end);
  }

  rawText(tag: number, start: number, end: number): void {
    this.#addText(tag === TITLE || tag === TEXTAREA ? TEXT : RAW_TEXT, start, end);
    // The scanner reports the end tag after the text, so the raw element is still open here.
  }

  open(tag: number, hash: number, isSelfClosing: boolean): void {
    if (this.#isOnlyAttributes(tag)) return;
    const flags = TAG_FLAGS[tag] as number;
    if (!this.#isForeign && this.#beyond === 0) {
      if (this.#tags[this.#stack[this.#top] as number] === TAG.head && HEAD_CONTENT[tag] === 0) this.#pop();
      if (this.#openParagraphs > 0 && ENDS_PARAGRAPH[tag] === 1) this.#endImplied(PARAGRAPH_END);
      const implied = IMPLIED[tag];
      if (implied !== undefined) this.#endImplied(implied);
    }
    if ((flags & BLOCK) !== 0) this.#isAtEdge = true;
    else if (tag === TAG.img) this.#isAtEdge = false;
    const isVoid = (flags & VOID) !== 0 || (isSelfClosing && this.#isForeign);
    const isDeep = this.#top >= MOST_DEPTH;
    if (isDeep && !isVoid) {
      this.#beyond++;
      this.#isTruncated = true;
      return;
    }
    const node = this.#add(tag, this.#scanner.nameStart, this.#scanner.nameEnd);
    if (node < 0) {
      if (!isVoid) this.#beyond++;
      return;
    }
    this.#hashes[node] = hash;
    this.#addAttributes();
    this.#firstAttributes[node + 1] = this.#attributeEnd;
    if (!isVoid) this.#push(node, tag, hash);
  }

  close(tag: number, hash: number): void {
    if (((TAG_FLAGS[tag] as number) & BLOCK) !== 0) this.#isAtEdge = true;
    // Browsers render content after the end tag of the body inside the body.
    if (tag === TAG.body || tag === TAG.html) return;
    if (this.#beyond > 0) {
      this.#beyond--;
      return;
    }
    if (this.#open[hash & (BUCKETS - 1)] === 0) return;
    const isSpecial = SPECIAL[tag] === 1;
    const isTablePart = TABLE_PART[tag] === 1;
    for (let place = this.#top; place > 0; place--) {
      const node = this.#stack[place] as number;
      if (this.#hashes[node] === hash) {
        while (this.#top >= place) this.#pop();
        return;
      }
      const open = this.#tags[node] as number;
      if (tag === TAG.noscript) continue;
      if (isTablePart ? open === TAG.table : isSpecial ? SCOPE[open] === 1 : SPECIAL[open] === 1) return;
    }
  }

  finish(): PageTree {
    while (this.#top > 0) this.#pop();
    this.#ends[0] = this.#count;
    const columns: TreeColumns = {
      tags: this.#tags,
      hashes: this.#hashes,
      parents: this.#parents,
      ends: this.#ends,
      starts: this.#starts,
      stops: this.#stops,
      firstAttributes: this.#firstAttributes,
      attributes: this.#attributes,
    };
    return new PageTree(this.#html, this.#count, columns, this.#isTruncated || this.#scanner.isTruncated);
  }

  /** A second `html` or `body` is not an element; browsers only take attributes from it. */
  #isOnlyAttributes(tag: number): boolean {
    if (tag === TAG.body) {
      if (this.#hasBody) return true;
      this.#hasBody = true;
      // Elements that a broken head left open end here.
      while (this.#top > 0 && this.#tags[this.#stack[this.#top] as number] !== TAG.html) this.#pop();
      this.#beyond = 0;
    } else if (tag === TAG.html) {
      if (this.#hasHtml || this.#top > 0) return true;
      this.#hasHtml = true;
    }
    return false;
  }

  #add(tag: number, start: number, stop: number): number {
    const node = this.#count;
    if (node >= MOST_NODES) {
      this.#isTruncated = true;
      return -1;
    }
    if (node + 1 >= this.#tags.length) this.#grow();
    this.#count = node + 1;
    this.#tags[node] = tag;
    this.#parents[node] = this.#stack[this.#top] as number;
    this.#ends[node] = node + 1;
    this.#starts[node] = start;
    this.#stops[node] = stop;
    this.#firstAttributes[node] = this.#attributeEnd;
    this.#firstAttributes[node + 1] = this.#attributeEnd;
    return node;
  }

  #addText(tag: number, start: number, end: number): void {
    const last = this.#count - 1;
    // The scanner may hand a run of text over in pieces.
    if (
      this.#tags[last] === tag &&
      this.#stops[last] === start &&
      this.#parents[last] === this.#stack[this.#top]
    ) {
      this.#stops[last] = end;
      return;
    }
    this.#add(tag, start, end);
  }

  #addAttributes(): void {
    const { ranges, attributeCount, codes } = this.#scanner;
    if (attributeCount === 0) return;
    const needed = this.#attributeEnd + attributeCount * ATTRIBUTE_SLOTS;
    if (needed > MOST_ATTRIBUTES * ATTRIBUTE_SLOTS) {
      this.#isTruncated = true;
      return;
    }
    if (needed > this.#attributes.length) {
      const grown = new Int32Array(Math.max(needed, this.#attributes.length * 2));
      grown.set(this.#attributes);
      this.#attributes = grown;
    }
    const attributes = this.#attributes;
    let at = this.#attributeEnd;
    for (let from = 0; from < attributeCount * 4; from += 4) {
      const nameStart = ranges[from] as number;
      const nameEnd = ranges[from + 1] as number;
      let hash = 0;
      for (let i = nameStart; i < nameEnd; i++) hash = foldName(hash, codes[i] as number);
      attributes[at] = hash;
      attributes[at + 1] = nameStart;
      attributes[at + 2] = nameEnd;
      attributes[at + 3] = ranges[from + 2] as number;
      attributes[at + 4] = ranges[from + 3] as number;
      at += ATTRIBUTE_SLOTS;
    }
    this.#attributeEnd = at;
  }

  #push(node: number, tag: number, hash: number): void {
    this.#stack[++this.#top] = node;
    const bucket = hash & (BUCKETS - 1);
    this.#open[bucket] = (this.#open[bucket] as number) + 1;
    if (tag === TAG.p) this.#openParagraphs++;
    else if (tag === TAG.pre) this.#openPreformatted++;
    else if (tag === TAG.noscript) this.#openNoscripts++;
    if (((TAG_FLAGS[tag] as number) & BORDER) !== 0) {
      if (tag === SVG || tag === MATH) this.#isForeign = true;
      else if (this.#isForeign) this.#isForeign = false;
    }
  }

  #pop(): void {
    const node = this.#stack[this.#top--] as number;
    const tag = this.#tags[node] as number;
    this.#ends[node] = this.#count;
    const bucket = (this.#hashes[node] as number) & (BUCKETS - 1);
    this.#open[bucket] = (this.#open[bucket] as number) - 1;
    if (tag === TAG.p) this.#openParagraphs--;
    else if (tag === TAG.pre) this.#openPreformatted--;
    else if (tag === TAG.noscript) this.#openNoscripts--;
    if (((TAG_FLAGS[tag] as number) & BORDER) !== 0) this.#recheckBorder();
  }

  #recheckBorder(): void {
    this.#isForeign = false;
    for (let place = this.#top; place > 0; place--) {
      const tag = this.#tags[this.#stack[place] as number] as number;
      if (((TAG_FLAGS[tag] as number) & BORDER) === 0) continue;
      this.#isForeign = tag === SVG || tag === MATH;
      return;
    }
  }

  #endImplied({ ends, stops, isInside }: Implied): void {
    for (let place = this.#top; place > 0; place--) {
      const tag = this.#tags[this.#stack[place] as number] as number;
      if (ends[tag] === 1) {
        const last = isInside ? place : place - 1;
        while (this.#top > last) this.#pop();
        return;
      }
      if (stops[tag] === 1) return;
    }
  }

  #grow(): void {
    const capacity = Math.min(MOST_NODES + 1, this.#tags.length * 2);
    const bytes = new Uint8Array(capacity);
    bytes.set(this.#tags);
    this.#tags = bytes;
    const wider = (column: Int32Array, length: number): Int32Array => {
      const grown = new Int32Array(length);
      grown.set(column);
      return grown;
    };
    this.#hashes = wider(this.#hashes, capacity);
    this.#parents = wider(this.#parents, capacity);
    this.#ends = wider(this.#ends, capacity);
    this.#starts = wider(this.#starts, capacity);
    this.#stops = wider(this.#stops, capacity);
    this.#firstAttributes = wider(this.#firstAttributes, capacity + 1);
  }
}

function isBlank(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((codes[at] as number) > 32) return false;
  return true;
}

let last: WeakRef<PageTree> | null = null;

/** The tree of a page. Consecutive calls for one page share a tree while it is in memory: trees are immutable. */
export function treeOf(html: string): PageTree {
  const known = last?.deref();
  if (known !== undefined && known.html === html) return known;
  const tree = buildTree(html);
  last = new WeakRef(tree);
  return tree;
}
