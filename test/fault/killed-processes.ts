import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServers } from '../../fleet/servers/servers.ts';
import type { Role } from '../../src/core/config/settings.ts';
import { gatherCrew } from '../fleet/crew.ts';
import { type Member, startMember } from '../fleet/member.ts';

/** Embedded: one process that does everything. Fleet: an API, a worker and two schedulers. */
export type KillProfile = 'embedded' | 'fleet';

/** The processes under test. */
export interface KilledProcesses {
  /** The API's address; it may be another one after a kill. */
  api(): string;
  /** Where the process keeps its data; null in a fleet. */
  readonly dataDir: string | null;
  /** Kills one of them by chance and starts it again. Returns its role. */
  kill(random: () => number): Promise<string>;
  close(): Promise<void>;
}

export const KILL_KEY = 'a-key-for-the-processes-that-are-killed';
const POLICY = 'default: { rate: unlimited, concurrency: 8 }\n';
const CALL_MS = 10_000;
const WAIT_MS = 180_000;

export const startKilled = (profile: KillProfile): Promise<KilledProcesses> =>
  profile === 'embedded' ? startAlone() : startFleet();

async function startAlone(): Promise<KilledProcesses> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-kills-'));
  const policyFile = join(dir, 'policy.yaml');
  await writeFile(policyFile, POLICY);
  const settings = {
    apiKey: KILL_KEY,
    allowPrivate: true,
    policyFile,
    extractThreads: 1,
    contact: 'https://a.example/',
  };
  const folder = join(dir, 'all');
  const start = () => startMember(folder, 'all', settings);
  let member = await start();
  return {
    api: () => member.origin,
    dataDir: join(folder, 'data'),
    async kill() {
      await end(member);
      member = await start();
      return 'all';
    },
    async close() {
      await end(member);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startFleet(): Promise<KilledProcesses> {
  const crew = await gatherCrew({ policy: POLICY, settings: { apiKey: KILL_KEY, hostLeaseMs: 8_000 } });
  const roles: Role[] = ['api', 'http-worker', 'scheduler', 'scheduler'];
  const members: Member[] = [];
  for (const role of roles) members.push(await crew.add(role));
  return {
    api: () => members[0]?.origin ?? '',
    dataDir: null,
    async kill(random) {
      // The schedulers deliver and export, so they are killed more often than the others.
      const at = random() < 0.6 ? 2 + Math.floor(random() * 2) : Math.floor(random() * 2);
      const [member, role] = [members[at], roles[at]];
      if (member === undefined || role === undefined) throw new Error('no such process');
      await end(member);
      members[at] = await crew.add(role);
      return role;
    },
    close: () => crew.close(),
  };
}

async function end(member: Member): Promise<void> {
  member.signal('SIGKILL');
  await member.ended;
}

/** Asks again until there is an answer: the process that would answer may be the one that was killed. */
export async function callKilled<T>(
  processes: Pick<KilledProcesses, 'api'>,
  method: string,
  path: string,
  body?: object,
  key?: string,
): Promise<T> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      const response = await fetch(`${processes.api()}${path}`, {
        method,
        headers: {
          'x-api-key': KILL_KEY,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(CALL_MS),
      });
      const answer = (await response.json()) as { success: boolean; data: T };
      if (answer.success) return answer.data;
      if (response.status < 500) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    } catch (error) {
      if (performance.now() > until || String(error).includes('"success":false')) throw error;
    }
    await delay(100);
  }
}

/** For runs outside of the tests: servers of the fleet, unless the environment names running ones. Returns what stops them. */
export async function haveServers(profile: KillProfile): Promise<() => Promise<void>> {
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
