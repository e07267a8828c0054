import { BLOCK, hashName, TAG, TAG_FLAGS } from '../../html/names.ts';
import { type PageTree, RAW_TEXT, TEXT } from '../../tree/page-tree.ts';
import type { PageSignals } from './evidence.ts';
import { isSmallWord, TOPIC_NAMES, topicsOf } from './word-lists.ts';

/** Pages with more blocks are cut. */
const MOST_BLOCKS = 20_000;
/** Words beyond this index in a block are counted, not classified. */
const LOOKED_UP_WORDS = 60;
const MOST_BLOCK_CHARS = 20_000;

/** Elements whose content is never rendered as text. */
export const SILENT: ReadonlySet<number> = new Set([
  TAG.script,
  TAG.style,
  TAG.template,
  TAG.title,
  TAG.noembed,
  TAG.noframes,
  TAG.iframe,
  TAG.textarea,
  TAG.svg,
  TAG.canvas,
  TAG.object,
  TAG.head,
]);
const SHADOW_ROOT = hashName('shadowrootmode');
const HREF = hashName('href');
const BR = TAG.br;

/** A run of text that nothing but inline markup interrupts: a paragraph, an item, a cell, a line of a menu. */
export interface Block {
  /** The innermost block element around it. */
  readonly container: number;
  /** Its text nodes lie within these. */
  readonly first: number;
  last: number;
  text: string;
  words: number;
  linkWords: number;
  links: number;
  smallWords: number;
  commas: number;
  stops: number;
  capitals: number;
  digits: number;
  letters: number;
  /** How many of the words looked up belong to each topic. */
  readonly topics: Uint8Array;
  looked: number;
  lineBreaks: number;
}

export interface Blocks {
  readonly list: readonly Block[];
  /** By node: the block a text belongs to; -1 for everything else. */
  readonly ofNode: Int32Array;
}

const KINDS = new Int8Array(256);

/** Cuts the text of a page into blocks, in the order they stand. Text that is never rendered is left out. */
export function findBlocks(tree: PageTree): Blocks {
  const list: Block[] = [];
  const ofNode = new Int32Array(tree.count).fill(-1);
  const { tags, ends, parents } = tree;
  const closing: number[] = [];
  let container = 0;
  let open: Block | null = null;
  let linkEnd = 0;
  let breaks = 0;
  /** Code is one block, whatever its markup. */
  let codeEnd = 0;
  const close = (): void => {
    if (open !== null) finishBlock(open);
    if (open !== null && open.words === 0 && open.text === '') {
      for (let node = open.first; node <= open.last; node++) ofNode[node] = -1;
      list.pop();
    }
    open = null;
    breaks = 0;
  };
  for (let node = 1; node < tree.count; node++) {
    while (closing.length > 0 && node >= (ends[closing.at(-1) as number] as number)) {
      close();
      closing.pop();
      container = closing.at(-1) ?? 0;
    }
    const tag = tags[node] as number;
    if (tag === TEXT || (tag === RAW_TEXT && parents[node] === container)) {
      const text = tree.text(node);
      if (open === null) {
        if (isBlank(text)) continue;
        if (list.length >= MOST_BLOCKS) break;
        open = newBlock(container, node);
        list.push(open);
      }
      if (node < linkEnd) open.linkWords += countWords(text);
      if (open.last < node && node >= codeEnd && isApart(tree, open.last, node)) open.text += ' ';
      if (open.text.length < MOST_BLOCK_CHARS) open.text += text;
      open.last = node;
      ofNode[node] = list.length - 1;
      if (breaks > 0 && !isBlank(text)) breaks = 0;
      continue;
    }
    if (tag >= RAW_TEXT) continue;
    if (SILENT.has(tag) && !(tag === TAG.template && tree.attribute(node, SHADOW_ROOT) !== null)) {
      node = (ends[node] as number) - 1;
      continue;
    }
    if (tag === BR) {
      if (open !== null) {
        open.text += '\n';
        open.lineBreaks++;
      }
      if (++breaks >= 2 && node >= codeEnd) close();
      continue;
    }
    if (node < codeEnd) {
      if (open !== null && ((TAG_FLAGS[tag] as number) & BLOCK) !== 0) open.text += '\n';
      continue;
    }
    if (((TAG_FLAGS[tag] as number) & BLOCK) !== 0 || (tag === 0 && isCustom(tree, node))) {
      close();
      if (tag === TAG.pre) codeEnd = ends[node] as number;
      if (node + 1 < (ends[node] as number)) {
        closing.push(node);
        container = node;
      }
    } else if (tag === TAG.a && node >= linkEnd && tree.attribute(node, HREF) !== null) {
      linkEnd = ends[node] as number;
      if (open !== null) open.links++;
    }
  }
  close();
  return { list, ofNode };
}

/** Custom elements (with a dash in their name) are blocks far more often than inline. */
function isCustom(tree: PageTree, node: number): boolean {
  const at = tree.html.indexOf('-', tree.starts[node]);
  return at >= 0 && at < (tree.stops[node] as number);
}

