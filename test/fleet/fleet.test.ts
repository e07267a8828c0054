import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Fleet, startFleet } from '../../fleet/fleet.ts';
import { fleetHealth } from '../../fleet/fleet-health.ts';
import { SAMPLE_PATH } from '../../src/api/routes/sample.ts';
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
    settings: { allowPrivate: true, drainMs: 5_000 },
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

async function scrapeSample(): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(`${fleet.origin}/v1/scrape`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fleet.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `${fleet.origin}${SAMPLE_PATH}` }),
  });
  return { status: response.status, answer: await response.json() };
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

  it('stops in order and leaves nothing behind', async () => {
    const pids = (await fleetHealth(fleet)).map(({ pid }) => pid).filter((pid) => pid !== process.pid);
    expect(pids.map(isAlive)).not.toContain(false);
    await fleet.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(fleet.processes.map(({ state }) => state)).toEqual(fleet.processes.map(() => 'stopped'));
  });
});
