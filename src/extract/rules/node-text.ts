import { elementText } from '../structured/element-text.ts';
import { HIDDEN, TAG_FLAGS } from '../tag.ts';
import { type PageTree, RAW_TEXT } from '../tree/page-tree.ts';
import type { Budget } from './budget.ts';
import { RULE_LIMITS } from './rule-limits.ts';

/**
 * The text of a node as a reader sees it, on one line. Of a script, a title or anything else that is hidden as a whole, it is
 * what stands in it.
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

/** All text inside exactly as it stands, scripts included. */
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
