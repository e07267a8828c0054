import type { Evidence } from './block-features.ts';
import { TOKEN_SOURCES, visitTokens } from './block-tokens.ts';

/** By source: how much a token speaks for content (above 0) or against it. */
export type TokenWeights = readonly ReadonlyMap<string, number>[];

/** What the words of a block and the names around it say, summed up. */
export interface TokenScores {
  readonly text: Float64Array;
  readonly names: Float64Array;
}

/** Weights are written in steps of a hundredth. */
const STEPS = 100;

export function tokenScores(evidence: Evidence, weights: TokenWeights): TokenScores {
  const text = new Float64Array(evidence.blocks.length);
  const names = new Float64Array(evidence.blocks.length);
  visitTokens(evidence, (block, source, token) => {
    const weight = weights[source]?.get(token);
    if (weight === undefined) return;
    const sums = source < 2 ? text : names;
    sums[block] = (sums[block] as number) + weight;
  });
  return { text, names };
}

/** One line per source: tokens and weights by turns. */
export function packTokens(weights: TokenWeights): string[] {
  return weights.map((map) =>
    [...map]
      .map(([token, weight]) => [token, Math.round(weight * STEPS)] as const)
      .filter(([, steps]) => steps !== 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([token, steps]) => `${token} ${steps}`)
      .join(' '),
  );
}

export function readTokens(lines: string): TokenWeights {
  const packed = lines.replace(/^\n/, '').split('\n');
  return TOKEN_SOURCES.map((_, source) => {
    const parts = (packed[source] ?? '').split(' ');
    const map = new Map<string, number>();
    for (let at = 0; at + 1 < parts.length; at += 2) {
      map.set(parts[at] as string, Number(parts[at + 1]) / STEPS);
    }
    return map;
  });
}
