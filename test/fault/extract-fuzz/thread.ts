import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { extractAll } from './extraction.ts';
import { type FuzzInput, fuzzInputs } from './inputs.ts';

/** What the thread is given; `progress[0]` is the number of the input it is at. */
export interface FuzzThreadData {
  readonly first: number;
  readonly inputs: number;
  readonly seed: number;
  readonly pagesDir: string | null;
  readonly progress: Int32Array<SharedArrayBuffer>;
}

/** Sent once for every tenth of the inputs. */
export interface FuzzMark {
  readonly at: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Typed errors by their code. */
  readonly errors: Readonly<Record<string, number>>;
  /** In time of the processor, whatever else it was busy with. */
  readonly worst: { readonly ms: number; readonly index: number; readonly chars: number };
  readonly totalMs: number;
  /** Memory after a collection of garbage. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Everything that should not have been, in words. */
  readonly problems: readonly string[];
}

const MARKS = 10;
/** One input in so many is read twice. */
const TWICE_EVERY = 50;
const MOST_PROBLEMS = 20;
/** What a page may take in a crawl before its thread is given up. */
const MOST_MS = 20_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const { first, inputs, seed, pagesDir, progress } = workerData as FuzzThreadData;
const counts: Record<string, number> = {};
const errors: Record<string, number> = {};
const problems: string[] = [];
const given = fuzzInputs(seed, pagesDir);
let worst = { ms: 0, index: -1, chars: 0 };
let totalMs = 0;

async function attempt(input: FuzzInput, index: number): Promise<void> {
  const before = process.threadCpuUsage();
  const { written, code } = await extractAll(input);
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1_000;
  totalMs += ms;
  if (ms > MOST_MS) problems.push(`input ${index} (${input.kind}) took ${Math.round(ms)} ms`);
  if (ms > worst.ms) worst = { ms, index, chars: input.body.byteLength };
  if (code !== null) errors[code] = (errors[code] ?? 0) + 1;
  else if (index % TWICE_EVERY === 0 && input.kind !== 'pdf' && (await extractAll(input)).written !== written)
    problems.push(`input ${index} (${input.kind}) is not read the same twice`);
}

function mark(at: number): void {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  parentPort?.postMessage({
    at,
    counts,
    errors,
    worst,
    totalMs,
    heapBytes: heapUsed,
    residentBytes: rss,
    problems,
  } satisfies FuzzMark);
}

const step = Math.max(1, Math.floor(inputs / MARKS));
for (let done = 0; done < inputs && problems.length < MOST_PROBLEMS; ) {
  const index = first + done;
  const input = given.at(index);
  Atomics.store(progress, 0, index + 1);
  counts[input.kind] = (counts[input.kind] ?? 0) + 1;
  try {
    await attempt(input, index);
  } catch (error) {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    problems.push(`input ${index} (${input.kind}): ${said.split('\n').slice(0, 4).join(' ')}`);
  }
  done++;
  if (done % step === 0 || done === inputs) mark(done);
}
if (problems.length >= MOST_PROBLEMS) mark(inputs);
