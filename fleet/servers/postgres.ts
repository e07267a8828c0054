import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chmod, chown, glob, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { type BaseCopy, type ComingBack, putCopy, takeBaseCopy } from './postgres-copy.ts';
import { createServerProcess } from './server-process.ts';

export interface PostgresOptions {
  /** Made when it is not there. A database cluster that is in it is used as it is. */
  readonly dir: string;
  /** Further settings of the server, such as `{ log_statement: 'all' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer {
  /** Address of the database `scrapifie`. */
  readonly url: string;
  /** The database `postgres`, for work on the server itself. Same user, who may do everything. */
  readonly adminUrl: string;
  /** The postmaster; 0 while it is down. */
  readonly pid: number;
  /** Resolves with the URL of a new, empty database. */
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Ends every other connection, as a failover or an administrator does. Resolves with how many. */
  dropConnections(): Promise<number>;
  /** A fast shutdown: open transactions are rolled back, connections are closed. */
  stop(): Promise<void>;
  /** Stops it when it is up, and starts it on the same port and data. */
  restart(): Promise<void>;
  /** kill -9 of the postmaster and all its processes: the next start recovers from the write-ahead log. */
  kill(): Promise<void>;
  /** Pauses the postmaster and every process of a connection. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** A base backup of the whole cluster as it is now, in a folder beside the data. */
  takeCopy(): Promise<BaseCopy>;
  /** Kills the server, puts the copy in the place of its data and starts it: what came after the copy is gone. */
  goBackTo(copy: BaseCopy, how: ComingBack): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);
/** Matches the version of PostgreSQL 15 or later. */
const VERSION = /PostgreSQL\) (?:1[5-9]|[2-9]\d)/;
const OWNER = 'scrapifie';
const INIT_MS = 60_000;
const READY_MS = 60_000;
const CONNECT_MS = 5_000;
const QUERY_MS = 30_000;

