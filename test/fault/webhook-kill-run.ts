import { parseArgs } from 'node:util';
import { haveServers } from './killed-processes.ts';
import { killWebhooks } from './webhook-kills.ts';

/** The long form of the kill test of webhooks: `node test/fault/webhook-kill-run.ts --profile fleet --kills 20 [--seed 1]`. */
const { values } = parseArgs({
  options: {
    profile: { type: 'string', default: 'embedded' },
    kills: { type: 'string', default: '20' },
    jobs: { type: 'string', default: '4' },
    pages: { type: 'string', default: '25' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const { kills, jobs, pages, seed } = values;
const profile = values.profile === 'fleet' ? 'fleet' : 'embedded';
const options = {
  profile,
  kills: Number(kills),
  jobsPerLife: Number(jobs),
  pagesPerJob: Number(pages),
  seed: Number(seed),
  say,
} as const;

const stopServers = await haveServers(profile);
const startedAt = performance.now();
say(`seed ${seed}: processes of the profile ${profile} are killed ${kills} times`);
const { problems, ...report } = await killWebhooks(options).finally(stopServers);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, ...report, seconds, problems: problems.slice(0, 50) }));
process.exitCode = problems.length === 0 ? 0 : 1;
