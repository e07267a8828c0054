import { TAG_FLAGS, VOID } from '../tag.ts';
import { type PageTree, RAW_TEXT, TEXT } from '../tree/page-tree.ts';
import type { Budget } from './budget.ts';
import { RULE_LIMITS } from './rule-limits.ts';

/** A node written as HTML again, with itself or only what is inside. */
export function elementHtml(tree: PageTree, node: number, isOuter: boolean, budget: Budget): string {
  const { tags, ends } = tree;
  const isText = (tags[node] as number) >= RAW_TEXT;
  const from = isText || (isOuter && node > 0) ? node : node + 1;
  const to = isText ? node + 1 : (ends[node] as number);
  budget.spend(to - from);
  const open: number[] = [];
  let html = '';
  const closeUpTo = (place: number): void => {
    while (open.length > 0 && (ends[open.at(-1) as number] as number) <= place) {
      html += `</${tree.name(open.pop() as number)}>`;
    }
  };
  for (let at = from; at < to && html.length < RULE_LIMITS.valueChars; at++) {
    closeUpTo(at);
    const tag = tags[at] as number;
    if (tag >= RAW_TEXT) {
      html += tag === TEXT ? escapeText(tree.text(at)) : tree.text(at);
      continue;
    }
    html += startTag(tree, at);
    if (((TAG_FLAGS[tag] as number) & VOID) === 0) open.push(at);
  }
  closeUpTo(to);
  budget.spend(html.length >>> 4);
  return html;
}

function startTag(tree: PageTree, node: number): string {
  let tag = `<${tree.name(node)}`;
  for (const [name, value] of tree.attributes(node)) tag += ` ${name}="${escapeAttribute(value)}"`;
  return `${tag}>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