export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const { dir, settings = {} } = options;
  const folders = await serverFolders();
  const command = await findProgram('postgres', { says: VERSION, folders });
  const initdb = await findProgram('initdb', { says: VERSION, folders: [dirname(command), ...folders] });
  const pgBasebackup = await findProgram('pg_basebackup', {
    says: VERSION,
    folders: [dirname(command), ...folders],
  });
  const user = await serverUser();
  const port = await freePort();
  const data = join(dir, 'data');
  const password = await initialise({ dir, data, initdb, user });

  const urlOf = (database: string) =>
    `postgres://${OWNER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const adminUrl = urlOf('postgres');
  const ask = <T>(question: (client: Client) => Promise<T>) => withClient(adminUrl, question);

  const configured: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: 'on',
    shared_buffers: '64MB',
    max_connections: '200',
    // Nothing of it must outlive the folder.
    dynamic_shared_memory_type: 'mmap',
    logging_collector: 'off',
    ...settings,
  };
  const server = createServerProcess({
    name: 'PostgreSQL',
    command,
    args: ['-D', data, ...Object.entries(configured).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: data,
    logFile: join(dir, 'postgres.log'),
    ...(user === null ? {} : { user }),
    stopSignal: 'SIGINT',
    orphanSignal: 'QUIT',
    readyMs: READY_MS,
    isReady: async () => (await ask((client) => client.query('select 1'))).rowCount === 1,
  });
  await server.start();

  const createDatabase = async (name: string) => {
    await ask((client) => client.query(`create database ${client.escapeIdentifier(name)}`));
    return urlOf(name);
  };
  const exists = await ask((client) => client.query('select from pg_database where datname = $1', [OWNER]));
  if (exists.rowCount === 0) await createDatabase(OWNER);

  let copies = 0;
  /** Sends a signal to the postmaster and its children, which are all in groups of their own. */
  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    const { pid } = server;
    if (pid === 0) return;
    const { stdout } = await run('ps', ['-e', '-o', 'pid=,ppid=']);
    const children = stdout
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .filter(([, parent]) => parent === pid)
      .map(([child]) => child);
    for (const one of [pid, ...children]) if (one !== undefined) signalOne(one, signal);
  }

  async function kill(): Promise<void> {
    // A connection that outlives the postmaster holds on to its shared memory, and the next start would refuse.
    await signalAll('SIGKILL');
    await server.kill();
  }

  return {
    url: urlOf(OWNER),
    adminUrl,
    get pid() {
      return server.pid;
    },
    createDatabase,
    async dropDatabase(name) {
      await ask((client) =>
        client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`),
      );
    },
    async dropConnections() {
      const ended = await ask((client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where backend_type = 'client backend' and pid <> pg_backend_pid()`,
        ),
      );
      return ended.rowCount ?? 0;
    },
    async stop() {
      await signalAll('SIGCONT');
      await server.stop();
    },
    async restart() {
      await signalAll('SIGCONT');
      await server.stop();
      await server.start();
    },
    kill,
    takeCopy() {
      copies += 1;
      return takeBaseCopy({ pgBasebackup, adminUrl, dir: join(dir, `copy-${copies}`), user });
    },
    async goBackTo(copy, how) {
      await kill();
      await putCopy(copy, data, how, user);
      await server.start();
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
  };
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // A connection that has ended meanwhile.
  }
}

/** Many systems keep the programs of each version in a folder of their own, off PATH; the newest comes first. */
async function serverFolders(): Promise<string[]> {
  const patterns = [
    '/usr/lib/postgresql/*',
    '/usr/pgsql-*',
    '/opt/homebrew/opt/postgresql*',
    '/usr/local/opt/postgresql*',
  ];
  const folders = await Array.fromAsync(glob(patterns.map((pattern) => `${pattern}/bin`)));
  const version = (folder: string) => Number(/(\d+)\/bin$/.exec(folder)?.[1] ?? 0);
  return folders.sort((a, b) => version(b) - version(a));
}

/** Returns the user that PostgreSQL runs as, since it refuses to run as root; null keeps the current user. */
export async function serverUser(): Promise<User | null> {
  if (process.getuid?.() !== 0) return null;
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** Resolves with the password of the owner, which is kept beside the data. */
async function initialise(place: {
  dir: string;
  data: string;
  initdb: string;
  user: User | null;
}): Promise<string> {
  const { dir, data, initdb, user } = place;
  const passwordFile = join(dir, 'password');
  await mkdir(dir, { recursive: true });
  if (user !== null) {
    await chown(dir, user.uid, user.gid);
    await letThrough(dir);
  }
  if (await isThere(join(data, 'PG_VERSION'))) return (await readFile(passwordFile, 'utf8')).trim();
  const password = randomBytes(12).toString('hex');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user !== null) await chown(passwordFile, user.uid, user.gid);
  try {
    await run(
      initdb,
      [
        ...['-D', data, '-U', OWNER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
        ...['--encoding', 'UTF8', '--locale', 'C', '--no-sync'],
      ],
      { cwd: dir, timeout: INIT_MS, ...(user ?? {}) },
    );
  } catch (error) {
    // Half a cluster would be taken for a whole one.
    await rm(data, { recursive: true, force: true });
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`PostgreSQL cannot set up ${data}: ${stderr.trim() || String(error)}`, { cause: error });
  }
  return password;
}

/**
 * A temporary folder is its maker's alone, and the server's user has to pass through it. Folders elsewhere are left
 * as they are: they may be closed for a reason.
 */
export async function letThrough(dir: string): Promise<void> {
  const temporary = await realpath(tmpdir());
  let folder = dirname(await realpath(dir));
  for (; folder.startsWith(temporary + sep); folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    if (uid === process.getuid?.()) await chmod(folder, (mode & 0o7777) | 0o011);
  }
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function withClient<T>(url: string, question: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await question(client);
  } finally {
    await client.end().catch(() => {});
  }
}
