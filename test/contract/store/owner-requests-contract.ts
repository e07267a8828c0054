import { expect } from 'vitest';
import type { NewOwnerRequest } from '../../../src/core/ports/site-owner-store.ts';
import type { Claim } from '../contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const LIMITS = { perHost: 2, total: 4 };
const request = (id: string, changes: Partial<NewOwnerRequest> = {}): NewOwnerRequest => ({
  id,
  host: 'a.test',
  demand: { kind: 'stop' },
  token: `token-${id}`,
  contact: null,
  message: null,
  createdAt: T0,
  expiresAt: T0 + 1_000,
  ...changes,
});

/** Any call that names its time sets the clock for those that do not. */
const setClock = (store: TimedStore, now: number) => store.offerHosts(now, 1);

/** What site owners ask for on the public page. */
export function ownerRequestsContract(holds: Claim<TimedStore>): void {
  holds('keeps the requests of site owners, newest first', async (store) => {
    await setClock(store, T0);
    const first = request('1', { contact: 'me@a.test', message: 'please' });
    const second = request('2', { demand: { kind: 'slower', secondsBetweenRequests: 30 } });
    expect(await store.addOwnerRequest(first, LIMITS)).toBe(true);
    expect(await store.addOwnerRequest(second, LIMITS)).toBe(true);
    expect(await store.getOwnerRequest('1')).toEqual({ ...first, proved: null });
    expect(await store.getOwnerRequest('2')).toEqual({ ...second, proved: null });
    expect(await store.getOwnerRequest('3')).toBeNull();
    const page = await store.listOwnerRequests({ limit: 1 });
    expect(page.items.map(({ id }) => id)).toEqual(['2']);
    const rest = await store.listOwnerRequests({ limit: 5, cursor: page.nextCursor ?? '' });
    expect(rest.items.map(({ id }) => id)).toEqual(['1']);
    expect(rest.nextCursor).toBeNull();
  });

  holds('proves a request once', async (store) => {
    await setClock(store, T0);
    await store.addOwnerRequest(request('1'), LIMITS);
    await setClock(store, T0 + 10);
    expect(await store.proveOwnerRequest('1', 'dns')).toBe(true);
    expect(await store.proveOwnerRequest('1', 'file')).toBe(false);
    expect(await store.proveOwnerRequest('2', 'file')).toBe(false);
    expect((await store.getOwnerRequest('1'))?.proved).toEqual({ at: T0 + 10, by: 'dns' });
  });

  holds('forgets requests that expire unproved, and keeps the others', async (store) => {
    await setClock(store, T0);
    await store.addOwnerRequest(request('1'), LIMITS);
    await store.addOwnerRequest(request('2'), LIMITS);
    await store.proveOwnerRequest('2', 'file');
    await setClock(store, T0 + 1_000);
    expect(await store.getOwnerRequest('1')).toBeNull();
    expect(await store.proveOwnerRequest('1', 'file')).toBe(false);
    expect((await store.listOwnerRequests({ limit: 9 })).items.map(({ id }) => id)).toEqual(['2']);
  });

  holds('bounds the requests that wait for their proof, for a host and in all', async (store) => {
    await setClock(store, T0);
    const add = (id: string, host: string) => store.addOwnerRequest(request(id, { host }), LIMITS);
    expect(await add('1', 'a.test')).toBe(true);
    expect(await add('2', 'a.test')).toBe(true);
    expect(await add('3', 'a.test')).toBe(false);
    expect(await add('4', 'b.test')).toBe(true);
    expect(await add('5', 'c.test')).toBe(true);
    expect(await add('6', 'd.test')).toBe(false);
    await store.proveOwnerRequest('1', 'file');
    expect(await add('7', 'a.test')).toBe(true);
    await setClock(store, T0 + 1_000);
    expect(await store.addOwnerRequest(request('8', { expiresAt: T0 + 9_000 }), LIMITS)).toBe(true);
  });
}
