import { describe, expect, it } from 'vitest';
import { ProxyCredentials } from '../../../core/model/proxy.ts';
import { anywhere, choose, configOf, end, listOf, queryFor, useOf } from './pool.fixture.ts';
import type { GatewayProvider, ProxyProvider } from './proxy-config.ts';
import { PROVIDER_BREAKER } from './proxy-health.ts';
import { ProxyPool } from './proxy-pool.ts';

const first = () => 0;
const poolOf = (providers: readonly ProxyProvider[], more = {}, rules = {}) =>
  new ProxyPool(configOf(providers, more), first, rules);
const hasHealthy = (pool: ProxyPool, now: number) => pool.figures(now).proxies.some((each) => each.isHealthy);
const three = () => poolOf([listOf('a', anywhere(3))]);
const gateway = (more: Partial<GatewayProvider> = {}): GatewayProvider => ({
  kind: 'oxylabs',
  name: 'ox',
  tier: 'residential',
  isPrivateAllowed: false,
  protocol: 'http',
  host: 'pr.example',
  port: 7_777,
  credentials: new ProxyCredentials('customer-x', 'secret'),
  exits: 2,
  sessionMinutes: 10,
  countries: null,
  ...more,
});

describe('the choice', () => {
  it('begins anywhere and goes in turn', () => {
    const pool = new ProxyPool(configOf([listOf('a', anywhere(3))]), () => 0.5);
    const ids = [1, 2, 3, 4].map((now) => choose(pool, 'x.example', now).id);
    expect(ids).toEqual(['a/2', 'a/3', 'a/1', 'a/2']);
  });

  it('takes the cheapest tier unless one is asked for, and then that one only', () => {
    const pool = poolOf([listOf('m', anywhere(1), 'mobile'), listOf('d', anywhere(1))]);
    expect(choose(pool, 'x.example', 0).id).toBe('d/1');
    expect(choose(pool, 'x.example', 0, { tier: 'mobile' }).id).toBe('m/1');
    const none = pool.choose(queryFor('x.example', { tier: 'residential' }), 0);
    expect(none).toEqual({
      kind: 'none',
      code: 'NO_HEALTHY_PROXY',
      reason: 'no residential proxy can be used for x.example: none is configured',
      retryAt: null,
    });
  });

  it('keeps to the country', () => {
    const pool = poolOf([listOf('a', ['de', null, 'us', 'de'])]);
    expect([1, 2, 3].map((now) => choose(pool, 'x.example', now, { country: 'de' }).id)).toEqual([
      'a/1',
      'a/4',
      'a/1',
    ]);
    expect(pool.choose(queryFor('x.example', { country: 'fr' }), 0)).toMatchObject({
      kind: 'none',
      reason: expect.stringContaining('not in France'),
      retryAt: null,
    });
  });

  it('tells a gateway the country, and holds it to those of its contract', () => {
    const pool = poolOf([gateway({ countries: ['de', 'us'] })]);
    expect(choose(pool, 'x.example', 0, { country: 'us' }).credentials?.username).toContain('-cc-US-');
    expect(choose(pool, 'x.example', 0).country).toMatch(/^(?:de|us)$/);
    expect(pool.choose(queryFor('x.example', { country: 'fr' }), 0).kind).toBe('none');
  });

  it('waits rather than spend a dearer tier on what a pause solves', () => {
    const pool = poolOf([listOf('d', anywhere(1)), listOf('m', anywhere(1), 'mobile')], {
      cooldownMs: 30_000,
    });
    choose(pool, 'x.example', 1_000);
    expect(pool.choose(queryFor('x.example'), 2_000)).toEqual({
      kind: 'wait',
      until: 31_000,
      reason: 'd: of 1, 1 resting from x.example',
    });
    expect(choose(pool, 'y.example', 2_000).id).toBe('d/1');
    expect(choose(pool, 'x.example', 31_000).id).toBe('d/1');
  });
});

