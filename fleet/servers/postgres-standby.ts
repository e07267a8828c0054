import { appendFile, chown, cp, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { letThrough, type PostgresServer, serverUser, startPostgres } from './postgres.ts';

export interface PostgresStandby extends PostgresServer {
  /** Makes it a primary of its own. */
  promote(): Promise<void>;
  /** Has it keep what it receives and not show it, until `goOn`. */
  holdBack(): Promise<void>;
  goOn(): Promise<void>;
}

/** A hot standby that follows the server by streaming replication, from a base copy of it. */
export async function startStandby(options: {
  readonly dir: string;
  readonly of: PostgresServer;
  /** Further settings of the standby. */
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<PostgresStandby> {
  const { dir, of: primary } = options;
  const { hostname, port, username, password } = new URL(primary.adminUrl);
  const user = await serverUser();
  const data = join(dir, 'data');
  await mkdir(dir, { recursive: true });
  const copy = await primary.takeCopy();
  // A rename keeps owner and rights; folders on another disk are copied.
  await rename(copy.dir, data).catch(() => cp(copy.dir, data, { recursive: true, preserveTimestamps: true }));
  const login = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${login}'\n`);
  await writeFile(join(data, 'standby.signal'), '');
  await writeFile(join(dir, 'password'), password, { mode: 0o600 });
  if (user !== null) {
    for (const path of [dir, data, join(data, 'standby.signal')]) await chown(path, user.uid, user.gid);
    await letThrough(dir);
  }
  const server = await startPostgres({ dir, settings: options.settings ?? {} });
  const run = async (sql: string) => {
    const client = new Client({ connectionString: server.adminUrl });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return Object.defineProperties(
    {
      promote: () => run('SELECT pg_promote()'),
      async holdBack() {
        await run('SELECT pg_wal_replay_pause()');
        // The standby is only asked to pause, and does so when the next record comes.
        await run(
          `DO $$ BEGIN WHILE pg_get_wal_replay_pause_state() <> 'paused' LOOP PERFORM pg_sleep(0.01); END LOOP; END $$`,
        );
      },
      goOn: () => run('SELECT pg_wal_replay_resume()'),
    },
    // The properties are copied as they are, so that getters stay getters.
    Object.getOwnPropertyDescriptors(server),
  ) as PostgresStandby;
}
