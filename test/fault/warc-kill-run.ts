import { parseArgs } from 'node:util';
import { killRecording } from './warc-kills.ts';

/** Kills a crawl that is recorded into WARC files: `node test/fault/warc-kill-run.ts --kills 20 [--pages 2000] [--seed 1]`. */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    pages: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const [kills, pages, seed] = [Number(values.kills), Number(values.pages), Number(values.seed)];
const startedAt = performance.now();
say(`seed ${seed}: a recorded crawl of ${pages} pages is killed ${kills} times`);
const report = await killRecording({ kills, pages, seed, say });
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, ...report, seconds }));
process.exitCode = report.problems.length === 0 ? 0 : 1;