describe('a host that bans a proxy', () => {
  it('does not get it until the ban has decayed; other hosts do', () => {
    const pool = three();
    end(pool, useOf(pool.choose(queryFor('x.example'), 0)), 'banned');
    const chosen = [1, 2, 3, 4].map((now) => choose(pool, 'x.example', now).id);
    expect(chosen).not.toContain('a/1');
    expect([1, 2, 3].map((now) => choose(pool, 'y.example', now).id)).toContain('a/1');
    expect([1, 2, 3].map((step) => choose(pool, 'x.example', 600_000 + step).id)).toContain('a/1');
    expect(pool.figures(0).proxies[0]).toMatchObject({ bans: 1, failures: 0, isHealthy: true });
  });

  it('and all others gets none, with the time when that ends', () => {
    const pool = poolOf([listOf('a', anywhere(1))]);
    end(pool, useOf(pool.choose(queryFor('x.example'), 0)), 'banned');
    expect(pool.choose(queryFor('x.example'), 1)).toMatchObject({
      kind: 'none',
      retryAt: 600_000,
      reason: expect.stringContaining('1 banned by x.example'),
    });
  });

  it('for asking too often is believed the second time', () => {
    const pool = poolOf([listOf('a', anywhere(1))]);
    end(pool, useOf(pool.choose(queryFor('x.example'), 0)), 'throttled');
    end(pool, useOf(pool.choose(queryFor('x.example'), 1)), 'throttled');
    expect(pool.choose(queryFor('x.example'), 2).kind).toBe('none');
  });
});

describe('a doubtful failure', () => {
  it('at one host, however often, is not the fault of the proxy', () => {
    const pool = poolOf([listOf('a', anywhere(1))]);
    for (const now of [0, 1]) end(pool, useOf(pool.choose(queryFor('dead.example'), now)), 'unclear');
    expect(pool.choose(queryFor('dead.example'), 2).kind).toBe('none');
    expect(choose(pool, 'x.example', 2).id).toBe('a/1');
  });

  it('at two hosts in a row is, unless something worked between them', () => {
    const pool = poolOf([listOf('a', anywhere(1))]);
    const run = (host: string, outcome: 'unclear' | 'served') =>
      end(pool, useOf(pool.choose(queryFor(host), 0)), outcome);
    run('x.example', 'unclear');
    run('z.example', 'served');
    run('y.example', 'unclear');
    expect(hasHealthy(pool, 0)).toBe(true);
    run('x.example', 'unclear');
    expect(hasHealthy(pool, 0)).toBe(false);
  });
});

