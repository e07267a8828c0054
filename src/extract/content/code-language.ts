import { hashName } from '../name-table.ts';
import type { PageTree } from '../tree/page-tree.ts';

const CLASS = hashName('class');
const DATA = ['data-lang', 'data-language', 'lang', 'data-code-language'].map(hashName);
const CODE = hashName('code');
const IN_CLASS =
  /(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|code|sourceCode)[-:\s]\s*([a-z][a-z0-9+#.-]{0,19})(?=[\s;]|$)/i;
const NAME = /^[a-z][a-z0-9+#.-]{0,19}$/i;
const NOT_NAMES = new Set([
  'default',
  'none',
  'text',
  'plain',
  'plaintext',
  'notranslate',
  'block',
  'en',
  'wrapper',
  'copy',
  'toolbar',
  'example',
  'container',
  'snippet',
  'content',
  'nohighlight',
  'box',
]);

/** The programming language of a `pre`, as the classes in and around it say; empty when they do not. */
export function codeLanguage(tree: PageTree, node: number): string {
  const places = [node, tree.parents[node] as number];
  const end = Math.min(tree.ends[node] as number, node + 4);
  for (let at = node + 1; at < end; at++)
    if (tree.hashes[at] === CODE && !tree.isText(at)) places.unshift(at);
  places.push(tree.parents[tree.parents[node] as number] ?? -1);
  for (const place of places) {
    if (place <= 0) continue;
    for (const name of DATA) {
      const value = tree.attribute(place, name)?.trim() ?? '';
      if (NAME.test(value) && !NOT_NAMES.has(value.toLowerCase())) return value.toLowerCase();
    }
    const found = IN_CLASS.exec((tree.attribute(place, CLASS) ?? '').slice(0, 300))?.[1]?.toLowerCase();
    if (found !== undefined && !NOT_NAMES.has(found)) return found;
  }
  return '';
}
