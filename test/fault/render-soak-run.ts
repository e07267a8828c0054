import { parseArgs } from 'node:util';
import { soak } from './render-soak.ts';
import { soakProblems } from './render-verdict.ts';

/** The long form of the render soak: `node test/fault/render-soak-run.ts --pages 1000 [--seed 1]`. */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const pages = Number(values.pages);
const seed = Number(values.seed);
say(`seed ${seed}: ${pages} pages are rendered while renderers and browsers are killed`);

const startedAt = performance.now();
const report = await soak({ pages, seed, say });
const problems = soakProblems(report, pages);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, seconds, ...report, problems }));
process.exitCode = problems.length === 0 ? 0 : 1;
