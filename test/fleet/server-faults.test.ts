import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPostgres } from '../../fleet/servers/postgres.ts';
import { startRedis } from '../../fleet/servers/redis.ts';
import { startS3 } from '../../fleet/servers/s3.ts';
import { createServerProcess } from '../../fleet/servers/server-process.ts';
import { isAlive } from './is-alive.ts';

const FAULT_MS = 60_000;

let dir: string;
const cleanUps: (() => Promise<void>)[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-faults-'));
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await rm(dir, { recursive: true, force: true });
}, FAULT_MS);

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const gone = (pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 20_000, interval: 50 });

describe('PostgreSQL', () => {
  it('comes back on the same address with what was committed, after stop and kill -9', {
    timeout: FAULT_MS,
  }, async () => {
    const server = await startPostgres({ dir: join(dir, 'pg') });
    cleanUps.push(server.stop);
    await query(server.url, 'create table kept (n int)');
    const { pid } = server;
    await query(server.url, 'insert into kept values (1)');
    await server.restart();
    await query(server.url, 'insert into kept values (2)');
    await server.kill();
    expect(server.pid).toBe(0);
    await expect(query(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await query(server.url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('drops everybody’s connections, and the next ones work', { timeout: FAULT_MS }, async () => {
    const server = await startPostgres({ dir: join(dir, 'pg') });
    cleanUps.push(server.stop);
    const url = await server.createDatabase('Some "name"');
    const client = new Client({ connectionString: url });
    // The client emits an error for the message and another one for the connection.
    client.on('error', () => {});
    await client.connect();
    const dropped = once(client, 'error');
    expect(await server.dropConnections()).toBe(1);
    await dropped;
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('does not answer while it is paused, and goes on afterwards', { timeout: FAULT_MS }, async () => {
    const server = await startPostgres({ dir: join(dir, 'pg') });
    cleanUps.push(server.stop);
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await server.pause();
    let isAnswered = false;
    const answer = client.query('select 1').then(() => {
      isAnswered = true;
    });
    const impatient = new Client({ connectionString: server.url, connectionTimeoutMillis: 200 });
    await expect(impatient.connect()).rejects.toThrow('timeout');
    expect(isAnswered).toBe(false);
    await server.resume();
    await answer;
    await client.end();
  });
});

describe('Redis', () => {
  it('keeps its address over kill -9, and its data when it is told to', { timeout: FAULT_MS }, async () => {
    for (const isAppendOnly of [true, false]) {
      const server = await startRedis({
        dir: join(dir, String(isAppendOnly)),
        password: 's:/@',
        isAppendOnly,
      });
      cleanUps.push(server.stop);
      const before = new Redis(server.url);
      before.on('error', () => {});
      await before.set('kept', 'yes');
      before.disconnect();
      await server.stop();
      await server.restart();
      await server.kill();
      await server.restart();
      const after = new Redis(server.url);
      expect(await after.get('kept')).toBe(isAppendOnly ? 'yes' : null);
      await after.set('other', 'yes');
      await server.flushAll();
      expect(await after.dbsize()).toBe(0);
      after.disconnect();
    }
  });
});

describe('the S3 server', () => {
  it('comes back on the same address with its buckets, after kill -9 and stop', {
    timeout: FAULT_MS,
  }, async () => {
    const server = await startS3({ dir: join(dir, 's3') });
    cleanUps.push(server.stop);
    const url = await server.createBucket('another');
    const { origin } = new URL(url);
    const statusOf = async (bucket: string) => (await fetch(`${origin}/${bucket}`)).status;
    expect([await statusOf('another'), await statusOf('nowhere')]).toEqual([403, 404]);
    await server.kill();
    await expect(statusOf('another')).rejects.toThrow();
    await server.restart();
    expect(await statusOf('another')).toBe(403);
    await server.stop();
    await server.restart();
    expect([await statusOf('another'), await statusOf('nowhere')]).toEqual([403, 404]);
  });
});

describe('a server process', () => {
  it('that ends instead of answering is told with the end of its log', async () => {
    const program = join(dir, 'program');
    await writeFile(program, '#!/bin/sh\necho the disk is made of cheese >&2\nexit 3\n');
    await chmod(program, 0o755);
    const spec = { name: 'Cheese', args: [], stopSignal: 'SIGTERM', readyMs: 10_000 } as const;
    const start = (command: string) =>
      createServerProcess({
        ...spec,
        command,
        logFile: join(dir, 'log'),
        isReady: async () => false,
      }).start();
    await expect(start(program)).rejects.toThrow(/Cheese ended with exit code 3[\s\S]*made of cheese/);
    await expect(start(join(dir, 'nothing'))).rejects.toThrow(/Cheese cannot be started: .*ENOENT/);
  });

  it('that never answers is ended and told', async () => {
    const server = createServerProcess({
      ...{ name: 'Sleeper', command: 'sleep', args: ['600'], logFile: join(dir, 'log') },
      ...{ stopSignal: 'SIGTERM', readyMs: 200, isReady: async () => false },
    });
    await expect(server.start()).rejects.toThrow('Sleeper did not answer within 200 ms');
    expect(server.pid).toBe(0);
  });

  it('does not outlive a parent that is killed, paused or not', { timeout: FAULT_MS }, async () => {
    const file = fileURLToPath(new URL('abandoning-parent.ts', import.meta.url));
    const parent: ChildProcess = spawn(process.execPath, [file, dir], { stdio: ['pipe', 'pipe', 'inherit'] });
    if (parent.stdout === null) throw new Error('no output');
    const [line] = await once(createInterface(parent.stdout), 'line');
    const pids = JSON.parse(line) as number[];
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    parent.kill('SIGKILL');
    await gone(pids);
  });
});
