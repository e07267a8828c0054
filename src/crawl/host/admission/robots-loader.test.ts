import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { Store } from '../../../core/ports/store.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import { createHostAccess } from '../access/gated-host-access.ts';
import { claimSeed, listeningLogger, openStore } from '../process/claimed-task.fixture.ts';
import { httpResources } from '../process/fetch-resources.fixture.ts';
import { createQuarantine } from '../process/quarantine.ts';
import { createRobotsLoader } from './robots-loader.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 20_000 });
const PAUSE_MS = 10_000;

/** A loader for a site whose robots.txt redirects once. The gate admits one request in ten seconds of `time`. */
async function loaderOfRedirectingSite() {
  const asked: string[] = [];
  const { origin } = await serve((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/robots.txt') response.writeHead(301, { location: '/real.txt' }).end();
    else response.end('User-agent: *\nDisallow: /closed\n');
  });
  const url = new URL(`${origin}/page`);
  const { lease, running } = await claimSeed(store, url.href);
  let time = Date.now();
  const now = () => time;
  const engine = testEngine();
  const robots = createRobotsCache({ store, engine, now });
  const file = { ...EMPTY_POLICY_FILE, default: { ratePerSecond: 1_000 / PAUSE_MS, concurrency: 1 } };
  const policies = buildPolicies(file);
  const { signal } = new AbortController();
  const access = createHostAccess(lease, {
    ...{ robots, now, signal },
    policies: () => policies,
    metrics: createMetrics({ withProcess: false }),
    isOurs: () => true,
  });
  const failures: unknown[] = [];
  const loader = createRobotsLoader({
    ...{ access, robots, now, signal, hostKey: lease.key },
    resources: httpResources(engine),
    quarantine: createQuarantine(Date.now),
    logger: listeningLogger().logger,
    isOurs: () => true,
    stopped: signal,
    onChange: () => undefined,
    onFailure: (error) => void failures.push(error),
  });
  const pass = (ms: number) => {
    time += ms;
  };
  return { access, asked, failures, loader, pass, robots, running, url };
}

describe('a redirect of robots.txt', () => {
  it('is followed when the gate has admitted the next request, and not before', async () => {
    const { access, asked, failures, loader, pass, robots, running, url } = await loaderOfRedirectingSite();
    loader.load(running, url, false);
    await soon(() => expect([asked, access.inFlight]).toEqual([['/robots.txt'], 0]));
    expect(loader.isLoading).toBe(true);
    expect(access.check(running, url)).toMatchObject({ kind: 'wait', reason: 'rate.bucket' });
    pass(2 * PAUSE_MS);
    await soon(() => expect(loader.isLoading).toBe(false));
    expect(asked).toEqual(['/robots.txt', '/real.txt']);
    expect(robots.recall(url.origin)?.allows('/closed').allowed).toBe(false);
    expect([access.inFlight, access.state.requests]).toEqual([0, 2]);
    expect(failures).toEqual([]);
  });

  it('is not followed when the gate holds the host: the file counts as unreachable', async () => {
    const { access, asked, loader, pass, robots, running, url } = await loaderOfRedirectingSite();
    loader.load(running, url, false);
    await soon(() => expect([asked, access.inFlight]).toEqual([['/robots.txt'], 0]));
    expect(access.check(running, url).kind).toBe('wait');
    // A page of the host was answered with 429 meanwhile.
    const limited = {
      outcome: 'rate-limited',
      statusCode: 429,
      errorCode: null,
      retryAfterMs: 3_600_000,
    } as const;
    pass(2 * PAUSE_MS);
    expect(access.admit(running, url).kind).toBe('go');
    access.settle(running, url, limited, 0);
    await soon(() => expect(loader.isLoading).toBe(false));
    expect(asked).toEqual(['/robots.txt']);
    expect(robots.recall(url.origin)?.entry).toMatchObject({
      status: 'unreachable',
      reason: 'ROBOTS_UNREACHABLE',
    });
    expect(access.inFlight).toBe(0);
  });
});
