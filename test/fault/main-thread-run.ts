import { parseArgs } from 'node:util';
import { BOUND_MS, measureCalls } from './main-thread/measure.ts';

/**
 * How long hostile input holds the event loop: `node test/fault/main-thread-run.ts --calls 5000 [--seed 1]`. A call
 * that took too long is repeated with the same seed, `--first INDEX --calls 1`.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '5000' },
    first: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
const { histogram, repeated, worst } = measureCalls({
  calls: Number(values.calls),
  seed,
  first: Number(values.first),
});
process.stdout.write(`${JSON.stringify({ seed, histogram, repeated, worst }, null, 2)}\n`);
process.exitCode = worst.every(({ ms }) => ms <= BOUND_MS) ? 0 : 1;
