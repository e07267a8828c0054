export interface Timeline {
  readonly bucketMs: number;
  readonly points: readonly { readonly at: string; readonly done: number; readonly failed: number }[];
}

/** A chart has no more points than pixels. */
const MOST_POINTS = 1_000;

/** Rates a second for a chart: steps without ended URLs, which the server leaves out, are zero. */
export function timelineSeries({ bucketMs, points }: Timeline): {
  readonly x: readonly number[];
  readonly done: readonly number[];
  readonly failed: readonly number[];
} {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return { x: [], done: [], failed: [] };
  const start = Date.parse(first.at);
  const steps = Math.round((Date.parse(last.at) - start) / bucketMs) + 1;
  const width = Math.ceil(steps / MOST_POINTS);
  const count = Math.ceil(steps / width);
  const done = new Array<number>(count).fill(0);
  const failed = new Array<number>(count).fill(0);
  const seconds = (bucketMs * width) / 1000;
  for (const point of points) {
    const index = Math.floor(Math.round((Date.parse(point.at) - start) / bucketMs) / width);
    done[index] = (done[index] ?? 0) + point.done / seconds;
    failed[index] = (failed[index] ?? 0) + point.failed / seconds;
  }
  return { x: Array.from({ length: count }, (_, index) => start / 1000 + index * seconds), done, failed };
}
