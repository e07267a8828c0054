import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testEngine } from '../fetch/http/loopback.fixture.ts';
import { createMetrics } from '../observe/metrics.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../policy/policies.ts';
import type { Store } from '../ports/store.ts';
import { createRobotsCache } from '../robots/robots-cache.ts';
import { claimSeed, listeningLogger, openStore } from './claimed-task.fixture.ts';
import { createHostAccess } from './host-access.ts';
import { createQuarantine } from './quarantine.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const SECOND_MS = 1_000;

/** The door of a host of its own that takes one request in a second, one at a time. */
async function doorOf(host: string) {
  const url = new URL(`http://${host}/`);
  const { lease, running } = await claimSeed(store, url.href);
  let time = Date.now();
  const policies = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond: 1, concurrency: 1 } });
  const unused = () => {
    throw new Error('Not part of this test.');
  };
  const door = createHostAccess(lease, {
    robots: createRobotsCache({ store, engine: testEngine(), now: () => time }),
    policies: () => policies,
    now: () => time,
    logger: listeningLogger().logger,
    metrics: createMetrics({ withProcess: false }),
    quarantine: createQuarantine(Date.now),
    signal: new AbortController().signal,
    stopped: new AbortController().signal,
    isOurs: () => true,
    onChange: () => undefined,
    onFailure: unused,
    wayOut: unused,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { door, enter: () => door.enter(running, url), running, url, pass };
}

describe('a request that waits to be admitted again', () => {
  it('gives its place away while it waits, and has it again when it is admitted', async () => {
    const { door, enter, running, url, pass } = await doorOf('again.test');
    expect(enter().kind).toBe('go');
    const admitted = door.enterAgain(running, url, new AbortController().signal);
    expect(door.inFlight).toBe(0);
    pass(2 * SECOND_MS);
    await admitted;
    expect([door.inFlight, door.state.requests]).toEqual([1, 2]);
    door.left(running);
    expect(door.inFlight).toBe(0);
  });

  it('counts once more as soon as its attempt is over, and is not admitted afterwards', async () => {
    const { door, enter, running, url, pass } = await doorOf('over.test');
    expect(enter().kind).toBe('go');
    const ended = new AbortController();
    const admitted = door.enterAgain(running, url, ended.signal);
    ended.abort(new Error('The attempt is over.'));
    expect(door.inFlight).toBe(1);
    door.left(running);
    pass(2 * SECOND_MS);
    await expect(admitted).rejects.toThrow('The attempt is over.');
    expect([door.inFlight, door.state.requests]).toEqual([0, 1]);
    await expect(door.enterAgain(running, url, ended.signal)).rejects.toThrow('The attempt is over.');
    expect(door.inFlight).toBe(0);
  });
});
