import { parseArgs } from 'node:util';
import { cutPower, whyNoDisk } from './power-cuts.ts';

/** The long form of the test of power failures: `node test/fault/power-cut-run.ts --pages 3000 --cuts 20 [--seed 1]`. */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '3000' },
    cuts: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const why = whyNoDisk();
if (why !== null) say(`not run: ${why}`);
else {
  const seed = Number(values.seed);
  say(`seed ${seed}: the power fails ${values.cuts} times`);
  const { problems, ...report } = await cutPower({
    pages: Number(values.pages),
    cuts: Number(values.cuts),
    seed,
    say,
  });
  say(JSON.stringify({ seed, ...report, problems: problems.length, first: problems.slice(0, 20) }));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
