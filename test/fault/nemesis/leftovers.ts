import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { parseS3Url } from '../../../src/core/config/place-urls.ts';
import { openS3Bucket } from '../../../src/drivers/blobs-s3/s3-bucket.ts';
import { createS3Objects } from '../../../src/drivers/blobs-s3/s3-objects.ts';
import { until } from './faults/fault.ts';
import type { LeftoverRecord } from './history.ts';
import type { Stage } from './stage.ts';

const run = promisify(execFile);
const LAUNCHER = fileURLToPath(new URL('../../../scrapifie', import.meta.url));
const COMMAND_MS = 120_000;
/** The last word on a call is kept for half a minute, and what is offered for a host without work is taken soon. */
const SETTLE_MS = 45_000;
const EXAMPLES = 3;
const REQUEST_MS = 15_000;

/** Remembered on purpose, for a time that the documentation states. */
const KEPT_TABLES = new Set(['kept_answers', 'commits', 'audit_log', 'audit_head', 'events']);
/** Lists and sets of a queue that hold entries. */
const ENTRY_LISTS = [
  'wait',
  'prioritized',
  'active',
  'paused',
  'delayed',
  'waiting-children',
  'failed',
  'completed',
];
const QUEUES_OF_WORK = /^scrapifie:(?!cleanup-|run-schedules:|backups:|lake:)[a-z-]+:/;
const CALL_KEYS = /^scrapifie:(?:call|reply|answers):/;

/**
 * What PostgreSQL, Redis and the object store still hold of jobs that have all been deleted. Nothing else may use
 * the servers; processes of the fleet may run on. Waits for what goes away by itself.
 */
export async function leftBehind(stage: Stage): Promise<LeftoverRecord[]> {
  const isSwept = await cleanUp(stage);
  let found: LeftoverRecord[] = [];
  const look = async () => {
    const objects = isSwept ? await objectsLeft(stage.servers.s3.url) : [];
    found = [
      ...(await rowsLeft(stage.servers.postgres.url)),
      ...(await keysLeft(stage.servers.redis.url)),
      ...objects,
    ];
    return found.length === 0;
  };
  await until('An empty place', SETTLE_MS, look).catch(() => undefined);
  return found;
}

/** The program's own sweep of what no job refers to. False for a build that has none: then objects are not judged. */
async function cleanUp({ commandEnvironment }: Stage): Promise<boolean> {
  const options = { env: { ...process.env, ...commandEnvironment }, timeout: COMMAND_MS };
  const { stdout } = await run(LAUNCHER, ['--help'], options);
  if (!/^\s+cleanup\b/m.test(stdout)) return false;
  // All jobs are deleted: nothing is on its way. The scheduler may be at it, or have died at it.
  const isConflict = (error: unknown) => String((error as { stderr?: string }).stderr).includes('CONFLICT');
  await until('A sweep of the bodies', COMMAND_MS, () =>
    run(LAUNCHER, ['cleanup', '--no-grace'], options).then(
      () => true,
      (error: unknown) => {
        if (!isConflict(error)) throw error;
        return false;
      },
    ),
  );
  return true;
}

async function rowsLeft(url: string): Promise<LeftoverRecord[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      `select distinct table_name as name from information_schema.columns
       where table_schema = 'public' and (column_name in ('job_seq', 'job_id', 'task_id') or table_name in ('jobs', 'spilled_blobs'))`,
    );
    const found: LeftoverRecord[] = [];
    const count = async (what: string, condition: string, table = what) => {
      const { rows } = await client.query(`select count(*)::int as n from ${table} ${condition}`);
      const n = Number(rows[0]?.n);
      if (n > 0) found.push({ place: 'postgres', what, count: n, examples: [] });
    };
    for (const { name } of tables as { name: string }[]) if (!KEPT_TABLES.has(name)) await count(name, '');
    // What a dead owner left has run out by now.
    const isLeased = 'where owner is not null and lease_until > extract(epoch from clock_timestamp()) * 1000';
    await count('leases of hosts without work', isLeased, 'hosts');
    return found;
  } finally {
    await client.end();
  }
}

async function keysLeft(url: string): Promise<LeftoverRecord[]> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  await client.connect();
  try {
    const found: LeftoverRecord[] = [];
    const entries: string[] = [];
    const calls: string[] = [];
    for (const key of await client.keys('scrapifie:*')) {
      if (CALL_KEYS.test(key) && (await client.ttl(key)) < 0) calls.push(key);
      if (!QUEUES_OF_WORK.test(key)) continue;
      const list = key.slice(key.lastIndexOf(':') + 1);
      if (!ENTRY_LISTS.includes(list)) continue;
      const type = await client.type(key);
      let names: string[] = [];
      if (type === 'list') names = await client.lrange(key, 0, -1);
      if (type === 'zset') names = await client.zrange(key, '0', '-1');
      // A marker that wakes consumers up, and no entry.
      entries.push(...names.filter((name) => !name.startsWith('0:')).map((name) => `${key} ${name}`));
    }
    for (const [what, names] of [
      ['queue entries', entries],
      ['calls that never expire', calls],
    ] as const) {
      if (names.length === 0) continue;
      found.push({ place: 'redis', what, count: names.length, examples: names.slice(0, EXAMPLES) });
    }
    return found;
  } finally {
    client.disconnect();
  }
}

async function objectsLeft(url: string): Promise<LeftoverRecord[]> {
  const chance = { now: Date.now, random: Math.random };
  const bucket = await openS3Bucket({
    place: parseS3Url(url),
    maxConnections: 1,
    timeoutMs: REQUEST_MS,
    ...chance,
  });
  const objects = createS3Objects(bucket, Date.now);
  const keys: string[] = [];
  try {
    for (let token: string | null = null; ; ) {
      const page = await objects.list('', token);
      keys.push(...page.objects.map(({ key }) => key));
      token = page.token;
      if (token === null) break;
    }
  } finally {
    await bucket.close();
  }
  if (keys.length === 0) return [];
  return [{ place: 's3', what: 'objects', count: keys.length, examples: keys.slice(0, EXAMPLES) }];
}
