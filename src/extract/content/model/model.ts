import weights from './weights.json' with { type: 'json' };

export interface ContentModel {
  /** One per page type. */
  readonly types: readonly Forest[];
  readonly tokens: TokenWeights;
  readonly first: Forest;
  readonly second: Forest;
}

let kept: ContentModel | null = null;

/** The model that `bench/content-train.ts` trained on labelled pages and wrote to weights.json; unpacked on first use. */
export function model(): ContentModel {
  if (kept === null) {
    const forests = readForests(weights.forests);
    const [first, second] = forests.slice(-2) as [Forest, Forest];
    kept = { types: forests.slice(0, -2), tokens: readTokens(weights.tokens), first, second };
  }
  return kept;
}

/**
 * A forest of symmetric decision trees: all nodes of one depth ask the same question, so a tree is a short list of
 * questions and the answers, as bits, are the number of the leaf.
 */
export interface Forest {
  readonly depth: number;
  readonly bias: number;
  /** `depth` questions per tree: is this feature above this threshold? */
  readonly features: Uint16Array;
  readonly thresholds: Float32Array;
  /** `2 ** depth` per tree. */
  readonly leaves: Float32Array;
}

/** Sources of the tokens of a block: its text, the heading above, its closest ancestors, further ancestors. */
export const TOKEN_SOURCES = ['text', 'heading', 'near', 'far'] as const;

/** Weights are written in steps of a hundredth. */
const WEIGHT_STEPS = 100;

export const PAGE_TYPES = [
  'article',
  'documentation',
  'forum',
  'product',
  'service',
  'listing',
  'collection',
] as const;

/** The sum of the trees for each row, before the logistic function. */
export function evaluate(forest: Forest, rows: Float32Array, width: number): Float64Array {
  const { depth, bias, features, thresholds, leaves } = forest;
  const count = rows.length / width;
  const sums = new Float64Array(count).fill(bias);
  const trees = features.length / depth;
  const size = 1 << depth;
  for (let row = 0, start = 0; row < count; row++, start += width) {
    let sum = bias;
    for (let tree = 0, at = 0, base = 0; tree < trees; tree++, base += size) {
      let leaf = 0;
      for (let level = 0; level < depth; level++, at++) {
        if ((rows[start + (features[at] as number)] as number) > (thresholds[at] as number))
          leaf |= 1 << level;
      }
      sum += leaves[base + leaf] as number;
    }
    sums[row] = sum;
  }
  return sums;
}

export function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

/** Leaves are written in steps of their tree's largest one. */
const STEPS = 127;

/** Forests as one string: base64 of little-endian numbers, one forest after the other. */
export function packForests(forests: readonly Forest[]): string {
  return Buffer.concat(forests.map(pack)).toString('base64');
}

function pack({ depth, bias, features, thresholds, leaves }: Forest): Buffer {
  const trees = features.length / depth;
  const size = 1 << depth;
  const bytes = Buffer.alloc(8 + trees * (depth * 6 + 4 + size));
  bytes.writeUInt16LE(trees, 0);
  bytes.writeUInt16LE(depth, 2);
  bytes.writeFloatLE(bias, 4);
  let at = 8;
  for (let tree = 0; tree < trees; tree++) {
    for (let level = 0; level < depth; level++) {
      at = bytes.writeUInt16LE(features[tree * depth + level] as number, at);
      at = bytes.writeFloatLE(thresholds[tree * depth + level] as number, at);
    }
    const own = leaves.subarray(tree * size, (tree + 1) * size);
    const largest = Math.max(1e-9, ...own.map(Math.abs));
    at = bytes.writeFloatLE(largest, at);
    for (const leaf of own) at = bytes.writeInt8(Math.round((leaf / largest) * STEPS), at);
  }
  return bytes;
}

export function readForests(packed: string): Forest[] {
  const bytes = Buffer.from(packed, 'base64');
  const forests: Forest[] = [];
  let at = 0;
  while (at < bytes.length) {
    const trees = bytes.readUInt16LE(at);
    const depth = bytes.readUInt16LE(at + 2);
    const bias = bytes.readFloatLE(at + 4);
    at += 8;
    const features = new Uint16Array(trees * depth);
    const thresholds = new Float32Array(trees * depth);
    const leaves = new Float32Array(trees << depth);
    for (let tree = 0; tree < trees; tree++) {
      for (let level = 0; level < depth; level++, at += 6) {
        features[tree * depth + level] = bytes.readUInt16LE(at);
        thresholds[tree * depth + level] = bytes.readFloatLE(at + 2);
      }
      const largest = bytes.readFloatLE(at);
      at += 4;
      for (let leaf = 0; leaf < 1 << depth; leaf++, at++) {
        leaves[(tree << depth) + leaf] = (bytes.readInt8(at) / STEPS) * largest;
      }
    }
    forests.push({ depth, bias, features, thresholds, leaves });
  }
  return forests;
}

/** By source: the weight of a token, above 0 for content. */
export type TokenWeights = readonly ReadonlyMap<string, number>[];

/** One line per source: tokens and weights alternate. */
export function packTokens(weights: TokenWeights): string[] {
  return weights.map((map) =>
    [...map]
      .map(([token, weight]) => [token, Math.round(weight * WEIGHT_STEPS)] as const)
      .filter(([, steps]) => steps !== 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([token, steps]) => `${token} ${steps}`)
      .join(' '),
  );
}

export function readTokens(packed: readonly string[]): TokenWeights {
  return TOKEN_SOURCES.map((_, source) => {
    const parts = (packed[source] ?? '').split(' ');
    const map = new Map<string, number>();
    for (let at = 0; at + 1 < parts.length; at += 2) {
      map.set(parts[at] as string, Number(parts[at + 1]) / WEIGHT_STEPS);
    }
    return map;
  });
}

export type PageType = (typeof PAGE_TYPES)[number];

/** Probability of each page type, given the features of the page; one forest per type. */
export function typeChances(forests: readonly Forest[], row: Float32Array): Float64Array {
  const chances = Float64Array.from(forests, (forest) =>
    logistic(evaluate(forest, row, row.length)[0] as number),
  );
  const all = chances.reduce((sum, chance) => sum + chance, 1e-9);
  return chances.map((chance) => chance / all);
}
