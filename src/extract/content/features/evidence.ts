import { LIMITS } from '../../html/limits.ts';
import { hashName, TAG } from '../../html/names.ts';
import { collapse } from '../../html/page-text.ts';
import { parseJsonLd } from '../../structured/json-ld.ts';
import { type PageTree, RAW_TEXT } from '../../tree/page-tree.ts';
import { type Block, type Blocks, findBlocks } from './blocks.ts';
import { ELEMENT_FLAG, type ElementFlags, flagElements } from './element-flags.ts';

/** All inputs of the features of a page. */
export interface ContentEvidence {
  readonly tree: PageTree;
  readonly url: string;
  readonly blocks: readonly Block[];
  readonly elements: ElementFlags;
  readonly shape: PageShape;
  readonly signals: PageSignals;
}

const NAME = hashName('name');
const PROPERTY = hashName('property');
const ITEM_PROPERTY = hashName('itemprop');
const CONTENT = hashName('content');
const TYPE = hashName('type');
const LANG = hashName('lang');
const XML_LANG = hashName('xml:lang');
const MOST_OBJECTS = 2_000;

/** Collects the inputs of the features, for extraction and training alike. */
export function gatherEvidence(tree: PageTree, url: string): { evidence: ContentEvidence; blocks: Blocks } {
  const blocks = findBlocks(tree);
  const elements = flagElements(tree);
  const shape = measureShape(tree, blocks, elements);
  const signals = readSignals(tree);
  return { evidence: { tree, url, blocks: blocks.list, elements, shape, signals }, blocks };
}

/** What a page states about itself outside its text. */
export interface PageSignals {
  readonly title: string | null;
  readonly language: string | null;
  /** By name or property in lower case; the first one counts. */
  readonly meta: ReadonlyMap<string, string>;
  /** Every object of JSON-LD that has a type, outer ones first. */
  readonly objects: readonly TypedObject[];
}

export interface TypedObject {
  readonly types: readonly string[];
  readonly value: Readonly<Record<string, unknown>>;
}

function readSignals(tree: PageTree): PageSignals {
  const meta = new Map<string, string>();
  const objects: TypedObject[] = [];
  let title: string | null = null;
  let language: string | null = null;
  let blocks = 0;
  const { tags } = tree;
  for (let node = 1; node < tree.count; node++) {
    const tag = tags[node] as number;
    if (tag === TAG.meta) readMeta(tree, node, meta);
    else if (tag === TAG.html) language = tree.attribute(node, LANG) ?? tree.attribute(node, XML_LANG);
    else if (tag === TAG.title && title === null && !isInSvg(tree, node)) {
      title = collapse(tree.textOf(node, LIMITS.titleChars * 8), LIMITS.titleChars);
    } else if (tag === TAG.script && blocks < LIMITS.jsonLdBlocks && isJsonLd(tree.attribute(node, TYPE))) {
      blocks++;
      const child = tree.firstChild(node);
      if (child >= 0) collectObjects(parseJsonLd(tree.text(child)), objects);
    }
  }
  return { title: title === '' ? null : title, language: language?.trim() || null, meta, objects };
}

function isInSvg(tree: PageTree, node: number): boolean {
  return tree.tags[tree.parents[node] as number] === TAG.svg;
}

function isJsonLd(type: string | null): boolean {
  return type?.trim().toLowerCase().startsWith('application/ld+json') ?? false;
}

function readMeta(tree: PageTree, node: number, meta: Map<string, string>): void {
  if (meta.size >= LIMITS.metaTags) return;
  const name =
    tree.attribute(node, PROPERTY) ?? tree.attribute(node, NAME) ?? tree.attribute(node, ITEM_PROPERTY);
  const content = tree.attribute(node, CONTENT);
  if (name === null || content === null) return;
  const key = name.trim().toLowerCase();
  const value = collapse(content, LIMITS.metaChars);
  if (key !== '' && value !== '' && !meta.has(key)) meta.set(key, value);
}

