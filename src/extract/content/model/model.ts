import { type Forest, readForests, readTokens, type TokenWeights } from './forest.ts';
import { TOKENS, WEIGHTS } from './weights.ts';

export interface ContentModel {
  /** One per page type. */
  readonly types: readonly Forest[];
  readonly tokens: TokenWeights;
  readonly first: Forest;
  readonly second: Forest;
}

let kept: ContentModel | null = null;

/** The model trained by `bench/content-train.ts` on labelled pages; unpacked on first use. */
export function model(): ContentModel {
  if (kept === null) {
    const forests = readForests(WEIGHTS);
    const [first, second] = forests.slice(-2) as [Forest, Forest];
    kept = { types: forests.slice(0, -2), tokens: readTokens(TOKENS), first, second };
  }
  return kept;
}
