import { parseArgs } from 'node:util';
import { fuzzApi } from './api-fuzz/fuzz-api.ts';

/**
 * The long form of fuzzing the API: `node test/fault/api-fuzz-run.ts --requests 100000 --minutes 10 [--seed 1]`. A run is
 * repeated with its seed as far as the order of the answers allows that.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
const say = (line: string) => void process.stdout.write(`${line}\n`);
say(`seed ${seed}: every operation of /openapi.json gets valid, nearly valid and hostile requests`);
const report = await fuzzApi({
  requests: Number(values.requests),
  leastMs: Number(values.minutes) * 60_000,
  seed,
  say,
});
say(JSON.stringify({ seed, ...report }, null, 2));
process.exitCode = report.problems.length === 0 ? 0 : 1;
