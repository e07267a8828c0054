import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutage } from '../../../test/property/outage.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import { watchStore } from './store-watch.ts';

const away = () => new ScrapifieError('STORE_UNAVAILABLE', 'PostgreSQL at 10.0.0.7:5432 did not answer.');
/** Long enough for a real answer on a busy machine. */
const times = { patienceMs: 100, probeMs: 800, retryMs: 1 };

let folder: string;
let real: Store;
let calls: string[];
let told: (string | null)[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scrapifie-watch-'));
  real = await createSqliteStore({ path: join(folder, 'scrapifie.db') });
  await real.migrate();
  calls = [];
  told = [];
});
afterEach(async () => {
  await real.close();
  await rm(folder, { recursive: true, force: true });
});

function open(given: Partial<Store> = {}, limits: { patienceMs: number } | null = null) {
  const outage = createOutage(away);
  const counted: Store = {
    ...real,
    ...given,
    defaultAccount() {
      calls.push('defaultAccount');
      return (given.defaultAccount ?? real.defaultAccount)();
    },
    clock() {
      calls.push('clock');
      return real.clock();
    },
  };
  const store = watchStore(outage.wrap(counted), {
    onChange: (reason) => told.push(reason?.message ?? null),
    ...times,
    ...limits,
  });
  return { outage, store };
}

describe('a watched store', () => {
  it('that works is just the store', async () => {
    const { store } = open({}, { patienceMs: 60_000 });
    expect(await store.defaultAccount()).toBe(await real.defaultAccount());
    await expect(store.deleteJob('none' as never)).resolves.toBe(false);
    expect([calls, told]).toEqual([['defaultAccount'], []]);
    await store.close();
  });

  it('that fails is not asked again before it answers a question of the watch', async () => {
    const { outage, store } = open();
    outage.begin('away');
    await expect(store.defaultAccount()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect.poll(() => told).toEqual([away().message]);
    await expect(store.defaultAccount()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryAfterMs: 2_000,
    });
    expect(calls).toEqual([]);
    outage.end();
    await expect.poll(() => told).toEqual([away().message, null]);
    await expect(store.defaultAccount()).resolves.toBeTruthy();
    await store.close();
  });

  it('that is silent keeps nobody waiting, and is back when it speaks', async () => {
    const { outage, store } = open();
    outage.begin('silent');
    const crowd = Array.from({ length: 20 }, () => store.defaultAccount());
    for (const result of await Promise.allSettled(crowd)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } });
    }
    expect(told).toHaveLength(1);
    // However long it lasts, one question is on its way, and it is the one that is answered.
    await expect(store.defaultAccount()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    outage.end();
    await expect.poll(() => told.at(-1)).toBeNull();
    expect(calls.filter((name) => name === 'clock')).toHaveLength(1);
    await store.close();
  });

  it('may take its time over a call as long as it answers otherwise', async () => {
    const { promise, resolve } = Promise.withResolvers<never>();
    const { store } = open({ defaultAccount: () => promise });
    const slow = store.defaultAccount();
    await expect.poll(() => calls.filter((name) => name === 'clock').length).toBeGreaterThan(2);
    resolve('mine' as never);
    expect(await slow).toBe('mine');
    expect(told).toEqual([]);
    await store.close();
  });

  it('is not thought away for an error of one call', async () => {
    const lock = new ScrapifieError('STORE_UNAVAILABLE', 'kept waiting for a lock');
    const { store } = open({ defaultAccount: () => Promise.reject(lock) });
    await expect(store.defaultAccount()).rejects.toBe(lock);
    await expect.poll(() => calls).toEqual(['defaultAccount', 'clock']);
    await expect(store.getJob('none' as never)).resolves.toBeNull();
    expect(told).toEqual([]);
    await store.close();
  });

  it('is not asked about errors that are not about it', async () => {
    const conflict = new ScrapifieError('CONFLICT', 'no');
    const { store } = open({ defaultAccount: () => Promise.reject(conflict) }, { patienceMs: 60_000 });
    await expect(store.defaultAccount()).rejects.toBe(conflict);
    await store.getJob('none' as never);
    expect(calls).toEqual(['defaultAccount']);
    await store.close();
  });

  it('is left alone once it is closed', async () => {
    const { outage, store } = open();
    outage.begin('away');
    await expect(store.defaultAccount()).rejects.toThrow();
    await expect.poll(() => told).toHaveLength(1);
    await store.close();
    outage.end();
    await expect(store.defaultAccount()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(told).toHaveLength(1);
  });
});
