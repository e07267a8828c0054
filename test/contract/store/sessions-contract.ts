import { expect } from 'vitest';
import type { AccountId, SessionId } from '../../../src/core/model/ids.ts';
import type { NewSession, SessionWish } from '../../../src/core/ports/session-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const HOUR_MS = 3_600_000;
const SOMEBODY_ELSE = 'somebody-else' as AccountId;
const WISH: SessionWish = {
  credentials: 'shop',
  proxy: { tier: 'residential', country: 'de' },
  identity: 'browser',
};
/** Every byte there is, the ones that text would not survive too. */
const BYTES = Uint8Array.from({ length: 512 }, (_, index) => index % 256);

let made = 0;
function newSession(accountId: AccountId, name: string, changes: Partial<NewSession> = {}): NewSession {
  made += 1;
  return {
    id: `session-${made}` as SessionId,
    accountId,
    name,
    wish: WISH,
    createdAt: T0,
    expiresAt: T0 + HOUR_MS,
    data: BYTES,
    ...changes,
  };
}

const bytesOf = (data: Uint8Array | undefined) => [...(data ?? [])];

/** Sessions: each name has one, and no change is lost without a sign. */
export function sessionsContract(holds: Claim<TimedStore>): void {
  holds('keeps a session as it was given', async (store, opened) => {
    const session = newSession(await store.defaultAccount(), 'shop.example');
    const kept = await store.openSession(session);
    const { data, ...rest } = session;
    expect(kept).toMatchObject({ ...rest, version: 1, lastUsedAt: null, requestCount: 0 });
    expect(bytesOf(kept.data)).toEqual(bytesOf(data));
    await afterKill(opened, async (again) => {
      const read = await again.getSession(session.accountId, 'shop.example');
      expect(read).toMatchObject({ ...rest, version: 1 });
      expect(bytesOf(read?.data)).toEqual(bytesOf(data));
    });
  });

  holds('has one session of each name, the first', async (store) => {
    const accountId = await store.defaultAccount();
    const first = await store.openSession(newSession(accountId, 'one'));
    const second = await store.openSession(newSession(accountId, 'one', { expiresAt: T0 + 2 * HOUR_MS }));
    expect(second).toMatchObject({ id: first.id, expiresAt: first.expiresAt });
    const other = await store.openSession(newSession(accountId, 'other'));
    expect(other.id).not.toBe(first.id);
    expect(await store.getSession(accountId, 'ONE')).toBeNull();
    expect(await store.getSession(SOMEBODY_ELSE, 'one')).toBeNull();
  });

  holds('gives many who open one session at once the same', async (store) => {
    const accountId = await store.defaultAccount();
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => store.openSession(newSession(accountId, 'race'))),
    );
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  });

  holds('replaces the data of the version that was read, and of no other', async (store) => {
    const accountId = await store.defaultAccount();
    const { id } = await store.openSession(newSession(accountId, 'one'));
    const change = { id, version: 1, data: Uint8Array.of(1), at: T0 + 5, requests: 1 };
    expect(await store.updateSession(change)).toBe(true);
    expect(await store.updateSession({ ...change, data: Uint8Array.of(2), at: T0 + 9 })).toBe(false);
    expect(await store.getSession(accountId, 'one')).toMatchObject({
      version: 2,
      lastUsedAt: T0 + 5,
      requestCount: 1,
    });
    expect(bytesOf((await store.getSession(accountId, 'one'))?.data)).toEqual([1]);
    expect(await store.updateSession({ ...change, version: 2, data: new Uint8Array(0) })).toBe(true);
    expect(bytesOf((await store.getSession(accountId, 'one'))?.data)).toEqual([]);
  });

  holds('lets one of many simultaneous writers win', async (store) => {
    const accountId = await store.defaultAccount();
    const { id } = await store.openSession(newSession(accountId, 'one'));
    const wins = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        store.updateSession({ id, version: 1, data: Uint8Array.of(n), at: T0, requests: 1 }),
      ),
    );
    expect(wins.filter((won) => won)).toHaveLength(1);
    const kept = await store.getSession(accountId, 'one');
    expect(bytesOf(kept?.data)).toEqual([wins.indexOf(true)]);
    expect(kept).toMatchObject({ version: 2, requestCount: 1 });
  });

  holds('does not write into a session that took the place of the one that was read', async (store) => {
    const accountId = await store.defaultAccount();
    const old = await store.openSession(newSession(accountId, 'one'));
    expect(await store.deleteSession(accountId, 'one')).toBe(true);
    const change = { id: old.id, version: 1, data: Uint8Array.of(1), at: T0, requests: 1 };
    expect(await store.updateSession(change)).toBe(false);
    await store.openSession(newSession(accountId, 'one'));
    expect(await store.updateSession(change)).toBe(false);
    expect(await store.getSession(accountId, 'one')).toMatchObject({ version: 1, requestCount: 0 });
  });

  holds('counts uses that change nothing', async (store) => {
    const accountId = await store.defaultAccount();
    const one = await store.openSession(newSession(accountId, 'one'));
    const two = await store.openSession(newSession(accountId, 'two'));
    await store.touchSessions([]);
    await store.touchSessions([
      { id: one.id, at: T0 + 9, requests: 2 },
      { id: two.id, at: T0 + 1, requests: 1 },
      { id: one.id, at: T0 + 3, requests: 1 },
      { id: 'gone' as SessionId, at: T0, requests: 1 },
    ]);
    expect(await store.getSession(accountId, 'one')).toMatchObject({
      lastUsedAt: T0 + 9,
      requestCount: 3,
      version: 1,
    });
    expect(await store.getSession(accountId, 'two')).toMatchObject({ lastUsedAt: T0 + 1, requestCount: 1 });
  });

  holds('lists the sessions of an account, newest first and without their data', async (store) => {
    const accountId = await store.defaultAccount();
    for (let n = 0; n < 5; n += 1) await store.openSession(newSession(accountId, `s${n}`));
    const first = await store.listSessions({ accountId, limit: 3 });
    expect(first.items.map(({ name }) => name)).toEqual(['s4', 's3', 's2']);
    expect(first.items[0]).toMatchObject({ wish: WISH, createdAt: T0, requestCount: 0 });
    expect(first.items[0]).not.toHaveProperty('data');
    const rest = await store.listSessions({ accountId, limit: 3, cursor: first.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ name: 's1' }, { name: 's0' }], nextCursor: null });
    expect((await store.listSessions({ accountId: SOMEBODY_ELSE, limit: 3 })).items).toEqual([]);
  });

  holds('deletes a session of the account, and only of the account', async (store) => {
    const accountId = await store.defaultAccount();
    await store.openSession(newSession(accountId, 'one'));
    expect(await store.deleteSession(SOMEBODY_ELSE, 'one')).toBe(false);
    expect(await store.deleteSession(accountId, 'two')).toBe(false);
    expect(await store.deleteSession(accountId, 'one')).toBe(true);
    expect(await store.getSession(accountId, 'one')).toBeNull();
  });

  holds('keeps ended sessions until they are swept away, those that ended first at first', async (store) => {
    const accountId = await store.defaultAccount();
    for (let n = 0; n < 5; n += 1) {
      await store.openSession(newSession(accountId, `s${n}`, { expiresAt: T0 + 10 - n }));
    }
    expect(await store.deleteEndedSessions(T0 + 6, 10)).toBe(0);
    expect(await store.deleteEndedSessions(T0 + 9, 2)).toBe(2);
    expect((await store.listSessions({ accountId, limit: 9 })).items.map(({ name }) => name)).toEqual([
      's2',
      's1',
      's0',
    ]);
    expect(await store.deleteEndedSessions(T0 + 9, 10)).toBe(1);
    expect(await store.deleteEndedSessions(T0 + HOUR_MS, 10)).toBe(2);
  });
}
