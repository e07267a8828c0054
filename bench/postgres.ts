import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../fleet/servers/postgres.ts';

/** An installation to measure: the folder of SQLite, or a database. */
export interface StoreUnderTest {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly place: {
    readonly dataDir: string;
    readonly databaseUrl: string | undefined;
    readonly databasePool: number;
  };
}

/** Measures both stores one after the other, each empty at first and removed afterwards. */
export async function withBothStores<T>(
  scratch: string,
  measure: (store: StoreUnderTest) => Promise<T>,
): Promise<T[]> {
  const databasePool = 4;
  const sqlite = await measure({
    name: 'SQLite',
    place: { dataDir: scratch, databaseUrl: undefined, databasePool },
  });
  // Its user may have no right to the folders of this project.
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-bench-'));
  const server = await startPostgres({ dir: join(dir, 'postgres'), settings: { shared_buffers: '512MB' } });
  try {
    const place = { dataDir: dir, databaseUrl: server.url, databasePool };
    return [sqlite, await measure({ name: 'PostgreSQL', place })];
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}
