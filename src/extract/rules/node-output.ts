import { HIDDEN, TAG_FLAGS, VOID } from '../html/tag.ts';
import { elementText } from '../structured/element-text.ts';
import { type PageTree, RAW_TEXT, TEXT } from '../tree/page-tree.ts';
import type { Budget } from './budget.ts';
import { RULE_LIMITS } from './rule-limits.ts';

/**
 * The visible text of a node on one line. For scripts, titles and other hidden elements, their raw text.
 */
export function nodeText(tree: PageTree, node: number, budget: Budget): string {
  const tag = tree.tags[node] as number;
  const isHidden = node > 0 && tag < RAW_TEXT && ((TAG_FLAGS[tag] as number) & HIDDEN) !== 0;
  if (isHidden) return rawText(tree, node, budget).trim();
  budget.spend((tree.ends[node] as number) - node);
  const text = elementText(tree, node, RULE_LIMITS.valueChars);
  budget.spend(text.length >>> 4);
  return text;
}

/** All text inside, white space and scripts included. */
export function rawText(tree: PageTree, node: number, budget: Budget): string {
  const isText = (tree.tags[node] as number) >= RAW_TEXT;
  const end = isText ? node + 1 : (tree.ends[node] as number);
  budget.spend(end - node);
  let text = '';
  for (let at = isText ? node : node + 1; at < end && text.length < RULE_LIMITS.valueChars; at++) {
    if ((tree.tags[at] as number) >= RAW_TEXT) text += tree.text(at);
  }
  budget.spend(text.length >>> 4);
  return text.length > RULE_LIMITS.valueChars ? text.slice(0, RULE_LIMITS.valueChars) : text;
}

/** The outer or inner HTML of a node. */
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

export function startTag(tree: PageTree, node: number): string {
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
