import type { MemoryMark, SoakReport } from './render-soak.ts';

/** So much may the program grow from the first marks to the last; a page that leaked would cost more. */
const MOST_HEAP_GROWTH_BYTES = 15 * 1_048_576;
/** Browsers come and go meanwhile, so theirs is compared roughly. */
const MOST_BROWSER_GROWTH = 1.5;
/** Most pages must get through: only those that were shown when their process was killed may fail. */
const LEAST_SHOWN = 0.7;

/** Fewer pages say nothing about growth. */
const LONG_PAGES = 500;

const medianOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Everything that a soak must not show, in words; nothing when all is well. */
export function soakProblems(report: SoakReport, pages: number): string[] {
  const { shown, errors, memory, kills } = report;
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
  const problems = [...report.problems];
  if (shown + failed !== pages) problems.push(`${shown} shown and ${failed} failed of ${pages}`);
  if (shown < pages * LEAST_SHOWN) problems.push(`only ${shown} of ${pages} were shown`);
  if (kills.renderer + kills.browser === 0) problems.push('nothing was killed');
  return pages < LONG_PAGES ? problems : [...problems, ...growth(memory)];
}

function growth(memory: readonly MemoryMark[]): string[] {
  if (memory.length < 6) return [];
  const third = Math.floor(memory.length / 3);
  const change = (of: (mark: MemoryMark) => number) => {
    const before = medianOf(memory.slice(1, 1 + third).map(of));
    const after = medianOf(memory.slice(-third).map(of));
    return { before, after, by: after - before };
  };
  const heap = change(({ heapBytes }) => heapBytes);
  const browsers = change(({ browserBytes }) => browserBytes);
  return [
    ...(heap.by > MOST_HEAP_GROWTH_BYTES ? [`the heap grew by ${heap.by} bytes`] : []),
    ...(browsers.after > browsers.before * MOST_BROWSER_GROWTH
      ? [`the browsers grew from ${browsers.before} to ${browsers.after} bytes`]
      : []),
  ];
}
