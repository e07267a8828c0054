import { TAG } from '../../html/names.ts';
import { BLOCK_FEATURES, LEVELS, NEIGHBOURS } from './block-feature-names.ts';
import type { TokenScores } from './block-tokens.ts';
import { type Block, bodyOf, headingLevel, squeeze, tagKind } from './blocks.ts';
import { type CommentSections, commentSections } from './comment-sections.ts';
import { ELEMENT_FLAG, ELEMENT_FLAG_NAMES } from './element-flags.ts';
import { type ContentEvidence, isProse } from './evidence.ts';
import { HINT_NAMES, TOPIC_NAMES } from './word-lists.ts';

/** How far up names and flags count as near. */
const NEAR = 2;
const MIDDLE = 5;
const CURRENCY = /[$€£¥₹₽₩₺₪฿]|\b(?:USD|EUR|GBP|CHF|kr|zł)\b/;
const YEAR = /\b(?:19|20)\d\d\b/;
const MENU_SYMBOLS = /[|»›•·→©®™▾▼✓★☆]/;
const LAST_STOP = /[.!?:;…。！？"”)]$/;
const FIRST_CAPITAL = /^[\p{Lu}"“'‘(\d]/u;

/** One row of features per block. `types`: probability of each page type; `tokens`: scores of words and names. */
export function blockFeatures(
  evidence: ContentEvidence,
  types: ArrayLike<number>,
  tokens: TokenScores,
): Float32Array {
  return new FeatureWriter(evidence).write(types, tokens);
}

class FeatureWriter {
  readonly #e: ContentEvidence;
  readonly #rows: Float32Array;
  #at = 0;
  readonly #repeats = new Map<string, number>();
  readonly #wordsBefore: Float64Array;
  readonly #linkWordsBefore: Float64Array;
  readonly #smallBefore: Float64Array;
  readonly #proseBefore: Float64Array;
  readonly #nextProse: Int32Array;
  readonly #h1: number;
  readonly #main: number;
  readonly #article: number;
  readonly #comments: CommentSections;
  readonly #title: string;
  readonly #description: string;
  readonly #body: string;

  constructor(evidence: ContentEvidence) {
    this.#e = evidence;
    const { blocks, signals } = evidence;
    const count = blocks.length;
    this.#rows = new Float32Array(count * BLOCK_FEATURES);
    this.#wordsBefore = new Float64Array(count + 1);
    this.#linkWordsBefore = new Float64Array(count + 1);
    this.#smallBefore = new Float64Array(count + 1);
    this.#proseBefore = new Float64Array(count + 1);
    this.#nextProse = new Int32Array(count + 1).fill(count + 50);
    for (let i = 0; i < count; i++) {
      const block = blocks[i] as Block;
      this.#repeats.set(block.text, (this.#repeats.get(block.text) ?? 0) + 1);
      this.#wordsBefore[i + 1] = (this.#wordsBefore[i] as number) + block.words;
      this.#linkWordsBefore[i + 1] = (this.#linkWordsBefore[i] as number) + block.linkWords;
      this.#smallBefore[i + 1] = (this.#smallBefore[i] as number) + block.smallWords;
      this.#proseBefore[i + 1] = (this.#proseBefore[i] as number) + (isProse(block) ? block.words : 0);
    }
    for (let i = count - 1; i >= 0; i--) {
      this.#nextProse[i] = isProse(blocks[i] as Block) ? i : (this.#nextProse[i + 1] as number);
    }
    this.#title = (signals.meta.get('og:title') ?? signals.title ?? '').toLowerCase();
    this.#description =
      `${signals.meta.get('description') ?? ''} ${signals.meta.get('og:description') ?? ''}`.toLowerCase();
    this.#body = bodyOf(signals);
    this.#h1 = this.#findH1();
    this.#main = this.#largest(ELEMENT_FLAG.main);
    this.#article = this.#largest(ELEMENT_FLAG.article);
    this.#comments = commentSections(evidence);
  }

  write(types: ArrayLike<number>, tokens: TokenScores): Float32Array {
    const { blocks, tree } = this.#e;
    const page = Float32Array.from([...this.#whole(), ...Array.from(types)]);
    let heading = -1;
    let lastProse = -50;
    for (let i = 0; i < blocks.length; i++) {
      const block = blocks[i] as Block;
      this.#at = i * BLOCK_FEATURES;
      this.#own(block);
      for (const count of block.topics) this.#put(count / Math.max(1, block.looked));
      const above = heading < 0 ? null : (blocks[heading] as Block);
      for (let topic = 0; topic < TOPIC_NAMES.length; topic++) {
        this.#put(above === null ? 0 : (above.topics[topic] as number) / Math.max(1, above.looked));
      }
      const level = headingLevel(tree, block);
      if (level > 0) heading = i;
      this.#place(i, heading, lastProse);
      if (isProse(block)) lastProse = i;
      this.#neighbours(i);
      this.#levels(block);
      this.#units(block);
      this.#meets(block);
      this.#names(block);
      this.#put(tokens.text[i] as number);
      this.#put(tokens.names[i] as number);
      this.#rows.set(page, this.#at);
    }
    return this.#rows;
  }

  #whole(): number[] {
    const { blocks, shape } = this.#e;
    const words = Math.max(1, shape.words[0] as number);
    let unitWords = 0;
    for (const block of blocks)
      if ((shape.innerUnit[block.container] as number) !== 0) unitWords += block.words;
    return [
      Math.log1p(words),
      Math.log1p(blocks.length),
      (shape.linkWords[0] as number) / words,
      (shape.proseWords[0] as number) / words,
      (shape.words[shape.holder] as number) / words,
      unitWords / words,
    ];
  }

  #put(value: number): void {
    this.#rows[this.#at++] = value;
  }

  #own(block: Block): void {
    const { tree } = this.#e;
    const { words, text } = block;
    const some = Math.max(1, words);
    const signs = Math.max(1, text.length);
    const lower = text.length < 300 ? text.toLowerCase() : '';
    this.#put(Math.log1p(words));
    this.#put(Math.min(1, block.linkWords / some));
    this.#put(text.length / some);
    this.#put(block.smallWords / Math.max(1, block.looked));
    this.#put(block.commas / some);
    this.#put(block.stops / some);
    this.#put(LAST_STOP.test(text) ? 1 : 0);
    this.#put(FIRST_CAPITAL.test(text) ? 1 : 0);
    this.#put(block.capitals / Math.max(1, block.letters));
    this.#put(block.digits / signs);
    this.#put(block.links);
    this.#put(block.lineBreaks);
    const start = text.length > 300 ? text.slice(0, 300) : text;
    this.#put(CURRENCY.test(start) ? 1 : 0);
    this.#put(YEAR.test(start) ? 1 : 0);
    this.#put(MENU_SYMBOLS.test(start) ? 1 : 0);
    this.#put(Math.min(8, this.#repeats.get(text) ?? 1));
    this.#put(
      lower.length > 5 && (this.#title.includes(lower) || lower.includes(this.#title)) && this.#title !== ''
        ? 1
        : 0,
    );
    this.#put(text.length > 25 && this.#description.includes(text.slice(0, 100).toLowerCase()) ? 1 : 0);
    this.#put(
      this.#body === '' ? 0 : text.length > 20 && this.#body.includes(squeeze(text.slice(0, 80))) ? 2 : 1,
    );
    this.#put(tagKind(tree, block));
    this.#put(headingLevel(tree, block));
  }

  #place(i: number, heading: number, lastProse: number): void {
    const { blocks, tree, shape } = this.#e;
    const block = blocks[i] as Block;
    const count = blocks.length;
    const allWords = Math.max(1, this.#wordsBefore[count] as number);
    const allProse = Math.max(1, this.#proseBefore[count] as number);
    this.#put(i / count);
    this.#put((this.#wordsBefore[i] as number) / allWords);
    this.#put(Math.log1p(this.#wordsBefore[i] as number));
    this.#put(this.#h1 < 0 ? -1 : i < this.#h1 ? 0 : Math.log1p(i - this.#h1) + 1);
    this.#put(heading < 0 ? 99 : Math.log1p(i - heading));
    this.#put(heading < 0 ? 0 : headingLevel(tree, blocks[heading] as Block));
    this.#put(shape.depths[block.container] as number);
    this.#put((this.#proseBefore[i] as number) / allProse);
    this.#put(1 - (this.#proseBefore[i + 1] as number) / allProse);
    this.#put(Math.min(50, i - lastProse));
    this.#put(Math.min(50, (this.#nextProse[i + 1] as number) - i));
  }

  #neighbours(i: number): void {
    const { blocks, tree } = this.#e;
    for (const offset of NEIGHBOURS) {
      const block = blocks[i + offset];
      this.#put(block === undefined ? -1 : Math.log1p(block.words));
      this.#put(block === undefined ? -1 : Math.min(1, block.linkWords / Math.max(1, block.words)));
      this.#put(block === undefined ? -1 : block.smallWords / Math.max(1, block.looked));
      this.#put(block === undefined ? -1 : LAST_STOP.test(block.text) ? 1 : 0);
      this.#put(block === undefined ? -1 : tagKind(tree, block));
    }
    for (const reach of [3, 10]) {
      const from = Math.max(0, i - reach);
      const to = Math.min(blocks.length, i + reach + 1);
      const words = (this.#wordsBefore[to] as number) - (this.#wordsBefore[from] as number);
      this.#put(words / (to - from));
      this.#put(
        ((this.#linkWordsBefore[to] as number) - (this.#linkWordsBefore[from] as number)) /
          Math.max(1, words),
      );
      if (reach === 3)
        this.#put(
          ((this.#smallBefore[to] as number) - (this.#smallBefore[from] as number)) / Math.max(1, words),
        );
    }
  }

  /** Features of enclosing elements, each with at least twice the words of the one before. */
  #levels(block: Block): void {
    const { tree, shape } = this.#e;
    let node = block.container;
    for (let level = 0; level < LEVELS.length; level++) {
      this.#level(node);
      const words = shape.words[node] as number;
      const wanted = Math.max(words * 2, words + 20);
      while (node > 0 && (shape.words[node] as number) < wanted) node = tree.parents[node] as number;
    }
  }

  #level(node: number): void {
    const { tree, shape } = this.#e;
    const words = shape.words[node] as number;
    this.#put(Math.log1p(words));
    this.#put((shape.linkWords[node] as number) / Math.max(1, words));
    this.#put((shape.proseWords[node] as number) / Math.max(1, words));
    this.#put(words / Math.max(1, shape.words[0] as number));
    this.#put(Math.log1p(shape.blocks[node] as number));
    this.#put(node / tree.count);
    this.#put(Math.log1p(shape.alike[node] as number));
  }

  #units(block: Block): void {
    const { tree, shape } = this.#e;
    const inner = shape.innerUnit[block.container] as number;
    const outer = shape.outerUnit[block.container] as number;
    for (const unit of [inner, outer]) {
      const words = shape.words[unit] as number;
      this.#put(unit === 0 ? 0 : Math.log1p(shape.alike[unit] as number));
      this.#put(unit === 0 ? -1 : Math.log1p(words));
      this.#put(unit === 0 ? -1 : (shape.linkWords[unit] as number) / Math.max(1, words));
      const group = shape.words[tree.parents[unit] as number] as number;
      this.#put(unit === 0 ? 0 : group / Math.max(1, shape.words[0] as number));
    }
    this.#put(inner === 0 ? -1 : inner === outer ? 1 : 0);
  }

  #meets(block: Block): void {
    const { shape } = this.#e;
    const at = block.container;
    const depth = shape.depths[at] as number;
    for (const [target, meets] of [
      [shape.candidate, shape.candidateMeet],
      [shape.holder, shape.holderMeet],
    ] as const) {
      const meet = meets[at] as number;
      const up = (shape.depths[target] as number) - meet;
      this.#put(up);
      this.#put(depth - meet);
      this.#put(up === 0 ? 0 : block.first < target ? -1 : 1);
    }
    const all = Math.max(1, shape.words[0] as number);
    this.#put((shape.words[shape.candidate] as number) / all);
    this.#put(this.#internalsOf(at, this.#main));
    this.#put(this.#internalsOf(at, this.#article));
    this.#put(this.#main <= 0 ? 0 : (shape.words[this.#main] as number) / all);
    this.#put(this.#article <= 0 ? 0 : (shape.words[this.#article] as number) / all);
    const comments = this.#comments.rootOf[at] as number;
    this.#put(comments === 0 ? -1 : Math.log1p(this.#comments.leads.get(comments) ?? 0));
    this.#put(comments === 0 ? -1 : (shape.words[comments] as number) / all);
    this.#put(
      comments === 0
        ? -1
        : (shape.linkWords[comments] as number) / Math.max(1, shape.words[comments] as number),
    );
  }

  /** -1 without such an element; 0 for a node before it, 2 inside, 1 after. */
  #internalsOf(node: number, element: number): number {
    if (element <= 0) return -1;
    if (node < element) return 0;
    return node < (this.#e.tree.ends[element] as number) ? 2 : 1;
  }

  /** 3 for a name or flag close by, 2 and 1 for further up, 0 for none. */
  #names(block: Block): void {
    const { tree, shape, elements } = this.#e;
    let flags = 0;
    let hints = 0;
    let nearFlags = 0;
    let nearHints = 0;
    let node = block.container;
    for (let up = 0; up < MIDDLE && node > 0 && tree.tags[node] !== TAG.body; up++) {
      flags |= elements.flags[node] as number;
      hints |= elements.hints[node] as number;
      if (up < NEAR) {
        nearFlags = flags;
        nearHints = hints;
      }
      node = tree.parents[node] as number;
    }
    // Inline elements that hold all of the block belong to it: a link, a span with a class.
    for (
      let at = tree.parents[block.first] as number;
      at > block.container;
      at = tree.parents[at] as number
    ) {
      if ((tree.ends[at] as number) <= block.last) continue;
      nearFlags |= elements.flags[at] as number;
      nearHints |= elements.hints[at] as number;
    }
    const allFlags = shape.flagsAround[block.container] as number;
    const allHints = shape.hintsAround[block.container] as number;
    for (let bit = 0; bit < ELEMENT_FLAG_NAMES.length; bit++)
      this.#put(nearness(1 << bit, nearFlags, flags, allFlags));
    for (let bit = 0; bit < HINT_NAMES.length; bit++)
      this.#put(nearness(1 << bit, nearHints, hints, allHints));
  }

  #findH1(): number {
    const { blocks, tree } = this.#e;
    const level1 = blocks.findIndex((block) => headingLevel(tree, block) === 1 && block.words > 1);
    if (level1 >= 0) return level1;
    return blocks.findIndex(
      (block) =>
        headingLevel(tree, block) > 0 && block.words > 1 && this.#title.includes(block.text.toLowerCase()),
    );
  }

  #largest(flag: number): number {
    const { elements, shape, tree } = this.#e;
    let best = 0;
    for (let node = 1; node < tree.count; node++) {
      if (((elements.flags[node] as number) & flag) === 0) continue;
      if (best === 0 || (shape.words[node] as number) > (shape.words[best] as number)) best = node;
    }
    return best;
  }
}

function nearness(bit: number, near: number, middle: number, all: number): number {
  if ((near & bit) !== 0) return 3;
  if ((middle & bit) !== 0) return 2;
  return (all & bit) !== 0 ? 1 : 0;
}
