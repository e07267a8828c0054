import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Fleet, startFleet } from '../../../fleet/fleet.ts';
import type { RoleProcess } from '../../../fleet/role-process.ts';
import { type FleetServers, startServers } from '../../../fleet/servers/servers.ts';
import { environmentName, type Settings } from '../../../src/core/config/settings.ts';
import { type RemoteSite, spawnSite } from '../../site/remote-site.ts';
import { type FaultProxy, isCommitted, openFaultProxy, throughProxy } from './fault-proxy.ts';
import { openS3FaultLayer, type S3FaultLayer } from './s3-fault-layer.ts';

export interface StageOptions {
  /** For data, logs and the policy. Must be empty. */
  readonly dir: string;
  readonly workers: number;
  readonly hasBrowser: boolean;
  readonly ratePerSecond: number;
  readonly connections: number;
  /** Settings of every process, by their own names. */
  readonly drainMs: number;
  readonly drainNoticeMs: number;
  /** Most requests that the site keeps in its log. */
  readonly logLimit: number;
}

/** The lines of one process. */
export interface Links {
  readonly postgres: FaultProxy;
  readonly redis: FaultProxy;
}

/** A web and the fleet that crawls it. Every worker says its name with every request, and every line can be broken. */
export interface Stage {
  readonly dir: string;
  readonly site: RemoteSite;
  readonly fleet: Fleet;
  readonly servers: FleetServers;
  /** Workers, APIs and the scheduler. */
  readonly processes: readonly RoleProcess[];
  linksOf(process: string): Links;
  readonly s3: S3FaultLayer;
  /** The file system of PostgreSQL alone, which can be filled up; null where no file system can be mounted. */
  readonly postgresMount: string | null;
  /** A file from which the process takes orders; see process-preload.ts. */
  controlFileOf(process: string): string;
  /** Settings for a command of the program that works on this fleet's servers, past all proxies. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  /** SIGTERM to every process; servers and site go on. */
  stopFleet(): Promise<void>;
  stop(): Promise<void>;
}

const run = promisify(execFile);
const POSTGRES_MOUNT_MB = 1_500;
/** Small enough that a process whose memory grows without end is found out, and that filling it takes a second. */
const HEAP_MB = 700;
const PRELOAD = pathToFileURL(fileURLToPath(new URL('process-preload.ts', import.meta.url))).href;

export async function startStage(options: StageOptions): Promise<Stage> {
  const { dir, ratePerSecond, connections, drainMs, drainNoticeMs } = options;
  const policyFile = join(dir, 'policy.yaml');
  await writeFile(policyFile, `default: { rate: ${ratePerSecond}, burst: 1, concurrency: ${connections} }\n`);
  // Schedules of tenants run every few seconds, so that many runs meet faults.
  const minScheduleSeconds = 1;
  const settings: Partial<Settings> = {
    ...{ policyFile, allowPrivate: true, drainMs, browserPages: 2, minScheduleSeconds },
  };
  const closers: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const site = await spawnSite({ log: 'full', logLimit: options.logLimit });
    // Servers and roles have a guard that ends them with this process.
    const endSite = () => process.kill(site.pid);
    process.once('exit', endSite);
    closers.push(async () => {
      process.off('exit', endSite);
      await site.close();
    });
    const serversDir = join(dir, 'servers');
    const postgresMount = await mountMemory(join(serversDir, 'postgres'), closers);
    const servers = await startServers({ dir: serversDir });
    closers.push(() => servers.stop());
    const s3 = await openS3FaultLayer(portOf(servers.s3.url));
    closers.push(() => s3.close());
    const size = {
      api: 2,
      'http-worker': options.workers,
      ...(options.hasBrowser ? { 'browser-worker': 1 } : {}),
      scheduler: 1,
    };
    const links = new Map<string, Links>();
    for (const [role, count] of Object.entries(size)) {
      for (let index = 1; index <= count; index++) {
        links.set(`${role}-${index}`, await openLinks(servers, closers));
      }
    }
    const linksOf = (name: string) => {
      const found = links.get(name);
      if (found === undefined) throw new Error(`The fleet has no ${name}.`);
      return found;
    };
    const controlFileOf = (name: string) => join(dir, `${name}.control`);
    const fleet = await startFleet({
      ...{ dir, size, settings, servers },
      own: (name) => ({
        settings: {
          // Workers have no balancer before them.
          drainNoticeMs: name.startsWith('api') ? drainNoticeMs : 0,
          contact: name,
          databaseUrl: throughProxy(servers.postgres.url, linksOf(name).postgres),
          redisUrl: throughProxy(servers.redis.url, linksOf(name).redis),
          s3Url: throughProxy(servers.s3.url, s3),
        },
        environment: {
          NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import=${PRELOAD}`,
          TEST_PROCESS_CONTROL: controlFileOf(name),
        },
      }),
    });
    let stopped: Promise<void> | null = null;
    const stopFleet = () => {
      stopped ??= fleet.stop();
      return stopped;
    };
    closers.push(stopFleet);
    const direct: Partial<Settings> = {
      ...{ databaseUrl: servers.postgres.url, redisUrl: servers.redis.url, s3Url: servers.s3.url },
      dataDir: join(dir, 'command'),
    };
    return {
      ...{ dir, site, fleet, servers, processes: fleet.processes, linksOf, s3, postgresMount, controlFileOf },
      ...{ stopFleet, stop },
      commandEnvironment: Object.fromEntries(
        Object.entries(direct).map(([name, value]) => [environmentName(name), String(value)]),
      ),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openLinks(
  { postgres, redis }: FleetServers,
  closers: (() => Promise<void>)[],
): Promise<Links> {
  const links = {
    postgres: await openFaultProxy({ targetPort: portOf(postgres.url), isWholeReply: isCommitted }),
    redis: await openFaultProxy({ targetPort: portOf(redis.url) }),
  };
  closers.push(async () => {
    await Promise.all([links.postgres.close(), links.redis.close()]);
  });
  return links;
}

/** A file system of a fixed size; null without the right to mount one. */
async function mountMemory(dir: string, closers: (() => Promise<void>)[]): Promise<string | null> {
  await mkdir(dir, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${POSTGRES_MOUNT_MB}m`, 'tmpfs', dir]);
  } catch {
    return null;
  }
  // Unmounts when its input ends, which is when it is told to and also when this process dies without a word.
  const guard = spawn('/bin/sh', ['-c', 'cat; sleep 1; umount -l "$1"', 'sh', dir], {
    ...{ detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  });
  closers.push(async () => {
    const ended = once(guard, 'exit');
    guard.stdin?.end();
    await ended;
  });
  return dir;
}

const portOf = (url: string) => Number(new URL(url).port);

/** Which worker sent a request with this user agent. */
export function workerNamed(userAgent: string | undefined): string {
  return /\(\+([^)]+)\)/.exec(userAgent ?? '')?.[1] ?? 'unknown';
}
