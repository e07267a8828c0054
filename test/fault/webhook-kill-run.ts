import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServers } from '../../fleet/servers/servers.ts';
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

/** Servers of the fleet, unless the environment names running ones. Returns what stops them. */
async function haveServers(): Promise<() => Promise<void>> {
  process.env.FLEET_TEST_PROFILE = profile;
  if (profile === 'embedded' || process.env.FLEET_TEST_POSTGRES_URL !== undefined)
    return async () => undefined;
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-servers-'));
  const servers = await startServers({ dir });
  process.env.FLEET_TEST_POSTGRES_URL = servers.postgres.url;
  process.env.FLEET_TEST_REDIS_URL = servers.redis.url;
  process.env.FLEET_TEST_S3_URL = servers.s3.url;
  return async () => {
    await servers.stop();
    await rm(dir, { recursive: true, force: true });
  };
}

const stopServers = await haveServers();
const startedAt = performance.now();
say(`seed ${seed}: processes of the profile ${profile} are killed ${kills} times`);
const { problems, ...report } = await killWebhooks(options).finally(stopServers);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, ...report, seconds, problems: problems.slice(0, 50) }));
process.exitCode = problems.length === 0 ? 0 : 1;
