import { evaluate, type Forest, logistic } from './forest.ts';

export const PAGE_TYPES = [
  'article',
  'documentation',
  'forum',
  'product',
  'service',
  'listing',
  'collection',
] as const;
export type PageType = (typeof PAGE_TYPES)[number];

/** Probability of each page type, given the features of the page; one forest per type. */
export function typeChances(forests: readonly Forest[], row: Float32Array): Float64Array {
  const chances = Float64Array.from(forests, (forest) =>
    logistic(evaluate(forest, row, row.length)[0] as number),
  );
  const all = chances.reduce((sum, chance) => sum + chance, 1e-9);
  return chances.map((chance) => chance / all);
}
