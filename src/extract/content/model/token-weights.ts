/** Sources of the tokens of a block: its text, the heading above, its closest ancestors, further ancestors. */
export const TOKEN_SOURCES = ['text', 'heading', 'near', 'far'] as const;

/** By source: the weight of a token, above 0 for content. */
export type TokenWeights = readonly ReadonlyMap<string, number>[];

/** Weights are written in steps of a hundredth. */
const STEPS = 100;

/** One line per source: tokens and weights alternate. */
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
