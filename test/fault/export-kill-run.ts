import { parseArgs } from 'node:util';
import { killExports } from './export-kills.ts';
import { haveServers } from './killed-processes.ts';

/** The long form of the kill test of exports: `node test/fault/export-kill-run.ts --profile fleet --kills 20 [--seed 1]`. */
const { values } = parseArgs({
  options: {
    profile: { type: 'string', default: 'embedded' },
    kills: { type: 'string', default: '20' },
    exports: { type: 'string', default: '3' },
    pages: { type: 'string', default: '800' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const profile = values.profile === 'fleet' ? 'fleet' : 'embedded';
const [kills, exportsPerLife, pages, seed] = [
  Number(values.kills),
  Number(values.exports),
  Number(values.pages),
  Number(values.seed),
];
const stopServers = await haveServers(profile);
const startedAt = performance.now();
say(`seed ${seed}: processes of the profile ${profile} are killed ${kills} times`);
const { problems, ...report } = await killExports({
  profile,
  kills,
  exportsPerLife,
  pages,
  seed,
  say,
}).finally(stopServers);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, ...report, seconds, problems: problems.slice(0, 50) }));
process.exitCode = problems.length === 0 ? 0 : 1;
