import { parseArgs } from 'node:util';
import { BOUND_MS, measureCalls } from './main-thread/measure.ts';
import { measureRequests } from './main-thread/measure-requests.ts';

/**
 * How long hostile input holds the event loop: `node test/fault/main-thread-run.ts --calls 5000 --requests 1000 [--seed 1]`.
 * A call or request that took too long is repeated with the same seed, `--first INDEX --calls 1 --requests 1`.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '5000' },
    requests: { type: 'string', default: '1000' },
    first: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
const first = Number(values.first);
const { histogram, repeated, worst } = measureCalls({
  calls: Number(values.calls),
  seed,
  first,
});
const requests = await measureRequests({ requests: Number(values.requests), seed, first });
const longest = requests.slice(0, 10);
process.stdout.write(`${JSON.stringify({ seed, histogram, repeated, worst, longest }, null, 2)}\n`);
process.exit([...worst, ...longest].every(({ ms }) => ms <= BOUND_MS) ? 0 : 1);
