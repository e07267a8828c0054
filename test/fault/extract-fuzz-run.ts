import { parseArgs } from 'node:util';
import { fuzz } from './extract-fuzz/fuzz.ts';

/**
 * The long form of fuzzing the extraction: `node test/fault/extract-fuzz-run.ts --inputs 100000 [--seed 1] [--pages DIR]`.
 * An input that failed is repeated with the same seed, `--first NUMBER --inputs 1`.
 */
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    first: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    pages: { type: 'string' },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const inputs = Number(values.inputs);
const seed = Number(values.seed);
say(`seed ${seed}: everything is extracted from ${inputs} broken documents`);

const startedAt = performance.now();
const { marks, problems } = await fuzz({
  inputs,
  seed,
  first: Number(values.first),
  pagesDir: values.pages ?? null,
  say,
});
const [start, end] = [marks[0], marks.at(-1)];
say(
  JSON.stringify({
    seed,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    inputs: end?.at ?? 0,
    counts: end?.counts,
    errors: end?.errors,
    worst: end?.worst,
    heapBytesAtFirst: start?.heapBytes,
    heapBytesAtLast: end?.heapBytes,
    problems,
  }),
);
process.exitCode = problems.length === 0 ? 0 : 1;
