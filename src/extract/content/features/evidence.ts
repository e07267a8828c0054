import type { PageTree } from '../../tree/page-tree.ts';
import { type Block, type Blocks, findBlocks } from './blocks.ts';
import { type ElementFlags, flagElements } from './element-flags.ts';
import { measureShape, type PageShape } from './page-shape.ts';
import { type PageSignals, readSignals } from './page-signals.ts';

/** All inputs of the features of a page. */
export interface ContentEvidence {
  readonly tree: PageTree;
  readonly url: string;
  readonly blocks: readonly Block[];
  readonly elements: ElementFlags;
  readonly shape: PageShape;
  readonly signals: PageSignals;
}

/** Collects the inputs of the features, for extraction and training alike. */
export function gatherEvidence(tree: PageTree, url: string): { evidence: ContentEvidence; blocks: Blocks } {
  const blocks = findBlocks(tree);
  const elements = flagElements(tree);
  const shape = measureShape(tree, blocks, elements);
  const signals = readSignals(tree);
  return { evidence: { tree, url, blocks: blocks.list, elements, shape, signals }, blocks };
}
