import { Worker } from 'node:worker_threads';
import type { FuzzMark, FuzzThreadData } from './thread.ts';

export interface FuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  /** The number of the first input, to repeat one that failed. */
  readonly first?: number;
  /** A folder of `.html` or `.html.gz` files; null: only the pages of the tests are mutated. */
  readonly pagesDir: string | null;
  readonly say?: (line: string) => void;
}

export interface FuzzReport {
  readonly marks: readonly FuzzMark[];
  /** Everything that should not have been, in words. */
  readonly problems: readonly string[];
}

/** What has not ended by then will not: three times what a page may take in a crawl, because machines are busy. */
const LIMIT_MS = 60_000;
const WATCH_MS = 500;
/** What a thread of a crawl may have, and a little for the inputs themselves. */
const HEAP_MB = 768;
/** So much may what is left after a collection grow from the first mark to the last. */
const MOST_GROWTH_BYTES = 15 * 1_048_576;

/**
 * Extracts everything from inputs that no site would send, in a thread: a call that does not come back, or dies, is a
 * problem and not the end of the program.
 */
export async function fuzz({ say, first = 0, ...options }: FuzzOptions): Promise<FuzzReport> {
  const progress = new Int32Array(new SharedArrayBuffer(4));
  const marks: FuzzMark[] = [];
  const problems: string[] = [];
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: { ...options, first, progress } satisfies FuzzThreadData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  let watched = { input: 0, since: performance.now() };
  await new Promise<void>((resolve) => {
    const watch = setInterval(() => {
      const input = Atomics.load(progress, 0);
      if (input !== watched.input) watched = { input, since: performance.now() };
      else if (input > 0 && performance.now() - watched.since > LIMIT_MS) {
        problems.push(`input ${input - 1} took more than ${LIMIT_MS} ms`);
        void worker.terminate();
      }
    }, WATCH_MS);
    worker.on('message', (mark: FuzzMark) => {
      marks.push(mark);
      say?.(lineOf(mark));
    });
    worker.on('error', (error) =>
      problems.push(`input ${Atomics.load(progress, 0) - 1} killed the thread: ${error}`),
    );
    worker.on('exit', () => {
      clearInterval(watch);
      resolve();
    });
  });
  const last = marks.at(-1);
  if (last?.at !== options.inputs) problems.push(`only ${last?.at ?? 0} of ${options.inputs} were read`);
  return { marks, problems: [...problems, ...(last?.problems ?? []), ...growth(marks)] };
}

/** The first tenth is for what is made once: compiled code, tables, caches with a bound. */
function growth(marks: readonly FuzzMark[]): string[] {
  const [start, end] = [marks[0], marks.at(-1)];
  if (start === undefined || end === undefined) return [];
  const grown = end.heapBytes - start.heapBytes;
  return grown > MOST_GROWTH_BYTES ? [`the heap grew by ${grown} bytes`] : [];
}

const mb = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

function lineOf({ at, worst, totalMs, heapBytes, residentBytes, problems }: FuzzMark): string {
  return (
    `${at} inputs, ${(totalMs / at).toFixed(2)} ms each, the worst ${worst.ms.toFixed(0)} ms ` +
    `(input ${worst.index}, ${worst.chars} bytes); heap ${mb(heapBytes)} MB, process ${mb(residentBytes)} MB; ` +
    `${problems.length} problems`
  );
}
