import { baseOf } from '../content/render/content-nodes.ts';
import { markupOf } from '../full/page-parts.ts';
import { HtmlScanner } from '../html/scanner.ts';
import { Budget } from '../rules/budget.ts';
import { cleanHtml } from '../scan/clean-html.ts';
import { buildTree } from '../tree/tree-builder.ts';
import { type CompiledDiffRules, nodesLeft } from './diff-rules.ts';
import { diffHtml, type HtmlDiff } from './html-diff.ts';
import { withoutMatches } from './watched-page.ts';

const scanner = new HtmlScanner();

export interface HtmlDocument {
  /** What relative addresses are relative to, unless the document says otherwise. */
  readonly url: string;
  readonly html: string;
}

/** What changed in two documents, without what the rules ignore; addresses are absolute. Throws EXTRACTION_FAILED as `watchPage`. */
export function diffDocuments(
  a: HtmlDocument,
  b: HtmlDocument,
  { ignore }: CompiledDiffRules,
  now: () => number,
): HtmlDiff {
  const budget = new Budget({ now });
  const prepared = ({ url, html }: HtmlDocument): string => {
    const tree = buildTree(html);
    const left = nodesLeft(tree, ignore.selectors, budget);
    return cleanHtml(scanner, left === null ? html : markupOf(tree, left), baseOf(tree, url)).html;
  };
  const clean = (text: string): string => withoutMatches(text, ignore.patterns, budget);
  return diffHtml(prepared(a), prepared(b), { clean });
}