function newBlock(container: number, node: number): Block {
  return {
    container,
    first: node,
    last: node,
    text: '',
    words: 0,
    linkWords: 0,
    links: 0,
    smallWords: 0,
    commas: 0,
    stops: 0,
    capitals: 0,
    digits: 0,
    letters: 0,
    topics: new Uint8Array(TOPIC_NAMES.length),
    looked: 0,
    lineBreaks: 0,
  };
}

const SPACES = /\s+/g;
const WORD = /[\p{L}\p{N}_]+/gu;

function isBlank(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 32 && code !== 0xa0 && code !== 0x200b && code !== 0xfeff) return false;
  }
  return true;
}

/** Counts words: runs of letters and digits. */
export function countWords(text: string): number {
  let count = 0;
  let isInside = false;
  for (let i = 0; i < text.length; i++) {
    const isWord = isWordUnit(text.charCodeAt(i));
    if (isWord && !isInside) count++;
    isInside = isWord;
  }
  return count;
}

function isWordUnit(code: number): boolean {
  if (code < 128)
    return (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 122) || code === 95;
  // Beyond ASCII all but spaces, punctuation and symbols, told by the ranges that hold nearly all of them.
  return (
    code >= 0xc0 &&
    code !== 0xd7 &&
    code !== 0xf7 &&
    !(code >= 0x2000 && code < 0x2c00) &&
    !(code >= 0x3000 && code < 0x3040) &&
    !(code >= 0xff00 && code < 0xff10)
  );
}

function finishBlock(block: Block): void {
  const text = block.text.replace(SPACES, ' ').trim();
  block.text = text;
  let words = 0;
  for (let i = 0, isInside = false; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isWord = isWordUnit(code);
    if (isWord && !isInside) words++;
    isInside = isWord;
    if (code >= 48 && code <= 57) block.digits++;
    else if (isWord) {
      block.letters++;
      if (code >= 65 && code <= 90) block.capitals++;
    } else if (code === 44 || code === 0x3001 || code === 0xff0c) block.commas++;
    else if ((code === 46 || code === 33 || code === 63) && !isWordUnit(text.charCodeAt(i + 1)))
      block.stops++;
    else if (code === 0x3002) block.stops++;
  }
  block.words = words;
  const start = text.length > 600 ? text.slice(0, 600) : text;
  for (const word of start.toLowerCase().match(WORD) ?? []) {
    if (block.looked >= LOOKED_UP_WORDS) break;
    block.looked++;
    if (isSmallWord(word)) block.smallWords++;
    let topics = topicsOf(word);
    while (topics !== 0) {
      const bit = 31 - Math.clz32(topics);
      block.topics[bit] = Math.min(255, (block.topics[bit] as number) + 1);
      topics &= ~(1 << bit);
    }
  }
}

/**
 * True when two adjacent texts without a space between them are separate words: each is alone in its own element, like
 * labels or links in a row. Single letters are not: they are one word in pieces.
 */
export function isApart(tree: PageTree, before: number, node: number): boolean {
  const left = tree.parents[before] as number;
  const right = tree.parents[node] as number;
  if (left === right || node < (tree.ends[left] as number) || before >= right) return false;
  const first = tree.text(before);
  const second = tree.text(node);
  if (first.length < 2 && second.length < 2) return false;
  return isWordAt(first, first.length - 1) && isWordAt(second, 0);
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

function isWordAt(text: string, at: number): boolean {
  return WORD_CHARACTER.test(text.charAt(at));
}

for (const [kind, names] of [
  ['p'],
  ['li'],
  ['td', 'th'],
  ['dt', 'dd'],
  ['pre', 'xmp', 'plaintext'],
  ['blockquote'],
  ['figcaption', 'caption'],
  ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'summary', 'legend'],
  ['button', 'option', 'select', 'optgroup'],
  ['article', 'section', 'main'],
].entries()) {
  for (const name of names) KINDS[TAG[name as keyof typeof TAG]] = kind + 1;
}

/** The kind of element that contains a block, as a number; 0 for generic elements. */
export function tagKind(tree: PageTree, block: Block): number {
  return KINDS[tree.tags[block.container] as number] as number;
}

/** 1 to 6 for a block inside a heading, else 0. */
export function headingLevel(tree: PageTree, block: Block): number {
  const tag = tree.tags[block.container] as number;
  if (tag >= TAG.h1 && tag <= TAG.h6) return tag - TAG.h1 + 1;
  const parent = tree.parents[block.container] as number;
  const outer = parent < 0 ? 0 : (tree.tags[parent] as number);
  return outer >= TAG.h1 && outer <= TAG.h6 ? outer - TAG.h1 + 1 : 0;
}

/** The longest body text in structured data, squeezed; empty when it is too short to compare. */
export function bodyOf({ objects }: PageSignals): string {
  let longest = '';
  for (const { value } of objects) {
    for (const key of ['articleBody', 'text', 'description', 'reviewBody']) {
      const text = value[key];
      if (typeof text === 'string' && text.length > longest.length) longest = text;
    }
  }
  return longest.length < 200 ? '' : squeeze(longest);
}

/** Only letters and digits, so that markup and spacing do not matter. */
export function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
