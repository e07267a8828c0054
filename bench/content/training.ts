import { repeatsOf } from '../../src/extract/content/decide/choose-blocks.ts';
// Learns which blocks of a page are its content, from pages whose content people marked.
import {
  BLOCK_FEATURE_NAMES,
  BLOCK_FEATURES,
} from '../../src/extract/content/features/block-feature-names.ts';
import { blockFeatures } from '../../src/extract/content/features/block-features.ts';
import { type TokenScores, tokenScores } from '../../src/extract/content/features/block-tokens.ts';
import { penalizeComments } from '../../src/extract/content/features/comment-sections.ts';
import { CONTEXT_FEATURES, contextFeatures } from '../../src/extract/content/features/context-features.ts';
import { type ContentEvidence, gatherEvidence } from '../../src/extract/content/features/evidence.ts';
import { PAGE_FEATURES, pageFeatures } from '../../src/extract/content/features/page-features.ts';
import {
  type ContentModel,
  evaluate,
  type Forest,
  PAGE_TYPES,
  typeChances,
} from '../../src/extract/content/model/model.ts';
import { buildTree } from '../../src/extract/tree/tree-builder.ts';
import { fitTokens, readVocabulary, type TokenPage } from './fit-tokens.ts';
import { drawByWeight, growForest, seeded, type Table } from './grow-forest.ts';
import type { LabelledPage } from './pages.ts';
import { shareInReference } from './truth.ts';