/** Breadth first, so that the objects a block is about come before those inside them. */
function collectObjects(root: unknown, objects: TypedObject[]): void {
  const queue: unknown[] = [root];
  for (let at = 0; at < queue.length && at < MOST_OBJECTS; at++) {
    const value = queue[at];
    if (value === null || typeof value !== 'object') continue;
    if (Array.isArray(value)) {
      queue.push(...value.slice(0, MOST_OBJECTS));
      continue;
    }
    const object = value as Readonly<Record<string, unknown>>;
    const types = typesOf(object['@type']);
    if (types.length > 0 && objects.length < MOST_OBJECTS) objects.push({ types, value: object });
    for (const child of Object.values(object))
      if (child !== null && typeof child === 'object') queue.push(child);
  }
}

function typesOf(type: unknown): string[] {
  const list: unknown[] = Array.isArray(type) ? type : [type];
  return list
    .filter((name) => typeof name === 'string')
    .map((name) => name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf(':')) + 1).toLowerCase());
}

/** A block of prose: long enough for a sentence, and not made of links. */
const PROSE_WORDS = 10;
const PROSE_LINKS = 0.34;
const MUCH = 0.35;

/** Sums over subtrees and values derived from them. All arrays are by node. */
export interface PageShape {
  readonly depths: Uint16Array;
  readonly words: Float64Array;
  readonly linkWords: Float64Array;
  readonly proseWords: Float64Array;
  readonly blocks: Int32Array;
  /** Flags and hints of the element and of all its ancestors. */
  readonly flagsAround: Int32Array;
  readonly hintsAround: Int32Array;
  /** Number of siblings with the same style, itself included. */
  readonly alike: Int32Array;
  /** The innermost and the outermost enclosing element that has at least two siblings of its style; 0 without one. */
  readonly innerUnit: Int32Array;
  readonly outerUnit: Int32Array;
  /** The element with the highest prose score, and the one that holds most of the prose. */
  readonly candidate: number;
  readonly holder: number;
  /** The depth of the innermost common ancestor with the candidate, and with the holder. */
  readonly candidateMeet: Uint16Array;
  readonly holderMeet: Uint16Array;
}

export function isProse(block: Block): boolean {
  return block.words >= PROSE_WORDS && block.linkWords <= block.words * PROSE_LINKS;
}

function measureShape(
  tree: PageTree,
  { list }: Blocks,
  { flags, hints, styleHashes }: ElementFlags,
): PageShape {
  const { count, parents } = tree;
  const depths = new Uint16Array(count);
  const words = new Float64Array(count);
  const linkWords = new Float64Array(count);
  const proseWords = new Float64Array(count);
  const blocks = new Int32Array(count);
  const scores = new Float64Array(count);
  for (const block of list) {
    const at = block.container;
    words[at] = (words[at] as number) + block.words;
    linkWords[at] = (linkWords[at] as number) + block.linkWords;
    blocks[at] = (blocks[at] as number) + 1;
    if (!isProse(block)) continue;
    proseWords[at] = (proseWords[at] as number) + block.words;
    addScore(scores, parents, block);
  }
  for (let node = count - 1; node > 0; node--) {
    const parent = parents[node] as number;
    words[parent] = (words[parent] as number) + (words[node] as number);
    linkWords[parent] = (linkWords[parent] as number) + (linkWords[node] as number);
    proseWords[parent] = (proseWords[parent] as number) + (proseWords[node] as number);
    blocks[parent] = (blocks[parent] as number) + (blocks[node] as number);
  }
  revealLargeElements(flags, words);
  const flagsAround = new Int32Array(count);
  const hintsAround = new Int32Array(count);
  for (let node = 1; node < count; node++) {
    const parent = parents[node] as number;
    depths[node] = (depths[parent] as number) + 1;
    flagsAround[node] = (flagsAround[parent] as number) | (flags[node] as number);
    // Hints of the root and the body do not describe their parts.
    const own = tree.tags[node] === TAG.body || tree.tags[node] === TAG.html ? 0 : (hints[node] as number);
    hintsAround[node] = (hintsAround[parent] as number) | own;
  }
  const alike = countAlike(tree, styleHashes, words);
  const { innerUnit, outerUnit } = unitsOf(tree, alike);
  const candidate = bestOf(scores, words, linkWords, flagsAround);
  const holder = holderOf(tree, proseWords, words);
  return {
    depths,
    words,
    linkWords,
    proseWords,
    blocks,
    flagsAround,
    hintsAround,
    alike,
    innerUnit,
    outerUnit,
    candidate,
    holder,
    candidateMeet: meetOf(tree, depths, candidate),
    holderMeet: meetOf(tree, depths, holder),
  };
}

