import { parseArgs } from 'node:util';
import { killSnapshots } from './snapshot-kills.ts';

/** Kills a crawl with snapshots: `node test/fault/snapshot-kill-run.ts --kills 20 [--pages 2000] [--seed 1]`. */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    pages: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const [kills, pages, seed] = [Number(values.kills), Number(values.pages), Number(values.seed)];
say(`seed ${seed}: a crawl of ${pages} pages with snapshots is killed ${kills} times`);
const report = await killSnapshots({ kills, pages, seed, say });
say(JSON.stringify({ seed, ...report }));
process.exitCode = report.problems.length === 0 ? 0 : 1;