export interface Example {
  readonly page: LabelledPage;
  readonly evidence: ContentEvidence;
  readonly pageRow: Float32Array;
  readonly rows: Float32Array;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

export interface Plan {
  readonly firstTrees: number;
  readonly secondTrees: number;
  readonly depth: number;
  readonly rate: number;
  /** Rows kept of a table, drawn by weight: most rows of long pages matter next to nothing. */
  readonly most: number;
  readonly sample: number;
  readonly featureShare: number;
  readonly restraint: number;
  readonly folds: number;
  readonly seed: number;
}

export const PLAN: Plan = {
  firstTrees: 350,
  secondTrees: 500,
  depth: 6,
  rate: 0.14,
  most: 30_000,
  sample: 12_000,
  featureShare: 0.15,
  restraint: 8,
  folds: 5,
  seed: 3,
};

/** A page with little content is worth as much as one with a lot; one without any teaches nothing. */
const LEAST_WORDS = 50;
const LEAST_CHARS = 20;
const MOST_WEIGHT = 3;

/** `trust` is how much the page counts beside others: marks of people count whole. */
export function exampleOf(page: LabelledPage, trust: number): Example {
  const { evidence, blocks } = gatherEvidence(buildTree(page.html), page.url);
  const repeats = repeatsOf(blocks.list);
  const texts = blocks.list.map(({ text }, index) => (repeats[index] === 1 ? '' : text));
  const labels = Float32Array.from(shareInReference(texts, page.reference));
  const wanted = blocks.list.reduce((sum, { words }, index) => sum + words * (labels[index] as number), 0);
  const weights = Float32Array.from(blocks.list, ({ words }, index) =>
    repeats[index] === 1 ? 0 : Math.min(1, (words + 1) / Math.max(LEAST_WORDS, wanted)),
  );
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const scale = Math.min(1, MOST_WEIGHT / Math.max(1e-9, all));
  return {
    page,
    evidence,
    pageRow: pageFeatures(evidence),
    rows: blockFeatures(evidence, new Float64Array(PAGE_TYPES.length), {
      text: new Float64Array(blocks.list.length),
      names: new Float64Array(blocks.list.length),
    }),
    labels,
    weights: weights.map((weight) => weight * scale * trust),
  };
}

const TEXT_PLACE = BLOCK_FEATURE_NAMES.indexOf('tokens:text');
const NAMES_PLACE = BLOCK_FEATURE_NAMES.indexOf('tokens:names');

/** The rows of an example with the answers of other models filled in: types (the last features) and tokens. */
function rowsWith(
  { rows, labels }: Example,
  types: ArrayLike<number>,
  { text, names }: TokenScores,
): Float32Array {
  const filled = rows.slice();
  for (let block = 0; block < labels.length; block++) {
    const start = block * BLOCK_FEATURES;
    filled[start + TEXT_PLACE] = text[block] as number;
    filled[start + NAMES_PLACE] = names[block] as number;
    for (let type = 0; type < types.length; type++) {
      filled[start + BLOCK_FEATURES - types.length + type] = types[type] as number;
    }
  }
  return filled;
}

/** The chances of the page types that were filled in. */
function typesOf(rows: Float32Array): Float32Array {
  return rows.subarray(BLOCK_FEATURES - PAGE_TYPES.length, BLOCK_FEATURES);
}

interface Part {
  readonly rows: Float32Array;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

function tableOf(parts: readonly Part[], width: number): Table {
  const count = parts.reduce((sum, { labels }) => sum + labels.length, 0);
  const table = {
    rows: new Float32Array(count * width),
    width,
    labels: new Float32Array(count),
    weights: new Float32Array(count),
  };
  let at = 0;
  for (const { rows, labels, weights } of parts) {
    table.rows.set(rows, at * width);
    table.labels.set(labels, at);
    table.weights.set(weights, at);
    at += labels.length;
  }
  return table;
}

/** Rows drawn by weight; one drawn several times counts as often. */
function thinned(table: Table, most: number, random: () => number): Table {
  const { rows, width, labels, weights } = table;
  const counts = new Map<number, number>();
  for (const row of drawByWeight(weights, most, random)) counts.set(row, (counts.get(row) ?? 0) + 1);
  const kept = [...counts.keys()];
  const thin = new Float32Array(kept.length * width);
  for (const [place, row] of kept.entries())
    thin.set(rows.subarray(row * width, (row + 1) * width), place * width);
  return {
    rows: thin,
    width,
    labels: Float32Array.from(kept, (row) => labels[row] as number),
    weights: Float32Array.from(counts.values()),
  };
}

export function train(examples: readonly Example[], plan: Plan): ContentModel {
  const set = examples.filter(({ page }) => page.reference.length > LEAST_CHARS);
  const inFold = (index: number, fold: number): boolean => index % plan.folds === fold;
  const types = growTypes(set, plan.seed);
  const vocabulary = readVocabulary(
    set.map(({ evidence }) => evidence),
    set.map(({ page }) => page.site),
  );
  const tokenPages = set.map(
    ({ labels, weights }, index): TokenPage => ({
      tokens: vocabulary.pages[index] as TokenPage['tokens'],
      labels,
      weights,
    }),
  );
  const tokens = fitTokens(vocabulary, tokenPages);
  // Everything a later step learns from must come from a model that has not seen the page.
  const rows = new Map<Example, Float32Array>();
  for (let fold = 0; fold < plan.folds; fold++) {
    const forests = growTypes(
      set.filter((_, index) => !inFold(index, fold)),
      plan.seed + 50 + fold,
    );
    const weights = fitTokens(
      vocabulary,
      tokenPages.filter((_, index) => !inFold(index, fold)),
    );
    for (const example of set.filter((_, index) => inFold(index, fold))) {
      const scores = tokenScores(example.evidence, weights);
      rows.set(example, rowsWith(example, typeChances(forests, example.pageRow), scores));
    }
  }
  const grow = (parts: readonly Part[], width: number, trees: number, seed: number): Forest =>
    growForest(thinned(tableOf(parts, width), plan.most, seeded(plan.seed * 1_000 + seed)), {
      ...plan,
      trees,
      random: seeded(plan.seed * 1_000 + seed),
    });
  const part = (example: Example): Part => ({ ...example, rows: rows.get(example) as Float32Array });
  const first = grow(set.map(part), BLOCK_FEATURES, plan.firstTrees, 0);
  const seconds: Part[] = [];
  for (let fold = 0; fold < plan.folds; fold++) {
    const others = set.filter((_, index) => !inFold(index, fold)).map(part);
    const forest = grow(others, BLOCK_FEATURES, plan.firstTrees, 10 + fold);
    for (const example of set.filter((_, index) => inFold(index, fold))) {
      const { rows: own } = part(example);
      const sums = evaluate(forest, own, BLOCK_FEATURES);
      penalizeComments(example.evidence, typesOf(own), sums);
      seconds.push({ ...example, rows: contextFeatures(example.evidence, own, BLOCK_FEATURES, sums) });
    }
  }
  const second = grow(seconds, BLOCK_FEATURES + CONTEXT_FEATURES, plan.secondTrees, 99);
  return { types, tokens, first, second };
}

function growTypes(set: readonly Example[], seed: number): Forest[] {
  return PAGE_TYPES.map((type, index) =>
    growForest(
      tableOf(
        set.map(({ page, pageRow }) => ({
          rows: pageRow,
          labels: Float32Array.of(page.type === type ? 1 : 0),
          weights: Float32Array.of(1),
        })),
        PAGE_FEATURES,
      ),
      {
        trees: 60,
        depth: 3,
        rate: 0.1,
        sample: Math.floor(set.length * 0.7),
        featureShare: 0.2,
        restraint: 2,
        random: seeded(seed + index),
      },
    ),
  );
}
