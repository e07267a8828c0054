import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { Store } from '../../../core/ports/store.ts';
import { createByteBudget } from '../../../fetch/byte-budget.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { compileRules } from '../../read/find-tasks.ts';
import type { PageReader } from '../../read/page-reading.ts';
import { readPageTask } from '../../read/read-page.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import { createHostAccess } from '../access/gated-host-access.ts';
import { claimSeed, type JobChanges, openStore } from '../process/claimed-task.fixture.ts';
import { httpResources } from '../process/fetch-resources.fixture.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import { createAttempts } from './make-attempt.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const here: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  read: async (request) => ({ ...readPageTask(request, compileRules(request.job)), ms: 1 }),
};

interface Changes {
  readonly job?: JobChanges;
  readonly reader?: PageReader;
  readonly resources?: Partial<FetchResources>;
}

/** A task on a site of its own whose request the gate has admitted. */
async function admittedTask(title: string, { job = {}, reader = here, resources = {} }: Changes = {}) {
  const { origin } = await serve((_, response) => void response.end(`<title>${title}</title><p>Some text.`));
  const url = `${origin}/page`;
  const { lease, task, running } = await claimSeed(store, url, job);
  const engine = testEngine();
  const budget = createByteBudget(1_000_000);
  const policies = buildPolicies(EMPTY_POLICY_FILE);
  const { signal } = new AbortController();
  const metrics = createMetrics({ withProcess: false });
  const access = createHostAccess(lease, {
    robots: createRobotsCache({ store, engine, now: Date.now }),
    policies: () => policies,
    now: Date.now,
    metrics,
    signal,
    isOurs: () => true,
  });
  const attempts = createAttempts({
    ...{ store, lease, access, reader, signal, metrics, now: Date.now, random: () => 0.5 },
    taskTimeoutMs: 60_000,
    hostKey: lease.key,
    resources: { ...httpResources(engine, budget), ...resources },
  });
  expect(access.admit(running, new URL(url)).kind).toBe('go');
  return { access, attempts, budget, running, task };
}

describe('an attempt', () => {
  it('releases the host when the response is there, and holds its bytes until it is read', async () => {
    const { access, attempts, budget, running, task } = await admittedTask('Hello');
    const fetched = await attempts.fetch(task, running);
    expect(access.inFlight).toBe(0);
    if (!('fetched' in fetched)) throw new Error('The attempt was not made.');
    expect(budget.heldBytes).toBeGreaterThan(0);
    const finished = await attempts.finish(fetched);
    expect(budget.heldBytes).toBe(0);
    expect(finished).toMatchObject({
      completion: { end: { state: 'done', rule: null }, page: { title: 'Hello' } },
      attempt: { engine: 'http', outcome: 'ok', statusCode: 200, reason: 'plan.cheapest' },
      fault: null,
    });
  });

  it('that is refused before a request is sent releases the host, and ends the task with the reason', async () => {
    const { access, attempts, running, task } = await admittedTask('x', {
      job: { page: { engine: 'stealth' } },
    });
    const before = access.state;
    const refused = await attempts.fetch(task, running);
    expect(access.inFlight).toBe(0);
    if (!('fetched' in refused)) throw new Error('The attempt was not refused.');
    expect(refused.prepared).toBeNull();
    expect(await attempts.finish(refused)).toMatchObject({
      completion: { end: { state: 'failed', errorCode: 'UNSUPPORTED_OPTION' }, isUnsent: true },
      attempt: { engine: 'stealth', statusCode: null },
    });
    expect(access.state.breaker).toEqual(before.breaker);
    expect(access.state.memory).toBeUndefined();
  });

  it('that breaks off by a fault of the program releases the host, and returns the fault', async () => {
    const fault = new TypeError('engine broke');
    const engine = () => {
      throw fault;
    };
    const { access, attempts, budget, running, task } = await admittedTask('x', { resources: { engine } });
    expect(await attempts.fetch(task, running)).toMatchObject({ error: fault, method: { engine: 'http' } });
    expect([access.inFlight, budget.heldBytes]).toEqual([0, 0]);
  });

  it('whose page cannot be read by a fault of the program gives its bytes back, and returns the fault', async () => {
    const fault = new TypeError('reader broke');
    const reader = { ...here, read: () => Promise.reject(fault) };
    const { attempts, budget, running, task } = await admittedTask('x', { reader });
    const fetched = await attempts.fetch(task, running);
    if (!('fetched' in fetched)) throw new Error('The attempt was not made.');
    expect(await attempts.finish(fetched)).toMatchObject({ error: fault });
    expect(budget.heldBytes).toBe(0);
  });

  it('that no proxy can carry releases the host, and reports no use to the pool', async () => {
    const ends: unknown[] = [];
    const proxies: FetchResources['proxies'] = {
      choose: () => ({
        kind: 'none',
        code: 'NO_HEALTHY_PROXY',
        reason: 'all proxies failed',
        retryAt: null,
      }),
      ended: (_use, end) => void ends.push(end),
    };
    const installation = () => ({
      engines: [{ name: 'http' as const, abilities: ['proxies' as const], isAnswering: true }],
      tiers: ['datacenter'],
      hasSolver: false,
    });
    const job = { page: { proxy: { url: null, tier: 'datacenter' as const, country: null } } };
    const { access, attempts, running, task } = await admittedTask('x', {
      job,
      resources: { proxies, installation },
    });
    const refused = await attempts.fetch(task, running);
    if (!('fetched' in refused)) throw new Error('The attempt was not refused.');
    expect(refused.fetched).toMatchObject({ kind: 'error', error: { code: 'NO_HEALTHY_PROXY' } });
    expect(refused.fetched.kind === 'error' && refused.fetched.error).toBeInstanceOf(ScrapifieError);
    expect([access.inFlight, ends.length]).toEqual([0, 0]);
  });
});
