import { elementText } from '../structured/element-text.ts';
import { TAG } from '../tag.ts';
import type { Markup } from './markup.ts';

const TABLES =
  /[\s_-](?:attributes?|specs?|specifications?|technical|data-sheet|datasheet|features|additional-attributes|details|properties)[\s_-]/;
const MOST_ROWS = 100;
const NAME_CHARS = 80;

/** Names and values from tables of two columns and lists of terms that are called technical data or so. */
export function attributeRows(markup: Markup): Record<string, string> {
  const rows: Record<string, string> = {};
  const add = (name: string, value: string): void => {
    const key = name.replace(/\s*:$/, '');
    if (key === '' || value === '' || key.length > NAME_CHARS || Object.hasOwn(rows, key)) return;
    if (Object.keys(rows).length < MOST_ROWS && key !== '__proto__') rows[key] = value;
  };
  const { tree } = markup;
  for (const node of markup.named(TABLES).slice(0, 20)) {
    for (const row of markup.tagged('tr', node)) {
      const cells = cellsOf(markup, row);
      if (cells.length === 2) add(cells[0] as string, cells[1] as string);
    }
    const terms = markup.tagged('dt', node);
    for (const term of terms) {
      const next = tree.nextSibling(term);
      if (next >= 0 && tree.tags[next] === TAG.dd)
        add(elementText(tree, term, NAME_CHARS), elementText(tree, next, 300));
    }
  }
  return rows;
}

function cellsOf({ tree }: Markup, row: number): string[] {
  const cells: string[] = [];
  for (let node = tree.firstChild(row); node >= 0 && cells.length < 4; node = tree.nextSibling(node)) {
    if (tree.tags[node] === TAG.td || tree.tags[node] === TAG.th) cells.push(elementText(tree, node, 300));
  }
  return cells;
}
