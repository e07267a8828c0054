import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProxyOutcome } from '../outcome.ts';
import { anywhere, configOf, end, listOf, queryFor, useOf } from './pool.fixture.ts';
import { ProxyPool, type ProxyUse } from './proxy-pool.ts';

const OUTCOMES: readonly ProxyOutcome[] = [
  'served',
  'banned',
  'throttled',
  'proxy-failed',
  'unclear',
  'target-failed',
];
const hosts = fc.constantFrom('x.example', 'y.example', 'z.example');
const seed = fc.double({ min: 0, max: 0.999, noNaN: true });
const sizes = fc.integer({ min: 1, max: 6 });
/** Many providers of one proxy each would open breakers; a long way between steps keeps those out of the picture. */
const FAR_MS = 70_000;

test('property 18: only healthy proxies are chosen, in turn', () => {
  const step = fc.record({ fails: fc.boolean(), restores: fc.option(fc.nat(5)) });
  fc.assert(
    fc.property(sizes, seed, fc.array(step, { maxLength: 40 }), (size, random, steps) => {
      const pool = new ProxyPool(configOf([listOf('a', anywhere(size))]), () => random);
      const failed = new Set<number>();
      let turn = Math.floor(random * size);
      steps.forEach(({ fails, restores }, index) => {
        const now = index * FAR_MS;
        const decision = pool.choose(queryFor(`h${index}.example`), now);
        const healthy = Array.from({ length: size }, (_, offset) => (turn + offset) % size).filter(
          (slot) => !failed.has(slot),
        );
        if (decision.kind === 'use') {
          const expected = healthy[0] ?? -1;
          expect(decision.use.proxy.id).toBe(`a/${expected + 1}`);
          turn = (expected + 1) % size;
          end(pool, decision.use, fails ? 'proxy-failed' : 'served');
          if (fails) failed.add(expected);
        } else {
          expect(decision).toMatchObject({ kind: 'none', code: 'NO_HEALTHY_PROXY' });
          expect(healthy).toEqual([]);
        }
        if (restores !== null && restores < size) {
          pool.checked(
            `a/${restores + 1}`,
            { outcome: 'served', host: 'check.example', sentAt: now + 1 },
            now + 2,
          );
          failed.delete(restores);
        }
      });
    }),
  );
});

test('property 19: a proxy that failed is unhealthy and not chosen until a check restores it', () => {
  fc.assert(
    fc.property(sizes, seed, fc.array(hosts, { minLength: 1, maxLength: 20 }), (size, random, names) => {
      const pool = new ProxyPool(configOf([listOf('a', anywhere(size))]), () => random);
      const use = useOf(pool.choose(queryFor('x.example'), 0));
      end(pool, use, 'proxy-failed');
      const { id } = use.proxy;
      const isHealthy = () => pool.figures(1e9).proxies.find((proxy) => proxy.id === id)?.isHealthy;
      expect(isHealthy()).toBe(false);
      names.forEach((host, index) => {
        const decision = pool.choose(queryFor(host), index * FAR_MS);
        if (decision.kind === 'use') expect(decision.use.proxy.id).not.toBe(id);
        else expect(size).toBe(1);
      });
      pool.checked(id, { outcome: 'served', host: 'check.example', sentAt: 1e7 }, 1e7);
      expect(isHealthy()).toBe(true);
      const again = Array.from(
        { length: size },
        () => useOf(pool.choose(queryFor('x.example'), 1e7)).proxy.id,
      );
      expect(again).toContain(id);
    }),
  );
});

test('property 20: no proxy is used twice for one host within the cooldown', () => {
  const step = fc.record({ host: hosts, afterMs: fc.nat(12_000), outcome: fc.constantFrom(...OUTCOMES) });
  fc.assert(
    fc.property(sizes, seed, fc.array(step, { maxLength: 60 }), (size, random, steps) => {
      const cooldownMs = 30_000;
      const pool = new ProxyPool(configOf([listOf('a', anywhere(size))], { cooldownMs }), () => random);
      const usedAt = new Map<string, number>();
      let now = 0;
      for (const { host, afterMs, outcome } of steps) {
        now += afterMs;
        const decision = pool.choose(queryFor(host), now);
        if (decision.kind === 'wait') expect(decision.until).toBeGreaterThan(now);
        if (decision.kind !== 'use') continue;
        const key = `${decision.use.proxy.id} ${host}`;
        expect(now - (usedAt.get(key) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(cooldownMs);
        usedAt.set(key, now);
        end(pool, decision.use, outcome, now);
      }
    }),
  );
});

test('property 21: the figures are exactly what was reported, for proxies, providers and tiers', () => {
  const step = fc.record({
    host: hosts,
    outcome: fc.constantFrom(...OUTCOMES),
    bytes: fc.nat(10_000),
    ms: fc.nat(5_000),
  });
  fc.assert(
    fc.property(seed, fc.array(step, { maxLength: 60 }), (random, steps) => {
      const providers = [
        listOf('a', anywhere(3)),
        listOf('b', anywhere(2)),
        listOf('c', anywhere(2), 'mobile'),
      ];
      const pool = new ProxyPool(configOf(providers), () => random);
      const reported: { use: ProxyUse; outcome: ProxyOutcome; bytes: number }[] = [];
      steps.forEach(({ host, outcome, bytes, ms }, now) => {
        const decision = pool.choose(queryFor(host), now);
        if (decision.kind !== 'use') return;
        pool.ended(decision.use, { outcome, bytes, ms }, now);
        reported.push({ use: decision.use, outcome, bytes });
      });
      const figures = pool.figures(steps.length);
      const expectFor = (group: object, isMine: (use: ProxyUse) => boolean) => {
        const mine = reported.filter(({ use }) => isMine(use));
        const count = (...kinds: ProxyOutcome[]) =>
          mine.filter(({ outcome }) => kinds.includes(outcome)).length;
        expect(group).toMatchObject({
          requests: mine.length,
          successes: count('served'),
          failures: count('proxy-failed', 'unclear'),
          bans: count('banned', 'throttled'),
          targetFailures: count('target-failed'),
          bytes: mine.reduce((sum, { bytes }) => sum + bytes, 0),
        });
      };
      for (const each of figures.proxies) expectFor(each, ({ proxy }) => proxy.id === each.id);
      for (const each of figures.providers) expectFor(each, ({ proxy }) => proxy.provider === each.name);
      for (const each of figures.tiers) expectFor(each, ({ proxy }) => proxy.tier === each.tier);
    }),
  );
});