describe('a proxy that failed', () => {
  it('is due for a check after a pause, and a check brings it back', () => {
    const pool = poolOf([gateway({ exits: 1 })]);
    end(pool, useOf(pool.choose(queryFor('x.example'), 0)), 'proxy-failed');
    expect(pool.due(40_000)).toEqual([]);
    expect(pool.due(60_000).map(({ id }) => id)).toEqual(['ox/1']);
    pool.checked('ox/1', { outcome: 'proxy-failed', host: 'check.example', sentAt: 60_000 }, 60_100);
    expect(pool.due(120_000)).toEqual([]);
    pool.checked('ox/1', { outcome: 'target-failed', host: 'check.example', sentAt: 180_000 }, 180_100);
    expect(choose(pool, 'x.example', 180_200).id).toBe('ox/1');
  });

  it('is not brought back by an answer that was under way', () => {
    const pool = poolOf([listOf('a', anywhere(1))]);
    const [before, failing] = [
      useOf(pool.choose(queryFor('x.example'), 0)),
      useOf(pool.choose(queryFor('y.example'), 1)),
    ];
    end(pool, failing, 'proxy-failed', 2);
    end(pool, before, 'served', 3);
    expect(pool.choose(queryFor('x.example'), 4)).toMatchObject({
      kind: 'none',
      reason: expect.stringContaining('1 failed'),
    });
  });

  it('is simply tried again after the pause where no URL is fetched to check it', () => {
    const pool = poolOf([listOf('a', anywhere(1))], { checkUrl: null });
    end(pool, useOf(pool.choose(queryFor('x.example'), 0)), 'proxy-failed');
    expect(hasHealthy(pool, 40_000)).toBe(false);
    end(pool, useOf(pool.choose(queryFor('x.example'), 60_000)), 'served');
    expect(hasHealthy(pool, 60_001)).toBe(true);
  });

  it('of a list is connected to where no URL is fetched: that shows one that is down, and brings none back', () => {
    const pool = poolOf([listOf('a', anywhere(1)), gateway()], { checkUrl: null });
    expect(pool.due(0).map(({ id }) => id)).toEqual(['a/1']);
    pool.checked('a/1', { outcome: 'proxy-failed', host: '', sentAt: 0 }, 5);
    expect(hasHealthy(pool, 6)).toBe(true);
    expect(pool.figures(6).proxies[0]).toMatchObject({ id: 'a/1', isHealthy: false });
    expect(pool.due(1e9).map(({ id }) => id)).toEqual(['a/1']);
    pool.checked('a/1', { outcome: 'served', host: '', sentAt: 1e9 }, 1e9);
    expect(pool.due(1e9 + 30_000)).toEqual([]);
    // The pause is over, so a request may try it.
    expect(choose(pool, 'x.example', 1e9).id).toBe('a/1');
  });

  it('of a list is checked when nothing was heard of it; exits of gateways are not, since bytes cost', () => {
    const pool = poolOf([listOf('a', anywhere(1)), gateway()]);
    expect(pool.due(0).map(({ id }) => id)).toEqual(['a/1']);
    pool.checked('a/1', { outcome: 'served', host: 'check.example', sentAt: 0 }, 5);
    expect(pool.due(60_000)).toEqual([]);
    expect(pool.due(60_005)).toHaveLength(1);
  });
});

describe('a session', () => {
  const session = { id: 's1', proxyId: null };

  it('keeps its proxy, cooldown or not, while others go on in turn', () => {
    const pool = poolOf([listOf('a', anywhere(3))], { cooldownMs: 30_000 });
    const mine = choose(pool, 'x.example', 0, { session }).id;
    choose(pool, 'y.example', 1);
    expect([2, 3, 4].map((now) => choose(pool, 'x.example', now, { session }).id)).toEqual([
      mine,
      mine,
      mine,
    ]);
  });

  it('leaves a proxy that failed or was banned, says why, and keeps the next', () => {
    const pool = three();
    const use = useOf(pool.choose(queryFor('x.example', { session }), 0));
    end(pool, use, 'banned');
    const moved = pool.choose(queryFor('x.example', { session }), 1);
    expect(moved.reason).toContain('the session leaves a/1 (x.example banned it)');
    end(pool, useOf(moved), 'proxy-failed');
    expect(choose(pool, 'x.example', 2, { session }).id).toBe('a/3');
    expect(choose(pool, 'x.example', 3, { session }).id).toBe('a/3');
  });

  it('that was stored goes on with the proxy it had', () => {
    expect(choose(three(), 'x.example', 0, { session: { id: 's9', proxyId: 'a/3' } }).id).toBe('a/3');
    expect(choose(three(), 'x.example', 0, { session: { id: 's9', proxyId: 'gone/3' } }).id).toBe('a/1');
  });

  it('has an exit of its own at a gateway', () => {
    const pool = poolOf([gateway({ exits: 1 })]);
    const names = [null, session, { id: 's2', proxyId: null }, session].map(
      (each, now) => choose(pool, 'x.example', now, { session: each }).credentials?.username,
    );
    expect(new Set(names).size).toBe(3);
    expect(names[1]).toBe(names[3]);
  });
});

