import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { type RedisServer, startRedis } from './redis.ts';

export interface RedisCluster {
  /** `redis+cluster://` with all nodes. */
  readonly url: string;
  /** Three primaries, which share the slots in this order, and a replica of the first. */
  readonly nodes: readonly RedisServer[];
  /** Whether keys that begin with this are on the first primary, which has the replica. */
  isOnFirst(prefix: string): Promise<boolean>;
  /** The replica takes the place of the first primary, which becomes its replica. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const PRIMARIES = 3;
const SLOTS = 16_384;
const READY_MS = 30_000;
const LOOK_MS = 20;
const FAIL_OVER_MS = 6_000;

/** The smallest Redis Cluster that survives the loss of a primary. */
export async function startRedisCluster({ dir }: { readonly dir: string }): Promise<RedisCluster> {
  const settled = await Promise.allSettled(
    Array.from({ length: PRIMARIES + 1 }, async (_, at) => {
      const settings = {
        'cluster-enabled': 'yes',
        'cluster-node-timeout': '2000',
        'cluster-port': String(await freePort()),
        // A replica that was just made has the same data as its primary.
        'cluster-replica-validity-factor': '0',
        'repl-diskless-sync-delay': '0',
      };
      return {
        port: settings['cluster-port'],
        server: await startRedis({ dir: join(dir, `node-${at}`), settings }),
      };
    }),
  );
  const started = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const nodes = started.map(({ server }) => server);
  const clients = nodes.map(({ url }) => new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0 }));
  for (const client of clients) client.on('error', () => undefined);
  const ask = (at: number, ...command: string[]) => {
    const [name = '', ...values] = command;
    const client = clients[at];
    if (client === undefined) throw new Error(`There is no node ${at}.`);
    return client.call(name, ...values);
  };
  const stop = async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const until = async (what: string, isTrue: () => Promise<boolean>) => {
    for (const deadline = performance.now() + READY_MS; performance.now() < deadline; await pause(LOOK_MS)) {
      if (await isTrue().catch(() => false)) return;
    }
    throw new Error(`The Redis cluster: ${what} took longer than ${READY_MS} ms.`);
  };
  const isPrimary = async (at: number) =>
    String(await ask(at, 'INFO', 'replication')).includes('role:master');

  try {
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    for (let at = 0; at < PRIMARIES; at += 1) {
      const [from, to] = [at, at + 1].map((n) => Math.floor((n * SLOTS) / PRIMARIES));
      await ask(at, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
    }
    for (const [at, { port, server }] of started.entries()) {
      if (at > 0) await ask(0, 'CLUSTER', 'MEET', '127.0.0.1', new URL(server.url).port, port);
    }
    const isJoined = async (at: number) => {
      const info = String(await ask(at, 'CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
    };
    for (const at of nodes.keys()) await until('joining', () => isJoined(at));
    await ask(PRIMARIES, 'CLUSTER', 'REPLICATE', String(await ask(0, 'CLUSTER', 'MYID')));
    await until('the first replication', async () =>
      String(await ask(PRIMARIES, 'INFO', 'replication')).includes('master_link_status:up'),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join(',')}`,
    nodes,
    isOnFirst: async (prefix) =>
      Number(await ask(0, 'CLUSTER', 'KEYSLOT', `{${prefix}}`)) < Math.floor(SLOTS / PRIMARIES),
    async failOver() {
      let askedAt = Number.NEGATIVE_INFINITY;
      await until('the fail-over', async () => {
        // Primaries that have not got to know each other yet do not vote, and the attempt ends after five seconds.
        if (performance.now() - askedAt > FAIL_OVER_MS) {
          askedAt = performance.now();
          await ask(PRIMARIES, 'CLUSTER', 'FAILOVER');
        }
        return (await isPrimary(PRIMARIES)) && !(await isPrimary(0));
      });
    },
    stop,
  };
}
