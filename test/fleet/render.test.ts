import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { type BlobsS3, createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import { createQueueBullmq, type QueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import type { FetchRequest, FetchResponse } from '../../src/fetch/engine.ts';
import { createRemoteEngine, type RemoteEngine } from '../../src/fetch/remote/remote-engine.ts';
import { createParcels } from '../../src/fetch/remote/sealed-calls.ts';
import { newS3Place } from '../contract/blobs-places.ts';
import { monitorRedis } from './redis-monitor.ts';

const CHILD = fileURLToPath(new URL('../../src/fetch/remote/render-child.fixture.ts', import.meta.url));
const BIG = randomBytes(10_485_760);
const MARK = 'the body of the page';
const RENDERS = 10;

/** The site keeps what is asked of /held until the test answers, or drops it. */
interface Held {
  readonly worker: string;
  readonly response: ServerResponse;
  isCut: boolean;
}

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 45_000, interval: 20 });

let prefix: string;
let s3Url: string;
let queue: QueueBullmq;
let blobs: BlobsS3;
let remote: RemoteEngine;
let site: Server;
let origin: string;
let held: Held[];
const children = new Map<string, ChildProcess>();

beforeEach(async () => {
  prefix = `render-${randomBytes(6).toString('hex')}`;
  s3Url = newS3Place();
  held = [];
  site = createServer(answer);
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  queue = await createQueueBullmq({
    url: inject('redisUrl'),
    prefix,
    beatMs: 300,
    stall: { lockMs: 1_000, checkMs: 500 },
    onHandlerError: () => undefined,
  });
  blobs = await createBlobsS3({ url: s3Url, now: Date.now, random: Math.random });
  remote = createRemoteEngine({ name: 'browser', queue, blobs, parcels: createParcels(blobs, null) });
});
afterEach(async () => {
  await remote.close();
  for (const child of children.values()) child.kill('SIGKILL');
  children.clear();
  await queue.close();
  await blobs.remove(await Array.fromAsync(blobs.list()));
  await blobs.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const worker = request.headers['user-agent'] ?? '';
  if (request.url === '/big') response.end(BIG);
  else if (request.url === '/marked') response.end(MARK.repeat(100_000));
  else if (request.url === '/gate') {
    response.writeHead(302, { location: '/inside', 'set-cookie': 'pass=1' }).end();
  } else if (request.url === '/inside') response.end(`${request.headers.cookie} by ${worker}`);
  else {
    const one: Held = { worker, response, isCut: false };
    held.push(one);
    response.on('close', () => {
      one.isCut = !response.writableFinished;
    });
  }
}

async function startWorker(name: string): Promise<void> {
  const child = spawn(process.execPath, [CHILD, inject('redisUrl'), s3Url, prefix, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.set(name, child);
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  await until(() => expect(lines).toEqual(['ready']));
}

function fetchPage(path: string, more: Partial<FetchRequest> = {}): Promise<FetchResponse> {
  return remote.fetch({
    url: origin + path,
    method: 'GET',
    headers: {},
    cookies: {},
    body: null,
    timeoutMs: 60_000,
    maxBodyBytes: BIG.length,
    maxRedirects: 5,
    conditional: null,
    onRedirect: async () => 'follow',
    ...more,
  });
}

const textOf = ({ body }: FetchResponse) => Buffer.from(body).toString();
async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.catch((reason: unknown) => reason);
  return isScrapifieError(error) ? error.code : 'none';
}

describe('renders by workers in other processes', { timeout: 120_000 }, () => {
  test('a page of 10 MB comes whole, redirects and cookies are the owner’s', async () => {
    await startWorker('one');
    expect(await remote.countWorkers()).toBe(1);
    const { body, wireBytes } = await fetchPage('/big');
    expect(BIG.equals(body)).toBe(true);
    expect([wireBytes, body.buffer.byteLength]).toEqual([BIG.length, BIG.length]);
    const asked: string[] = [];
    const response = await fetchPage('/gate', {
      async onRedirect(target) {
        asked.push(target);
        return 'follow';
      },
    });
    expect(textOf(response)).toBe('pass=1 by one');
    expect(asked).toEqual([`${origin}/inside`]);
    expect(response.finalUrl).toBe(`${origin}/inside`);
  });

  test('Redis is sent a few kilobytes for a page of 2 MB and no byte of its body', async () => {
    await startWorker('one');
    // The first one brings scripts to Redis, too.
    await fetchPage('/inside');
    const redis = new Redis(inject('redisUrl'));
    let sentBytes = 0;
    let hasBody = false;
    let hasAnswer = false;
    const monitor = await monitorRedis(inject('redisUrl'), (text) => {
      // Others use this Redis too.
      if (!text.includes(prefix)) return;
      sentBytes += text.length;
      hasBody ||= text.includes(MARK);
      hasAnswer ||= text.includes('contentHash');
    });
    try {
      for (let count = 0; count < RENDERS; count += 1) {
        const { body } = await fetchPage('/marked');
        expect(body.byteLength).toBe(MARK.length * 100_000);
      }
      await until(() => expect(hasAnswer).toBe(true));
      expect(hasBody).toBe(false);
      // Beats of the worker and looks of the caller included.
      expect(sentBytes / RENDERS).toBeLessThan(20_000);
      const keys = await redis.keys(`${prefix}:*`);
      const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key)));
      expect(sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)).toBeLessThan(100_000);
    } finally {
      monitor.close();
      redis.disconnect();
    }
  });

  test('when a worker is killed in the middle of a render, another one makes it', async () => {
    await Promise.all([startWorker('one'), startWorker('two')]);
    let admittedAgain = 0;
    const again = async () => {
      admittedAgain += 1;
    };
    const page = fetchPage('/held', { admission: { validMs: 60_000, again } });
    await until(() => expect(held).toHaveLength(1));
    const [first] = held;
    children.get(first?.worker ?? '')?.kill('SIGKILL');
    await until(() => expect(held).toHaveLength(2));
    const [, second] = held;
    expect(second?.worker).not.toBe(first?.worker);
    second?.response.end('by another');
    expect(textOf(await page)).toBe('by another');
    // The host's gate is asked before the second request.
    expect(admittedAgain).toBe(1);
  });

  test('with no worker there is NO_WORKER, and a page that the last one had begun is a lost browser', async () => {
    expect(await codeOf(fetchPage('/inside'))).toBe('NO_WORKER');
    await startWorker('one');
    const page = codeOf(fetchPage('/held'));
    await until(() => expect(held).toHaveLength(1));
    children.get('one')?.kill('SIGKILL');
    expect(await page).toBe('BROWSER_LOST');
  });

  test('a render that is cancelled, or late, is ended in the worker, and the site sees it', async () => {
    await startWorker('one');
    const cancel = new AbortController();
    const cancelled = codeOf(fetchPage('/held', { signal: cancel.signal }));
    const late = codeOf(fetchPage('/held', { timeoutMs: 4_000 }));
    await until(() => expect(held).toHaveLength(2));
    cancel.abort();
    expect(await Promise.all([cancelled, late])).toEqual(['CANCELLED', 'TASK_TIMEOUT']);
    await until(() => expect(held.every(({ isCut }) => isCut)).toBe(true));
    expect(textOf(await fetchPage('/inside', { cookies: { a: '1' } }))).toBe('a=1 by one');
  });
});
