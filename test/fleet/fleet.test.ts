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

describe('a fleet on this machine', { timeout: START_MS }, () => {
  it('has every part up and scrapes a page through its proxy', async () => {
    const states = (await fleetHealth(fleet)).map(({ name, state }) => `${name} ${state}`);
    expect(states).toEqual([
      ...['postgres up', 'redis up', 's3 up'],
      ...['api-1 ready', 'api-2 ready', 'http-worker-1 ready', 'scheduler-1 ready', 'proxy up'],
    ]);
    expect(await scrapeSample()).toMatchObject({ status: 200, answer: { success: true } });
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
