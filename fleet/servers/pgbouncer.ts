import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { letThrough, serverUser } from './postgres.ts';
import { createServerProcess } from './server-process.ts';

export interface PgBouncerOptions {
  readonly dir: string;
  /** The PostgreSQL behind it, by its user and password. */
  readonly serverUrl: string;
  readonly poolMode: 'session' | 'transaction';
  /** Connections to each database of the server. */
  readonly poolSize: number;
}

export interface PgBouncer {
  /** The URL of a database of the server through the pooler, as Scrapifie wants it. */
  urlOf(serverUrl: string): string;
  stop(): Promise<void>;
}

const READY_MS = 15_000;

export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { dir, serverUrl, poolMode, poolSize } = options;
  const command = await findProgram('pgbouncer', { says: /PgBouncer/ });
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  // PgBouncer refuses to run as root, as PostgreSQL does.
  const user = await serverUser();
  const port = await freePort();
  await mkdir(dir, { recursive: true });
  const [configuration, users] = [join(dir, 'pgbouncer.ini'), join(dir, 'users.txt')];
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`, {
    mode: 0o600,
  });
  await writeFile(
    configuration,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 1000
query_wait_timeout = 15
server_login_retry = 1
`,
  );
  if (user !== null) {
    for (const path of [dir, configuration, users]) await chown(path, user.uid, user.gid);
    await letThrough(dir);
  }
  const urlOf = (url: string) => {
    const pooled = new URL(url);
    pooled.port = String(port);
    pooled.searchParams.set('pgbouncer', 'true');
    return pooled.href;
  };
  const server = createServerProcess({
    name: 'PgBouncer',
    command,
    args: [configuration],
    cwd: dir,
    logFile: join(dir, 'pgbouncer.log'),
    ...(user === null ? {} : { user }),
    stopSignal: 'SIGTERM',
    readyMs: READY_MS,
    isReady: async () => {
      const client = new Client({ connectionString: urlOf(serverUrl), connectionTimeoutMillis: 2_000 });
      client.on('error', () => undefined);
      await client.connect();
      await client.end();
      return true;
    },
  });
  await server.start();
  return { urlOf, stop: server.stop };
}
