import { TAG } from '../../html/tag.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import type { Block } from './blocks.ts';
import type { PageSignals } from './page-signals.ts';

const KINDS = new Int8Array(256);
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
