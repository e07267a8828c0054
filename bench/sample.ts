/** What several rounds of one measurement gave: their middle, and how far they lay apart. */
export interface Sample {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

export function sampleOf(values: readonly number[]): Sample {
  return {
    median: quantile(values, 0.5),
    min: Math.min(...values),
    max: Math.max(...values),
    values: values.map((value) => Number(value.toPrecision(6))),
  };
}

/** With values between two ranks taken proportionally. Not a number without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (sorted.length - 1) * share;
  const below = sorted[Math.floor(rank)] ?? Number.NaN;
  const above = sorted[Math.ceil(rank)] ?? Number.NaN;
  return below + (above - below) * (rank - Math.floor(rank));
}

/** Ratios of what was measured in the same round, so that a slow moment of the machine hits both sides. */
export function ratios(over: readonly number[], under: readonly number[]): number[] {
  return over.map((value, round) => value / (under[round] ?? Number.NaN));
}

/** The slope of the straight line closest to the points. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  let rise = 0;
  let run = 0;
  for (const { x, y } of points) {
    rise += (x - meanX) * (y - meanY);
    run += (x - meanX) ** 2;
  }
  return rise / run;
}

/**
 * Returns `[0, 1, 2]` in round 0, `[1, 2, 0]` in round 1 and so on, so that no contestant always finds the machine
 * warm.
 */
export function rotated<T>(items: readonly T[], round: number): T[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
