import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Fleet, startFleet } from '../../fleet/fleet.ts';
import { fleetHealth } from '../../fleet/fleet-health.ts';
import { SAMPLE_PATH } from '../../src/http/routes/sample.ts';
import { isAlive } from './is-alive.ts';

const START_MS = 120_000;
const WAIT = { timeout: 60_000, interval: 100 };

let dir: string;
let fleet: Fleet;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-fleet-'));
  fleet = await startFleet({
    dir,
    size: { api: 2, 'http-worker': 1, scheduler: 1 },
    // Longer than the pause between two looks of the fleet at the readiness of its processes.
    settings: { allowPrivate: true, drainMs: 20_000, drainNoticeMs: 4_000 },
  });
}, START_MS);
afterAll(async () => {
  await fleet?.stop();
  await rm(dir, { recursive: true, force: true });
}, START_MS);

async function readHealth(): Promise<number> {
  const response = await fetch(`${fleet.origin}/healthz`);
  await response.text();
  return response.status;
}

async function scrapeSample(): Promise<{ status: number; retryAfter: string | null; answer: unknown }> {
  const response = await fetch(`${fleet.origin}/v1/scrape`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fleet.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `${fleet.origin}${SAMPLE_PATH}` }),
  });
  const { status, headers } = response;
  return { status, retryAfter: headers.get('retry-after'), answer: await response.json() };
}

/** Calls with a cookie or a key, as JSON; the proxy sends one after the other to the two APIs. */
async function call(method: string, path: string, headers: Record<string, string>, body?: object) {
  const response = await fetch(`${fleet.origin}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-scrapifie-dashboard': '1', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const { data } = (await response.json()) as { data?: { id: string; secret: string; signedIn: boolean } };
  return { status: response.status, cookie, data };
}

describe('a fleet on this machine', { timeout: START_MS }, () => {
  it('has every part up and scrapes a page through its proxy', async () => {
    const states = (await fleetHealth(fleet)).map(({ name, state }) => `${name} ${state}`);
    expect(states).toEqual([
      ...['postgres up', 'redis up', 's3 up'],
      ...['api-1 ready', 'api-2 ready', 'http-worker-1 ready', 'scheduler-1 ready', 'proxy up'],
    ]);
    expect(await scrapeSample()).toMatchObject({ status: 200, answer: { success: true } });
  });

  it('knows a browser that signed in at one API at the other, until its key is revoked', async () => {
    const admin = { authorization: `Bearer ${fleet.apiKey}` };
    const { data: key } = await call('POST', '/v1/keys', admin, { name: 'browser', scopes: ['read'] });
    const { cookie } = await call('POST', '/dashboard/session', {}, { key: key?.secret });
    const states = async () => {
      const answers = [];
      for (let read = 0; read < 4; read += 1) answers.push(await call('GET', '/v1/jobs', { cookie }));
      return answers.map(({ status }) => status);
    };
    expect(await states()).toEqual([200, 200, 200, 200]);
    expect((await call('GET', '/dashboard/session', { cookie })).data).toMatchObject({
      signedIn: true,
      profile: 'fleet',
    });
    await call('DELETE', `/v1/keys/${key?.id}`, admin);
    // The other API is told by a message.
    await vi.waitFor(async () => expect(await states()).toEqual([401, 401, 401, 401]), WAIT);
  });

  it('answers every read while an API process is killed, and starts it again', async () => {
    const [api] = fleet.of('api');
    if (api === undefined) throw new Error('no api');
    const { pid } = api;
    await api.kill();
    for (let read = 0; read < 10; read += 1) expect(await readHealth()).toBe(200);
    await vi.waitFor(() => expect(api.state).toBe('ready'), WAIT);
    expect(api.pid).not.toBe(pid);
    expect(api.restarts).toBe(1);
  });

  it('goes on scraping after its worker was killed', async () => {
    const [worker] = fleet.of('http-worker');
    if (worker === undefined) throw new Error('no worker');
    await worker.kill();
    await vi.waitFor(() => expect(worker.state).toBe('ready'), WAIT);
    expect(await scrapeSample()).toMatchObject({ status: 200, answer: { success: true } });
  });

  it('asks only the process that answers while the other is paused', async () => {
    const [api] = fleet.of('api');
    if (api === undefined) throw new Error('no api');
    api.pause();
    try {
      await vi.waitFor(() => expect(api.state).toBe('silent'), WAIT);
      for (let read = 0; read < 4; read += 1) expect(await readHealth()).toBe(200);
    } finally {
      api.resume();
    }
    await vi.waitFor(() => expect(api.state).toBe('ready'), WAIT);
  });

  it('is restarted process by process while clients use it, and no request fails but by an honest refusal', async () => {
    const restarted = fleet.processes.map(({ restarts }) => restarts);
    let isOver = false;
    const failures: string[] = [];
    let scraped = 0;
    /** Keeps its connection, sends no Idempotency-Key, and comes back when it was told to. */
    async function client(): Promise<void> {
      while (!isOver) {
        const { status, retryAfter, answer } = await scrapeSample().catch((error: Error) => ({
          ...{ status: 0, retryAfter: null, answer: `${error.message}: ${String(error.cause)}` },
        }));
        if (status === 200) scraped += 1;
        else if ((status === 503 || status === 429) && retryAfter !== null)
          await pause(1_000 * Number(retryAfter));
        else failures.push(`${status} ${JSON.stringify(answer)}`);
        // The load is that of people; the restarts need the machine too.
        await pause(50);
      }
    }
    const clients = Array.from({ length: 3 }, client);
    for (const one of fleet.processes) {
      const before = scraped;
      await one.restart();
      await vi.waitFor(async () => {
        await one.look();
        expect(one.state).toBe('ready');
      }, WAIT);
      await vi.waitFor(() => expect(scraped).toBeGreaterThan(before), WAIT);
    }
    isOver = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(fleet.processes.map(({ restarts }) => restarts)).toEqual(restarted.map((count) => count + 1));
    const ends = fleet.processes.map(({ exits }) => exits.at(-1));
    expect(ends.map((end) => [end?.code, end?.asked])).toEqual(ends.map(() => [0, 'stop']));
  });

  it('stops in order and leaves nothing behind', async () => {
    const pids = (await fleetHealth(fleet)).map(({ pid }) => pid).filter((pid) => pid !== process.pid);
    expect(pids.map(isAlive)).not.toContain(false);
    await fleet.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(fleet.processes.map(({ state }) => state)).toEqual(fleet.processes.map(() => 'stopped'));
  });
});
