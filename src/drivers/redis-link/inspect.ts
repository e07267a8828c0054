import type { RedisFacts } from '../../core/ports/server-facts.ts';
import { openRedisLink } from './redis-link.ts';

/** Looks at a server and changes nothing. Throws QUEUE_UNAVAILABLE, QUEUE_REFUSED, or QUEUE_UNSAFE for one that throws keys away. */
export async function inspectRedis(url: string, prefix: string): Promise<RedisFacts> {
  const link = await openRedisLink({ url, prefix });
  try {
    const info = await link.run((client) => client.info());
    const field = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    // Managed servers may refuse CONFIG; without it the last save tells.
    const saves = await link
      .run(async (client) => (await client.call('CONFIG', 'GET', 'save')) as readonly string[])
      .catch(() => []);
    const mostClients = Number(field('maxclients'));
    return {
      address: link.address,
      version: field('redis_version'),
      mode: field('redis_mode'),
      isReplica: field('role') === 'slave',
      mostMemoryBytes: Number(field('maxmemory')),
      usedMemoryBytes: Number(field('used_memory')),
      evictionPolicy: field('maxmemory_policy'),
      isPersistent: field('aof_enabled') === '1' || (saves[1] ?? '') !== '',
      freeConnections:
        mostClients === 0 ? Number.POSITIVE_INFINITY : mostClients - Number(field('connected_clients')),
    };
  } finally {
    await link.close();
  }
}