/** Clears hidden flags of elements with much of the text: a script reveals them. */
function revealLargeElements(flags: Int32Array, words: Float64Array): void {
  const much = (words[0] as number) * MUCH;
  for (let node = 1; node < flags.length; node++) {
    const flag = flags[node] as number;
    if ((flag & (ELEMENT_FLAG.unseen | ELEMENT_FLAG.ariaHidden)) !== 0 && (words[node] as number) > much) {
      flags[node] = flag & ~(ELEMENT_FLAG.unseen | ELEMENT_FLAG.ariaHidden);
    }
  }
}

/** Adds a prose score to enclosing elements, less with distance. */
function addScore(scores: Float64Array, parents: Int32Array, block: Block): void {
  const score = Math.min(block.words, 100) / 10 + block.commas;
  let node = parents[block.container] as number;
  for (let step = 1; step <= 4 && node > 0; step++) {
    scores[node] = (scores[node] as number) + score / step;
    node = parents[node] as number;
  }
}

function bestOf(
  scores: Float64Array,
  words: Float64Array,
  linkWords: Float64Array,
  flagsAround: Int32Array,
): number {
  let best = 0;
  let bestScore = 0;
  for (let node = 1; node < scores.length; node++) {
    if (scores[node] === 0) continue;
    const density = (linkWords[node] as number) / Math.max(1, words[node] as number);
    const around = flagsAround[node] as number;
    const isAside =
      (around &
        (ELEMENT_FLAG.nav |
          ELEMENT_FLAG.footer |
          ELEMENT_FLAG.aside |
          ELEMENT_FLAG.dialog |
          ELEMENT_FLAG.unseen)) !==
      0;
    const score = (scores[node] as number) * (1 - density) * (isAside ? 0.3 : 1);
    if (score > bestScore) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}

/** Descends while one child holds most of the prose (of the words, without prose). */
function holderOf(tree: PageTree, proseWords: Float64Array, words: Float64Array): number {
  const weights = (proseWords[0] as number) >= 50 ? proseWords : words;
  let holder = 0;
  for (;;) {
    let heaviest = -1;
    for (let child = tree.firstChild(holder); child >= 0; child = tree.nextSibling(child)) {
      if (heaviest < 0 || (weights[child] as number) > (weights[heaviest] as number)) heaviest = child;
    }
    if (heaviest < 0 || (weights[heaviest] as number) < (weights[holder] as number) * 0.75) return holder;
    holder = heaviest;
  }
}

function meetOf(tree: PageTree, depths: Uint16Array, target: number): Uint16Array {
  const meet = new Uint16Array(tree.count);
  const isOnPath = new Uint8Array(tree.count);
  for (let node = target; node >= 0; node = tree.parents[node] as number) isOnPath[node] = 1;
  for (let node = 1; node < tree.count; node++) {
    meet[node] =
      isOnPath[node] === 1 ? (depths[node] as number) : (meet[tree.parents[node] as number] as number);
  }
  return meet;
}

function countAlike(tree: PageTree, styleHashes: Int32Array, words: Float64Array): Int32Array {
  const alike = new Int32Array(tree.count);
  const counts = new Map<number, number>();
  const keyOf = (node: number): number =>
    (tree.parents[node] as number) * 4_294_967_296 + ((styleHashes[node] as number) >>> 0);
  for (let round = 0; round < 2; round++) {
    for (let node = 1; node < tree.count; node++) {
      // Elements without words make no units: icons, spacers, line breaks.
      if ((tree.tags[node] as number) >= RAW_TEXT || words[node] === 0) continue;
      const key = keyOf(node);
      if (round === 0) counts.set(key, (counts.get(key) ?? 0) + 1);
      else alike[node] = counts.get(key) as number;
    }
  }
  return alike;
}

function unitsOf(tree: PageTree, alike: Int32Array): { innerUnit: Int32Array; outerUnit: Int32Array } {
  const innerUnit = new Int32Array(tree.count);
  const outerUnit = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const parent = tree.parents[node] as number;
    const isUnit = (alike[node] as number) >= 3;
    innerUnit[node] = isUnit ? node : (innerUnit[parent] as number);
    const outer = outerUnit[parent] as number;
    outerUnit[node] = outer === 0 && isUnit ? node : outer;
  }
  return { innerUnit, outerUnit };
}
