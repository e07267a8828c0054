import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { startS3 } from './s3.ts';
import type { S3Server } from './s3-server.ts';

/** What a fleet runs on. */
export interface FleetServers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly s3: S3Server;
  stop(): Promise<void>;
}

/** Starts the three at once, each in a folder of its own below this one. When one fails, none is left. */
export async function startServers({ dir }: { readonly dir: string }): Promise<FleetServers> {
  await mkdir(dir, { recursive: true });
  const starting = [
    startPostgres({ dir: join(dir, 'postgres') }),
    startRedis({ dir: join(dir, 'redis') }),
    startS3({ dir: join(dir, 's3') }),
  ] as const;
  const stop = async () => {
    const started = await Promise.allSettled(starting);
    await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.stop() : null)));
  };
  try {
    const [postgres, redis, s3] = await Promise.all(starting);
    return { postgres, redis, s3, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
