import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { environmentName, type Role, type Settings } from '../src/core/config/settings.ts';
import { makeKeyFile } from '../src/core/config/vault-keys.ts';
import { type ReverseProxy, startReverseProxy } from './reverse-proxy.ts';
import { createRoleProcess, type RoleProcess } from './role-process.ts';
import { type FleetServers, startServers } from './servers/servers.ts';

export type FleetSize = Readonly<Partial<Record<Role, number>>>;

export const SIZES = {
  full: { api: 2, 'http-worker': 3, 'browser-worker': 1, scheduler: 1 },
  small: { api: 1, 'http-worker': 1, scheduler: 1 },
} as const satisfies Record<string, FleetSize>;

export interface OwnOptions {
  readonly settings?: Readonly<Partial<Settings>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface FleetOptions {
  /** For data and logs. Made when it is not there; must be empty. */
  readonly dir: string;
  /** Left out: the full one. */
  readonly size?: FleetSize;
  /** Port of the proxy; 0, or left out, takes a free one. */
  readonly port?: number;
  /** The same for every process; role, port, data folder and servers are the fleet's to choose. */
  readonly settings?: Readonly<Partial<Settings>>;
  /** What one process has beside that: settings of its own, and variables that are no settings. */
  readonly own?: (name: string, role: Role) => OwnOptions;
  /** Servers that run already and go on after the fleet has stopped. Left out: the fleet's own. */
  readonly servers?: FleetServers;
  /** Whether a process that dies is started again by itself; yes when left out. */
  readonly isKeptUp?: boolean;
}

/** Servers, the processes of all roles, and a proxy before the APIs; all on this machine's own address. */
export interface Fleet {
  /** Address of the proxy before the APIs. */
  readonly origin: string;
  readonly apiKey: string;
  readonly servers: FleetServers;
  /** In the order in which they were started. */
  readonly processes: readonly RoleProcess[];
  of(role: Role): readonly RoleProcess[];
  /** Stops the proxy, then the processes, which finish their work, then the servers. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 3_000;
/** What a process needs beyond the time for its work. */
const CLOSE_MS = 10_000;
/** Nothing but the fleet's own proxy sends requests to its APIs, and it is closed before they are stopped. */
const NOTICE_MS = 0;
const DRAIN_MS = 30_000;
const PROXY_CLOSE_MS = 5_000;

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { dir, size = SIZES.full, isKeptUp = true, settings = {}, own } = options;
  mkdirSync(dir, { recursive: true });
  const servers = options.servers ?? (await startServers({ dir: join(dir, 'servers') }));
  const apiKey = settings.apiKey ?? `fleet-${randomBytes(24).toString('base64url')}`;
  // All processes need the same one, also when the fleet is started again on what it left.
  const vaultKey = settings.vaultKey ?? makeKeyFile(join(dir, 'vault.key'))[0];
  const { drainNoticeMs = NOTICE_MS } = settings;
  const environment = environmentOf({
    ...settings,
    // A process tells its address in a line of this level.
    logLevel: settings.logLevel === 'trace' || settings.logLevel === 'debug' ? settings.logLevel : 'info',
    apiKey,
    vaultKey,
    drainNoticeMs,
    databaseUrl: servers.postgres.url,
    redisUrl: servers.redis.url,
    s3Url: servers.s3.url,
  });
  const stopMs = drainNoticeMs + (settings.drainMs ?? DRAIN_MS) + CLOSE_MS;
  const processes = Object.entries(size).flatMap(([role, count]) =>
    Array.from({ length: count }, (_, index) => {
      const name = `${role}-${index + 1}`;
      const other: OwnOptions = own?.(name, role as Role) ?? {};
      return createRoleProcess({
        name,
        role: role as Role,
        dir,
        environment: { ...environment, ...environmentOf(other.settings ?? {}), ...other.environment },
        isKeptUp,
        stopMs,
      });
    }),
  );
  const of = (role: Role) => processes.filter((process) => process.role === role);
  const looking = setInterval(() => void Promise.all(processes.map((one) => one.look())), LOOK_EVERY_MS);
  looking.unref();

  /** A process that answers but lacks something says so itself, and better than the proxy could. */
  const targets = () => {
    const answering = of('api').filter(({ state }) => state === 'ready' || state === 'unready');
    const ready = answering.filter(({ state }) => state === 'ready');
    return (ready.length > 0 ? ready : answering).flatMap(({ origin }) => origin ?? []);
  };

  let proxy: ReverseProxy | null = null;
  const stop = async () => {
    clearInterval(looking);
    await proxy?.close(PROXY_CLOSE_MS);
    await Promise.all(processes.map((one) => one.stop()));
    if (options.servers === undefined) await servers.stop();
  };
  try {
    // The first brings the database up to date; the others would only wait for it.
    const [first, ...others] = processes;
    await first?.start();
    await allStarted(others);
    proxy = await startReverseProxy({ port: options.port ?? 0, targets });
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin: proxy.origin, apiKey, servers, processes, of, stop };
}

/** Throws what went wrong first, when every start is over and nothing more can begin. */
async function allStarted(processes: readonly RoleProcess[]): Promise<void> {
  const starts = await Promise.allSettled(processes.map((one) => one.start()));
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
}

function environmentOf(settings: Readonly<Partial<Settings>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [environmentName(name), String(value)]),
  );
}
