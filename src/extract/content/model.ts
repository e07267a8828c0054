import type { Forest } from './forest.ts';
import { readForests } from './packed-forest.ts';
import { readTokens, type TokenWeights } from './token-scores.ts';
import { TOKENS, WEIGHTS } from './weights.ts';

export interface ContentModel {
  /** One per page type. */
  readonly types: readonly Forest[];
  readonly tokens: TokenWeights;
  readonly first: Forest;
  readonly second: Forest;
}

let kept: ContentModel | null = null;

/** What was learned from pages whose content people marked (`bench/content-train.ts`); unpacked when first asked for. */
export function model(): ContentModel {
  if (kept === null) {
    const forests = readForests(WEIGHTS);
    const [first, second] = forests.slice(-2) as [Forest, Forest];
    kept = { types: forests.slice(0, -2), tokens: readTokens(TOKENS), first, second };
  }
  return kept;
}
