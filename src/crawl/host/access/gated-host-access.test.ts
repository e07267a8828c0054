import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { Store } from '../../../core/ports/store.ts';
import { testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import { claimSeed, openStore } from '../process/claimed-task.fixture.ts';
import { createHostAccess } from './gated-host-access.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const SECOND_MS = 1_000;

/** Access to a host of its own that takes one request in a second, one at a time. */
async function accessOf(host: string, ratePerSecond = 1) {
  const url = new URL(`http://${host}/`);
  const { lease, running } = await claimSeed(store, url.href);
  let time = Date.now();
  const policies = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond, concurrency: 1 } });
  const access = createHostAccess(lease, {
    robots: createRobotsCache({ store, engine: testEngine(), now: () => time }),
    policies: () => policies,
    now: () => time,
    metrics: createMetrics({ withProcess: false }),
    signal: new AbortController().signal,
    isOurs: () => true,
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { access, admit: () => access.admit(running, url), running, url, pass };
}

describe('a request that waits to be admitted again', () => {
  it('gives its place away while it waits, and has it again when it is admitted', async () => {
    const { access, admit, running, url, pass } = await accessOf('again.test');
    expect(admit().kind).toBe('go');
    const admitted = access.readmit(running, url, new AbortController().signal);
    expect(access.inFlight).toBe(0);
    pass(2 * SECOND_MS);
    await admitted;
    expect([access.inFlight, access.state.requests]).toEqual([1, 2]);
    access.release(running);
    expect(access.inFlight).toBe(0);
  });

  it('counts once more as soon as its attempt is over, and is not admitted afterwards', async () => {
    const { access, admit, running, url, pass } = await accessOf('over.test');
    expect(admit().kind).toBe('go');
    const ended = new AbortController();
    const admitted = access.readmit(running, url, ended.signal);
    ended.abort(new Error('The attempt is over.'));
    expect(access.inFlight).toBe(1);
    access.release(running);
    pass(2 * SECOND_MS);
    await expect(admitted).rejects.toThrow('The attempt is over.');
    expect([access.inFlight, access.state.requests]).toEqual([0, 1]);
    await expect(access.readmit(running, url, ended.signal)).rejects.toThrow('The attempt is over.');
    expect(access.inFlight).toBe(0);
  });
});

describe('the gate of a host', () => {
  it('admits one request, and the next after the pause that its answer begins', async () => {
    const { access, admit, running, url, pass } = await accessOf('pace.test');
    expect(admit().kind).toBe('go');
    expect(admit()).toMatchObject({ kind: 'wait', reason: 'concurrency.host' });
    access.settle(running, url, { outcome: 'ok', statusCode: 200, errorCode: null, retryAfterMs: null }, 0);
    expect(access.check(running, url)).toMatchObject({ kind: 'wait', reason: 'rate.bucket' });
    pass(2 * SECOND_MS);
    expect(access.check(running, url).kind).toBe('go');
    expect(access.inFlight).toBe(0);
  });

  it('holds the host as long as an answer asks for', async () => {
    const { access, admit, running, url, pass } = await accessOf('limited.test');
    expect(admit().kind).toBe('go');
    const limited = {
      outcome: 'rate-limited',
      statusCode: 429,
      errorCode: null,
      retryAfterMs: 60_000,
    } as const;
    access.settle(running, url, limited, 0);
    expect(admit()).toMatchObject({ kind: 'hold', reason: 'rate.retry-after' });
    expect(access.heldUntil).toBeGreaterThan(0);
    pass(61 * SECOND_MS);
    expect(admit().kind).toBe('go');
  });

  it('holds a host whose pause between two requests is long, so that callers are told', async () => {
    const { access, admit, running, url, pass } = await accessOf('slow.test', 0.01);
    expect(admit().kind).toBe('go');
    access.settle(running, url, { outcome: 'ok', statusCode: 200, errorCode: null, retryAfterMs: null }, 0);
    expect(access.check(running, url)).toMatchObject({ kind: 'wait', reason: 'rate.bucket' });
    expect(access.hold).toMatchObject({ rule: 'rate.bucket' });
    pass(120 * SECOND_MS);
    expect(admit().kind).toBe('go');
    expect(access.hold).toBeNull();
  });

  it('counts failures of the host, and neither failures of this installation nor released requests', async () => {
    const { access, admit, running, url, pass } = await accessOf('faults.test');
    const settled = (errorCode: 'CONNECT_FAILED' | 'BROWSER_LOST') => {
      expect(admit().kind).toBe('go');
      access.settle(running, url, { outcome: 'error', statusCode: null, errorCode, retryAfterMs: null }, 0);
      pass(2 * SECOND_MS);
      return access.state.failures;
    };
    expect([settled('BROWSER_LOST'), settled('CONNECT_FAILED'), settled('BROWSER_LOST')]).toEqual([0, 1, 1]);
    expect(admit().kind).toBe('go');
    access.release(running);
    expect(access.state.breaker.window).toEqual([true]);
  });
});
