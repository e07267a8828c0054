import { hashName, TAG } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import type { TokenWeights } from '../model/model.ts';
import { type Block, headingLevel } from './blocks.ts';
import type { ContentEvidence } from './evidence.ts';

type TokenSource = 0 | 1 | 2 | 3;

const WORD = /[\p{L}\p{N}_]+/gu;
const PARTS = /[A-Z]?[a-z]{2,}|[A-Z]{2,}/g;
const TEXT_CHARS = 600;
const TEXT_WORDS = 60;
const HEADING_WORDS = 12;
const NAME_CHARS = 300;
const MOST_NAMES = 16;
const NEAR = 3;
const MOST_UP = 30;
const MOST_FAR = 60;
const NAMES = ['class', 'id', 'role', 'itemprop', 'itemtype', 'aria-label', 'data-testid'].map(hashName);

/**
 * Visits every token of every block, each once per block and source: words of the text, and names of the elements around
 * it (tag names with a `<` before them; parts of classes, ids and roles without).
 */
export function visitTokens(
  { tree, blocks }: ContentEvidence,
  visit: (block: number, source: TokenSource, token: string) => void,
): void {
  const namesOf = nameReader(tree);
  let heading: readonly string[] = [];
  const near = new Set<string>();
  const far = new Set<string>();
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    const words = wordsOf(block.text);
    for (const word of words) visit(index, 0, word);
    for (const word of heading) visit(index, 1, word);
    if (headingLevel(tree, block) > 0) heading = words.slice(0, HEADING_WORDS);
    near.clear();
    far.clear();
    let node = block.container;
    for (let up = 0; up < MOST_UP && node > 0 && tree.tags[node] !== TAG.body; up++) {
      const names = up < NEAR ? near : far;
      if (names.size < MOST_FAR) for (const name of namesOf(node)) names.add(name);
      node = tree.parents[node] as number;
    }
    node = tree.parents[block.first] as number;
    for (let up = 0; up < NEAR && node > block.container; up++) {
      for (const name of namesOf(node)) near.add(name);
      node = tree.parents[node] as number;
    }
    for (const name of near) visit(index, 2, name);
    for (const name of far) visit(index, 3, name);
  }
}

function wordsOf(text: string): string[] {
  const start = text.length > TEXT_CHARS ? text.slice(0, TEXT_CHARS) : text;
  return [...new Set(start.toLowerCase().match(WORD))].slice(0, TEXT_WORDS);
}

/** Caches the names of elements: blocks share their ancestors. */
function nameReader(tree: PageTree): (node: number) => readonly string[] {
  const known: (readonly string[] | undefined)[] = [];
  return (node) => {
    const found = known[node];
    if (found !== undefined) return found;
    const names = new Set([`<${tree.name(node)}`]);
    if (tree.hasAttributes(node)) {
      for (const attribute of NAMES) {
        const value = tree.attribute(node, attribute);
        if (value === null || value === '') continue;
        for (const part of value.slice(0, NAME_CHARS).match(PARTS) ?? []) {
          if (names.size < MOST_NAMES) names.add(part.toLowerCase());
        }
      }
    }
    const list = [...names];
    known[node] = list;
    return list;
  };
}

/** Sums of the token weights of a block: of its words, and of the names around it. */
export interface TokenScores {
  readonly text: Float64Array;
  readonly names: Float64Array;
}

export function tokenScores(evidence: ContentEvidence, weights: TokenWeights): TokenScores {
  const text = new Float64Array(evidence.blocks.length);
  const names = new Float64Array(evidence.blocks.length);
  visitTokens(evidence, (block, source, token) => {
    const weight = weights[source]?.get(token);
    if (weight === undefined) return;
    const sums = source < 2 ? text : names;
    sums[block] = (sums[block] as number) + weight;
  });
  return { text, names };
}
