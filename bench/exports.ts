import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * What exports cost beside their libraries alone: the same rows, in turns, each side in a process of its own.
 * `node bench/exports.ts --rows 1000000 --rounds 3`. Ends with 1 when a format is slower than 0.7 times its library, or grows
 * by more than 100 MB.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    formats: { type: 'string', default: 'csv,xlsx,json,ndjson,parquet' },
  },
});
const RUN = fileURLToPath(new URL('./exports/run.ts', import.meta.url));
const LEAST_SHARE = 0.7;
const MOST_GROWN_BYTES = 100_000_000;

interface Measured {
  readonly rowsPerSecond: number;
  /** Of all threads: what others do on the machine does not count. */
  readonly cpuSeconds: number;
  readonly grownBytes: number;
  readonly bytes: number;
}

function measure(format: string, side: 'ours' | 'bare'): Measured {
  const flags = ['--disable-warning=ExperimentalWarning'];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, RUN, format, side, values.rows], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${format} ${side}: ${stderr.slice(0, 2_000)}`);
  return JSON.parse(stdout) as Measured;
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

let isGood = true;
process.stdout.write(`${values.rows} rows, median of ${values.rounds}\n`);
for (const format of values.formats.split(',')) {
  const sides = { ours: [] as Measured[], bare: [] as Measured[] };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const side of ['bare', 'ours'] as const) sides[side].push(measure(format, side));
  }
  const [ours, bare] = [sides.ours, sides.bare].map((all) => median(all.map((each) => each.rowsPerSecond)));
  const grown = Math.max(...sides.ours.map(({ grownBytes }) => grownBytes));
  const share = (ours ?? 0) / (bare ?? 1);
  const [ourCpu, bareCpu] = [sides.ours, sides.bare].map((all) => median(all.map((each) => each.cpuSeconds)));
  const cpu = (bareCpu ?? 0) / (ourCpu ?? 1);
  if (share < LEAST_SHARE || grown > MOST_GROWN_BYTES) isGood = false;
  process.stdout.write(
    `${format.padEnd(8)} ${Math.round(ours ?? 0)} rows/s, library alone ${Math.round(bare ?? 0)} (${share.toFixed(2)}×; by CPU ${cpu.toFixed(2)}×), ` +
      `${((sides.ours[0]?.bytes ?? 0) / 1e6).toFixed(1)} MB, memory +${(grown / 1e6).toFixed(0)} MB\n`,
  );
}
process.exitCode = isGood ? 0 : 1;
