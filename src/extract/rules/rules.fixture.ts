import { buildTree } from '../tree/tree-builder.ts';
import { Budget } from './budget.ts';
import type { RulePage } from './page-sources.ts';
import type { RuleProblem } from './rule-text.ts';
import { TreeIndex } from './tree-index.ts';

/** For tests: a budget that only counts. */
export function countingBudget(steps?: number): Budget {
  return new Budget({ now: () => 0, ...(steps === undefined ? {} : { steps }) });
}

/** One line with path, column and message: `rules.price.css: column 7: …`. */
export function describeProblem({ path, column, message }: RuleProblem): string {
  return column === undefined ? `${path}: ${message}` : `${path}: column ${column}: ${message}`;
}

export function indexOf(html: string): TreeIndex {
  return new TreeIndex(buildTree(html));
}

export function htmlPage(html: string, more: Partial<RulePage> = {}): RulePage {
  const tree = buildTree(html);
  return {
    tree,
    url: 'https://shop.example/list/?page=2',
    body: html,
    text: tree.textOf(0, 1_000_000),
    fetchedAt: Date.UTC(2026, 10, 15, 12),
    ...more,
  };
}

export function jsonPage(json: unknown): RulePage {
  const body = JSON.stringify(json) ?? 'null';
  return { tree: null, url: 'https://api.example/items', body, text: body, json, fetchedAt: 0 };
}
