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