describe('a provider that keeps failing', () => {
  const failing = (pool: ProxyPool, times: number) => {
    for (let count = 0; count < times; count++) {
      end(pool, useOf(pool.choose(queryFor(`h${count}.example`), count)), 'proxy-failed');
    }
  };

  it('is replaced by the next of its tier, probed after 30 s, and used again after three probes', () => {
    const pool = poolOf([listOf('a', anywhere(20)), listOf('b', anywhere(2))]);
    failing(pool, PROVIDER_BREAKER.minRequests);
    const other = pool.choose(queryFor('x.example'), 10);
    expect(useOf(other).proxy.provider).toBe('b');
    expect(other.reason).toContain('a kept failing and is left alone for 30 s');
    expect(pool.figures(10).providers.map(({ breaker }) => breaker)).toEqual(['open', 'closed']);

    const probes = [0, 1, 2].map((step) => useOf(pool.choose(queryFor(`p${step}.example`), 40_000)));
    expect(probes.map(({ proxy }) => proxy.provider)).toEqual(['a', 'a', 'a']);
    expect(choose(pool, 'x.example', 40_001).provider).toBe('b');
    for (const probe of probes) end(pool, probe, 'served', 40_100);
    expect(choose(pool, 'y.example', 40_200).provider).toBe('a');
  });

  it('is left alone again when a probe fails', () => {
    const pool = poolOf([listOf('a', anywhere(20)), listOf('b', anywhere(2))]);
    failing(pool, PROVIDER_BREAKER.minRequests);
    end(pool, useOf(pool.choose(queryFor('x.example'), 40_000)), 'proxy-failed');
    expect(choose(pool, 'x.example', 41_000).provider).toBe('b');
    expect(choose(pool, 'x.example', 70_001).provider).toBe('a');
  });

  it('does not fail by the faults of targets', () => {
    const pool = poolOf([listOf('a', anywhere(2))]);
    for (let now = 0; now < 50; now++)
      end(pool, useOf(pool.choose(queryFor(`h${now}.example`), now)), 'target-failed');
    expect(pool.figures(50)).toMatchObject({
      providers: [{ breaker: 'closed', healthy: 2, failures: 0, targetFailures: 50, requests: 50 }],
    });
  });
});

it('what is remembered of hosts and sessions is bounded', () => {
  const pool = poolOf([listOf('a', anywhere(2))], {}, { maxPairs: 10, maxSessions: 5 });
  for (let now = 0; now < 100; now++)
    choose(pool, `h${now}.example`, now, { session: { id: `s${now}`, proxyId: null } });
  expect(pool.remembered).toEqual({ pairs: 10, sessions: 5 });
});

describe('providers of a tier', () => {
  it('are used least loaded first where the file says so, by what they have for each proxy', () => {
    const providers = [listOf('large', anywhere(3)), listOf('small', anywhere(1))];
    const names = (pool: ReturnType<typeof poolOf>, now: number) =>
      Array.from({ length: 8 }, (_, index) => choose(pool, `h${index}.example`, now).provider);
    const count = (all: readonly string[], name: string) => all.filter((each) => each === name).length;
    expect(count(names(poolOf(providers), 0), 'large')).toBe(8);
    const shared = names(poolOf(providers, { selection: 'least-loaded' }), 0);
    expect([count(shared, 'large'), count(shared, 'small')]).toEqual([6, 2]);
  });

  it('stand in for the least loaded one when it cannot serve', () => {
    const pool = poolOf([listOf('a', anywhere(1)), listOf('b', anywhere(1))], { selection: 'least-loaded' });
    const first = useOf(pool.choose(queryFor('x.example'), 0));
    const other = first.proxy.provider === 'a' ? 'b' : 'a';
    end(pool, useOf(pool.choose(queryFor('x.example'), 1)), 'proxy-failed');
    expect(choose(pool, 'y.example', 2).provider).toBe(first.proxy.provider);
    expect(choose(pool, 'y.example', 3).provider).not.toBe(other);
  });
});
