import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../../../test/proxies/forwarding-proxy.ts';
import { startSite } from '../../../test/proxies/target-site.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { type CheckOutcome, createProxyHealth, type ProxyHealthOptions } from './proxy-health.ts';

const names = { 'check.example': '127.0.0.1' };

function watch(proxies: readonly ProxyEndpoint[], port: number, more: Partial<ProxyHealthOptions> = {}) {
  const outcomes = new Map<string, CheckOutcome>();
  const health = createProxyHealth({
    pool: {
      due: () => proxies,
      checked: (id, { outcome }) => void outcomes.set(id, outcome),
    },
    url: `http://check.example:${port}/ok?x=1`,
    userAgent: 'TestBot/1',
    allowPrivate: (address) => address === '127.0.0.1',
    timeoutMs: 3_000,
    lookEveryMs: 3_600_000,
    ...more,
  });
  onTestFinished(() => health.close());
  return { health, outcomes };
}

test('each proxy is judged by a request through it', async () => {
  const site = await startSite();
  const login = ['me', 'secret'] as const;
  const good = await startProxy({ names, login });
  const socks = await startProxy({ names, protocol: 'socks5', login });
  const lying = await startProxy({ names, behaviour: 'hang-up' });
  const blind = await startProxy();
  const endpoints = [
    good.endpoint(),
    socks.endpoint(),
    good.endpoint({ id: 'locked', credentials: null }),
    good.endpoint({ id: 'dead', port: 1 }),
    lying.endpoint({ id: 'lying' }),
    blind.endpoint({ id: 'blind' }),
  ];
  const { health, outcomes } = watch(endpoints, site.port);
  await health.run();
  expect(Object.fromEntries(outcomes)).toEqual({
    [good.endpoint().id]: 'served',
    [socks.endpoint().id]: 'served',
    locked: 'proxy-failed',
    dead: 'proxy-failed',
    lying: 'unclear',
    blind: 'target-failed',
  });
  site.isDown = true;
  await health.run();
  expect(outcomes.get(good.endpoint().id)).toBe('target-failed');
});

test('only a few checks run at a time, and closing ends them without a verdict', async () => {
  const proxy = await startProxy({ behaviour: 'silent' });
  const endpoints = Array.from({ length: 9 }, (_, index) => proxy.endpoint({ id: `p/${index}` }));
  const { health, outcomes } = watch(endpoints, 80, { maxAtOnce: 3, timeoutMs: 60_000 });
  const running = health.run();
  await expect.poll(() => proxy.asked.length).toBe(3);
  // Checks that wait or run already are not started a second time.
  await health.run();
  expect(proxy.asked).toHaveLength(3);
  await health.close();
  await running;
  expect(outcomes.size).toBe(0);
  await health.run();
  expect(proxy.asked).toHaveLength(3);
});

test('what is due is looked for by itself', async () => {
  const site = await startSite();
  const proxy = await startProxy({ names });
  const { outcomes } = watch([proxy.endpoint()], site.port, { lookEveryMs: 5 });
  await expect.poll(() => outcomes.size).toBe(1);
});

test('without a URL a proxy is judged by whether it listens', async () => {
  const good = await startProxy({ behaviour: 'silent' });
  const endpoints = [good.endpoint(), good.endpoint({ id: 'dead', port: 1 })];
  const { health, outcomes } = watch(endpoints, 80, { url: null });
  await health.run();
  expect(Object.fromEntries(outcomes)).toEqual({ [good.endpoint().id]: 'served', dead: 'proxy-failed' });
  expect(good.asked).toEqual([]);
});
