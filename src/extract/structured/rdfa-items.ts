import { LIMITS } from '../limits.ts';
import { TreeElement } from './data-element.ts';
import { dataText } from './element-text.ts';
import type { ReadItems } from './item.ts';
import type { PageMarks } from './page-marks.ts';
import { RdfaGraph } from './rdfa-graph.ts';
import { nameOf } from './vocabulary.ts';

/** The things of a page's RDFa; `typeName` says what the type with an address is called. */
export function readRdfaItems(
  { rdfa, tree, base }: PageMarks,
  typeName: (address: string) => string = nameOf,
): ReadItems {
  const graph = new RdfaGraph(typeName);
  /** Where the elements around this place end. */
  const ends: number[] = [];
  for (const node of rdfa) {
    while (node >= (ends.at(-1) ?? tree.count)) {
      ends.pop();
      graph.leave();
    }
    const slot = graph.enter(new TreeElement(tree, node), base);
    ends.push(tree.ends[node] as number);
    if (slot !== null) graph.items.fill(slot, dataText(tree, node, LIMITS.itemValueChars));
  }
  return { roots: graph.finish(), isTruncated: graph.items.isTruncated };
}
