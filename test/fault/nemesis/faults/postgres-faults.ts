import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { LinkMode } from '../fault-proxy.ts';
import type { Stage } from '../stage.ts';
import { type Fault, until } from './fault.ts';

const LOCK = { target: 'postgres', locks: ['postgres'], isPossible: () => true } as const;
const HOT_TABLES = ['tasks', 'jobs', 'hosts', 'pages'];
const ADMINISTRATOR = 'nemesis';
const BALLAST_PIECE = Buffer.alloc(4_194_304);
const RECOVERY_MS = 60_000;
const CONNECT_MS = 5_000;

/** Everything that may happen to PostgreSQL and to the lines to it. */
export async function postgresFaults(stage: Stage, random: () => number): Promise<Fault[]> {
  const { postgres } = stage.servers;
  const administrator = await createAdministrator(postgres.adminUrl);
  /** Both ways of going back take turns. */
  let isPromoted = false;

  const ask = async (...statements: string[]) => {
    const client = await connect(administrator);
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end().catch(() => {});
    }
  };
  const setMode = (mode: LinkMode) => {
    for (const { name } of stage.processes) stage.linksOf(name).postgres.set(mode);
  };
  const during = (kind: string, mode: LinkMode, leastMs: number, mostMs: number): Fault => ({
    ...{ ...LOCK, kind, leastMs, mostMs },
    async run(durationMs) {
      setMode(mode);
      await delay(durationMs).finally(() => setMode('pass'));
    },
  });
  const drop = `select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  const owner = decodeURIComponent(new URL(postgres.url).username);
  const password = decodeURIComponent(new URL(postgres.url).password);
  const setPassword = (value: string) => `alter role ${owner} password '${value}'`;
  await ask(`alter system set max_wal_size = '192MB'`, 'select pg_reload_conf()');

  return [
    {
      ...{ ...LOCK, kind: 'restart', leastMs: 0, mostMs: 5_000 },
      async run(durationMs) {
        await postgres.stop();
        await delay(durationMs);
        await postgres.restart();
      },
    },
    {
      ...{ ...LOCK, kind: 'crash', leastMs: 0, mostMs: 3_000 },
      async run(durationMs) {
        await postgres.kill();
        await delay(durationMs);
        await postgres.restart();
      },
    },
    {
      ...{ ...LOCK, kind: 'pause', leastMs: 2_000, mostMs: 15_000 },
      async run(durationMs) {
        await postgres.pause();
        await delay(durationMs).finally(postgres.resume);
      },
    },
    { ...{ ...LOCK, kind: 'drop connections', leastMs: 0, mostMs: 0 }, run: () => ask(drop) },
    during('half-open', 'swallow', 3_000, 15_000),
    during('lost acknowledgements', 'cut-replies', 500, 3_000),
    during('slow', 'delay', 4_000, 12_000),
    during('unreachable', 'refuse', 2_000, 10_000),
    {
      ...{ ...LOCK, kind: 'table locked', leastMs: 2_000, mostMs: 8_000 },
      async run(durationMs) {
        const client = await connect(administrator);
        const table = HOT_TABLES[Math.floor(random() * HOT_TABLES.length)] ?? 'tasks';
        try {
          await client.query('begin');
          await client.query(`lock table ${table} in access exclusive mode`);
          await delay(durationMs);
          await client.query('rollback');
        } finally {
          await client.end().catch(() => {});
        }
      },
    },
    {
      ...{ ...LOCK, kind: 'read-only', leastMs: 2_000, mostMs: 8_000 },
      async run(durationMs) {
        await ask('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
        await delay(durationMs);
        await ask(
          'set default_transaction_read_only = off',
          'alter system reset default_transaction_read_only',
          'select pg_reload_conf()',
        );
      },
    },
    {
      ...{ ...LOCK, kind: 'password rotated', leastMs: 2_000, mostMs: 10_000 },
      async run(durationMs) {
        await ask(setPassword(randomBytes(12).toString('hex')), drop);
        await delay(durationMs).finally(() => ask(setPassword(password)));
      },
    },
    {
      ...{ ...LOCK, kind: 'disk full', leastMs: 2_000, mostMs: 8_000 },
      isPossible: () => stage.postgresMount !== null,
      async run(durationMs) {
        const ballast = join(stage.postgresMount ?? '', 'ballast');
        await fillUp(ballast);
        await delay(durationMs).finally(() => rm(ballast, { force: true }));
        // Without room for its log it ends itself; an administrator who has made room starts it again.
        await untilAnswering();
      },
    },
    {
      ...{ ...LOCK, kind: 'go back in time', leastMs: 4_000, mostMs: 12_000, forgets: true },
      async run(durationMs) {
        const copy = await postgres.takeCopy();
        await delay(durationMs);
        isPromoted = !isPromoted;
        await postgres.goBackTo(copy, isPromoted ? 'promoted' : 'restored');
        await rm(copy.dir, { recursive: true, force: true });
      },
    },
  ];

  async function untilAnswering(): Promise<void> {
    const isAnswering = () =>
      ask('select 1').then(
        () => true,
        () => false,
      );
    await until('An answer of PostgreSQL', RECOVERY_MS, async () => {
      if (postgres.pid === 0) await postgres.restart();
      return isAnswering();
    });
  }
}

/** Its login works while that of the fleet does not. */
async function createAdministrator(adminUrl: string): Promise<string> {
  const password = randomBytes(12).toString('hex');
  const client = await connect(adminUrl);
  try {
    await client.query(`create role ${ADMINISTRATOR} superuser login password '${password}'`);
  } finally {
    await client.end();
  }
  const url = new URL(adminUrl);
  url.pathname = '/scrapifie';
  return Object.assign(url, { username: ADMINISTRATOR, password }).href;
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function fillUp(file: string): Promise<void> {
  const ballast = await open(file, 'w');
  try {
    for (;;) await ballast.write(BALLAST_PIECE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await ballast.close();
  }
}
