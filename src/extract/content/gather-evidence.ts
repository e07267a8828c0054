import type { PageTree } from '../tree/page-tree.ts';
import type { Evidence } from './block-features.ts';
import { type Blocks, findBlocks } from './blocks.ts';
import { markElements } from './element-marks.ts';
import { shapeOf } from './page-shape.ts';
import { readSignals } from './page-signals.ts';

/** Everything that is looked at before anything is decided, for extraction and for learning alike. */
export function gatherEvidence(tree: PageTree, url: string): { evidence: Evidence; blocks: Blocks } {
  const blocks = findBlocks(tree);
  const elements = markElements(tree);
  const shape = shapeOf(tree, blocks, elements);
  const signals = readSignals(tree);
  return { evidence: { tree, url, blocks: blocks.list, elements, shape, signals }, blocks };
}
