import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fleet, startFleet } from '../../../fleet/fleet.ts';
import { createRoleProcess, type RoleProcess } from '../../../fleet/role-process.ts';
import { environmentName, type Settings } from '../../../src/config/settings.ts';
import { type RemoteSite, spawnSite } from '../../site/remote-site.ts';

export interface StageOptions {
  /** For data, logs and the policy. Must be empty. */
  readonly dir: string;
  readonly workers: number;
  readonly ratePerSecond: number;
  readonly connections: number;
  /** Most requests that the site keeps in its log. */
  readonly logLimit: number;
}

/** A web and the fleet that crawls it. Whoever works says its name with every request. */
export interface Stage {
  readonly site: RemoteSite;
  readonly fleet: Fleet;
  readonly workers: readonly RoleProcess[];
  /** Workers, APIs and the scheduler. */
  readonly processes: readonly RoleProcess[];
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const DRAIN_MS = 5_000;
const STOP_MS = 15_000;

export async function startStage(options: StageOptions): Promise<Stage> {
  const { dir, ratePerSecond, connections } = options;
  const policyFile = join(dir, 'policy.yaml');
  await writeFile(policyFile, `default: { rate: ${ratePerSecond}, burst: 1, concurrency: ${connections} }\n`);
  const settings: Partial<Settings> = { policyFile, allowPrivate: true, drainMs: DRAIN_MS };
  const site = await spawnSite({ log: 'full', logLimit: options.logLimit });
  const closers = [() => site.close()];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const fleet = await startFleet({ dir, size: { api: 2, scheduler: 1 }, settings });
    closers.push(() => fleet.stop());
    const workers = Array.from({ length: options.workers }, (_, index) =>
      namedWorker(`http-worker-${index + 1}`, dir, settings, fleet),
    );
    const looking = setInterval(() => void Promise.all(workers.map((one) => one.look())), LOOK_EVERY_MS);
    closers.push(async () => {
      clearInterval(looking);
      await Promise.all(workers.map((worker) => worker.stop()));
    });
    await Promise.all(workers.map((worker) => worker.start()));
    return { site, fleet, workers, processes: [...workers, ...fleet.processes], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A worker of the fleet whose user agent has its name, which the fleet's own do not. */
function namedWorker(name: string, dir: string, settings: Partial<Settings>, fleet: Fleet): RoleProcess {
  const { postgres, redis, s3 } = fleet.servers;
  const own: Partial<Settings> = {
    ...settings,
    contact: name,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    s3Url: s3.url,
  };
  const environment = Object.fromEntries(
    Object.entries(own).map(([setting, value]) => [environmentName(setting), String(value)]),
  );
  return createRoleProcess({ name, role: 'http-worker', dir, environment, isKeptUp: true, stopMs: STOP_MS });
}

/** Which worker sent a request with this user agent. */
export function workerNamed(userAgent: string | undefined): string {
  return /\(\+([^)]+)\)/.exec(userAgent ?? '')?.[1] ?? 'unknown';
}
