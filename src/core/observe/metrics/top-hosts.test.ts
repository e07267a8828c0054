import { expect, it } from 'vitest';
import { TopHosts } from './top-hosts.ts';

const ok = { result: 'ok', ms: 100, bytes: 10 } as const;
const HOUR_MS = 3_600_000;

it('shows the hosts that are asked most, with all that was counted of them', () => {
  const hosts = new TopHosts(2, () => 0);
  for (let index = 0; index < 100; index += 1) {
    hosts.add('busy.test', ok);
    if (index % 2 === 0) hosts.add('half.test:8080', { ...ok, result: 'blocked' });
    hosts.add(`rare-${index}.test`, ok);
  }
  expect(hosts.shown()).toEqual([
    { host: 'busy.test', totals: { ok: 100, blocked: 0, failed: 0, ms: 10_000, bytes: 1_000 } },
    { host: 'half.test:8080', totals: { ok: 0, blocked: 50, failed: 0, ms: 5_000, bytes: 500 } },
  ]);
});

it('gives the place of a host that is not asked any more to one that is, a minute later at the earliest', () => {
  let now = 0;
  const hosts = new TopHosts(1, () => now);
  for (let index = 0; index < 50; index += 1) hosts.add('yesterday.test', ok);
  expect(hosts.shown().map(({ host }) => host)).toEqual(['yesterday.test']);
  now += 24 * HOUR_MS;
  hosts.add('today.test', ok);
  expect(hosts.shown().map(({ host }) => host)).toEqual(['today.test']);
  for (let index = 0; index < 9; index += 1) hosts.add('other.test', ok);
  expect(hosts.shown().map(({ host }) => host)).toEqual(['today.test']);
  now += 60_000;
  expect(hosts.shown().map(({ host }) => host)).toEqual(['other.test']);
});

it('shows no host where none are wanted, and none that is no host', () => {
  const none = new TopHosts(0, () => 0);
  none.add('a.test', ok);
  expect(none.shown()).toEqual([]);
  const some = new TopHosts(5, () => 0);
  for (const host of ['http://a.test/?token=1', 'a"} 1', `${'a'.repeat(101)}.test`, '']) some.add(host, ok);
  expect(some.shown()).toEqual([]);
});

it('counts no more hosts than it can keep', () => {
  const hosts = new TopHosts(5_000, () => 0);
  for (let index = 0; index < 10_000; index += 1) hosts.add(`h${index}.test`, ok);
  expect(hosts.shown().length).toBeLessThanOrEqual(2_000);
});
