import { expect, onTestFinished, test, vi } from 'vitest';
import { startGuardProxy } from '../guard-proxy/guard-proxy.ts';
import { ClientCache, loadWreq } from './handshake-clients.ts';
import { IDENTITY } from './impersonate.fixture.ts';

async function cacheOf(maxClients: number, idleMs = 60_000) {
  const guard = await startGuardProxy({ allowPrivate: false });
  const plan = { connectTimeoutMs: 1_000, trustsAnyCertificate: false };
  const clients = new ClientCache({ driver: await loadWreq(), guard, maxClients, idleMs, plan });
  onTestFinished(async () => {
    await clients.close();
    await guard.close();
  });
  return { clients, guard };
}
const visitor = (index: number) => ({
  identity: { ...IDENTITY, region: String(index) },
  proxy: undefined,
  key: undefined,
});

test('visitors stay within the bound, at the guard too, and those in use stay', async () => {
  const { clients, guard } = await cacheOf(3);
  const held = clients.acquire(visitor(0));
  for (let index = 1; index < 10; index += 1) {
    const entry = clients.acquire(visitor(index));
    await entry.client;
    clients.release(entry);
    expect(clients.size).toBeLessThanOrEqual(3);
    expect(guard.admitted).toBeLessThanOrEqual(3);
  }
  expect(clients.acquire(visitor(0))).toBe(held);
});

test('one that is not used goes after a while', async () => {
  const { clients, guard } = await cacheOf(3, 100);
  const held = clients.acquire(visitor(0));
  clients.release(clients.acquire(visitor(1)));
  await vi.waitFor(() => expect([clients.size, guard.admitted]).toEqual([1, 1]), { timeout: 20_000 });
  clients.release(held);
  await vi.waitFor(() => expect([clients.size, guard.admitted]).toEqual([0, 0]), { timeout: 20_000 });
});
