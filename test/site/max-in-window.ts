/** The most times that fall into any window of this length, its end excluded. The order of `times` does not matter. */
export function maxInWindow(times: readonly number[], windowMs: number): number {
  const sorted = Float64Array.from(times).sort();
  let most = 0;
  let first = 0;
  for (let last = 0; last < sorted.length; last++) {
    const at = sorted[last] ?? 0;
    while (at - (sorted[first] ?? 0) >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
