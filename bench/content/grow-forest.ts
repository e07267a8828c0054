// Gradient boosting with symmetric trees on a logistic loss, for tables that fit into memory.
import { type Forest, logistic } from '../../src/extract/content/model/model.ts';

export interface Table {
  /** The values of all rows, row after row. */
  readonly rows: Float32Array;
  readonly width: number;
  /** Between 0 and 1. */
  readonly labels: Float32Array;
  /** How much a row matters. */
  readonly weights: Float32Array;
}

export interface Growth {
  readonly trees: number;
  readonly depth: number;
  readonly rate: number;
  /** Rows drawn for each tree, by weight. */
  readonly sample: number;
  /** Share of the features each tree may ask about. */
  readonly featureShare: number;
  /** Holds leaves with few rows back. */
  readonly restraint: number;
  readonly random: () => number;
}

const BINS = 64;

/** A generator with a seed, so that the same pages always give the same forest. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Up to 63 borders per feature, at even shares of the weight. */
function bordersOf({ rows, width, weights }: Table, random: () => number): Float32Array[] {
  const count = labelsCount(rows, width);
  const picks = drawByWeight(weights, Math.min(20_000, count), random);
  const borders: Float32Array[] = [];
  for (let feature = 0; feature < width; feature++) {
    const values = Float32Array.from(picks, (row) => rows[row * width + feature] as number).sort();
    const cuts = new Set<number>();
    for (let bin = 1; bin < BINS; bin++) {
      const at = Math.floor((bin * values.length) / BINS);
      const value = values[at] as number;
      if (value < (values.at(-1) as number)) cuts.add(value);
    }
    // Rare values matter too: flags are zero nearly everywhere.
    if (cuts.size < 8)
      for (const value of new Set(values))
        if (cuts.size < BINS - 1 && value < (values.at(-1) as number)) cuts.add(value);
    borders.push(Float32Array.from(cuts).sort());
  }
  return borders;
}

const labelsCount = (rows: Float32Array, width: number): number => rows.length / width;

/** Rows drawn evenly over the weight, in rising order. */
export function drawByWeight(weights: Float32Array, wanted: number, random: () => number): Int32Array {
  const sums = new Float64Array(weights.length + 1);
  for (let i = 0; i < weights.length; i++) sums[i + 1] = (sums[i] as number) + (weights[i] as number);
  const all = sums[weights.length] as number;
  // Stratified: one draw per equal slice.
  const out = new Int32Array(wanted);
  let row = 0;
  for (let i = 0; i < wanted; i++) {
    const target = ((i + random()) / wanted) * all;
    while (row < weights.length - 1 && (sums[row + 1] as number) < target) row++;
    out[i] = row;
  }
  return out;
}

export function growForest(table: Table, growth: Growth): Forest {
  const { rows, width, labels, weights } = table;
  const { trees, depth, rate, sample, featureShare, restraint, random } = growth;
  const count = labels.length;
  const borders = bordersOf(table, random);
  const bins = borders.map((cuts, feature) => {
    const column = new Uint8Array(count);
    for (let row = 0; row < count; row++) {
      const value = rows[row * width + feature] as number;
      let low = 0;
      let high = cuts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (value > (cuts[middle] as number)) low = middle + 1;
        else high = middle;
      }
      column[row] = low;
    }
    return column;
  });
  const usable = borders.flatMap((cuts, feature) => (cuts.length > 0 ? [feature] : []));
  let weightSum = 0;
  let labelSum = 0;
  for (let i = 0; i < count; i++) {
    weightSum += weights[i] as number;
    labelSum += (weights[i] as number) * (labels[i] as number);
  }
  const mean = labelSum / weightSum;
  const bias = Math.log(mean / (1 - mean));
  const sums = new Float64Array(count).fill(bias);
  const features = new Uint16Array(trees * depth);
  const thresholds = new Float32Array(trees * depth);
  const leaves = new Float32Array(trees << depth);
  const leafOf = new Uint8Array(count);
  for (let tree = 0; tree < trees; tree++) {
    const picks = drawByWeight(weights, Math.min(sample, count), random);
    const gradients = new Float64Array(picks.length);
    const curves = new Float64Array(picks.length);
    for (let i = 0; i < picks.length; i++) {
      const row = picks[i] as number;
      const p = logistic(sums[row] as number);
      gradients[i] = (labels[row] as number) - p;
      curves[i] = Math.max(1e-6, p * (1 - p));
    }
    const candidates = usable.filter(() => random() < featureShare);
    const leaf = new Uint8Array(picks.length);
    for (let level = 0; level < depth; level++) {
      const question = bestQuestion(
        candidates,
        bins,
        borders,
        picks,
        leaf,
        gradients,
        curves,
        1 << level,
        restraint,
      );
      const at = tree * depth + level;
      features[at] = question.feature;
      thresholds[at] = (borders[question.feature] as Float32Array)[question.bin] as number;
      const column = bins[question.feature] as Uint8Array;
      for (let i = 0; i < picks.length; i++) {
        if ((column[picks[i] as number] as number) > question.bin)
          leaf[i] = (leaf[i] as number) | (1 << level);
      }
    }
    const steps = new Float64Array(1 << depth);
    const bends = new Float64Array(1 << depth);
    for (let i = 0; i < picks.length; i++) {
      const l = leaf[i] as number;
      steps[l] = (steps[l] as number) + (gradients[i] as number);
      bends[l] = (bends[l] as number) + (curves[i] as number);
    }
    const base = tree << depth;
    for (let l = 0; l < 1 << depth; l++) {
      leaves[base + l] = (rate * (steps[l] as number)) / ((bends[l] as number) + restraint);
    }
    leafOf.fill(0);
    for (let level = 0; level < depth; level++) {
      const at = tree * depth + level;
      const feature = features[at] as number;
      const column = bins[feature] as Uint8Array;
      const cut = (borders[feature] as Float32Array).indexOf(thresholds[at] as number);
      for (let row = 0; row < count; row++) {
        if ((column[row] as number) > cut) leafOf[row] = (leafOf[row] as number) | (1 << level);
      }
    }
    for (let row = 0; row < count; row++)
      sums[row] = (sums[row] as number) + (leaves[base + (leafOf[row] as number)] as number);
  }
  return { depth, bias, features, thresholds, leaves };
}

function bestQuestion(
  candidates: readonly number[],
  bins: readonly Uint8Array[],
  borders: readonly Float32Array[],
  picks: Int32Array,
  leaf: Uint8Array,
  gradients: Float64Array,
  curves: Float64Array,
  leafCount: number,
  restraint: number,
): { feature: number; bin: number } {
  let best = { feature: candidates[0] ?? 0, bin: 0 };
  let bestGain = Number.NEGATIVE_INFINITY;
  const steps = new Float64Array(leafCount * BINS);
  const bends = new Float64Array(leafCount * BINS);
  for (const feature of candidates) {
    steps.fill(0);
    bends.fill(0);
    const column = bins[feature] as Uint8Array;
    for (let i = 0; i < picks.length; i++) {
      const slot = (leaf[i] as number) * BINS + (column[picks[i] as number] as number);
      steps[slot] = (steps[slot] as number) + (gradients[i] as number);
      bends[slot] = (bends[slot] as number) + (curves[i] as number);
    }
    const cuts = (borders[feature] as Float32Array).length;
    const gains = new Float64Array(cuts);
    for (let l = 0; l < leafCount; l++) {
      let allSteps = 0;
      let allBends = 0;
      for (let bin = 0; bin < BINS; bin++) {
        allSteps += steps[l * BINS + bin] as number;
        allBends += bends[l * BINS + bin] as number;
      }
      let lowSteps = 0;
      let lowBends = 0;
      for (let bin = 0; bin < cuts; bin++) {
        lowSteps += steps[l * BINS + bin] as number;
        lowBends += bends[l * BINS + bin] as number;
        const highSteps = allSteps - lowSteps;
        gains[bin] =
          (gains[bin] as number) +
          lowSteps ** 2 / (lowBends + restraint) +
          highSteps ** 2 / (allBends - lowBends + restraint);
      }
    }
    for (let bin = 0; bin < cuts; bin++) {
      if ((gains[bin] as number) > bestGain) {
        bestGain = gains[bin] as number;
        best = { feature, bin };
      }
    }
  }
  return best;
}
