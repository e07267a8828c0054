import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { toBrowserCookie } from '../../fetch/cookies/cookie-jar.ts';
import { ACCOUNT, cookie, openStore, VAULT_KEY } from './session.fixture.ts';
import { createSessions, type NamedWish, type Sessions } from './sessions.ts';
import { createVault } from './vault.ts';

const HOUR_MS = 3_600_000;
const SHOP = new URL('https://shop.example/');
const WISH: NamedWish = { name: 'one', credentials: null, proxy: null, identity: null, hours: null };

async function open(vaultKey: string | undefined = VAULT_KEY) {
  const store = await openStore();
  const clock = { now: 1_800_000_000_000 };
  const sessions = sessionsOn(store, clock, vaultKey);
  return { store, clock, sessions };
}

const sessionsOn = (store: Store, clock: { now: number }, vaultKey: string | undefined): Sessions =>
  createSessions({ store, vault: createVault(vaultKey), now: () => clock.now, hours: 24 });

const namesOf = (cookies: readonly { readonly name: string }[]) => cookies.map(({ name }) => name).sort();

describe('a session', () => {
  it('is made on its first use and is the same ever after', async () => {
    const { sessions, clock } = await open();
    const first = await sessions.open(ACCOUNT, 'one');
    expect(first).toMatchObject({
      name: 'one',
      proxy: null,
      identity: null,
      cookies: [],
      requestCount: 0,
      createdAt: clock.now,
      expiresAt: clock.now + 24 * HOUR_MS,
    });
    clock.now += HOUR_MS;
    expect(await sessions.open(ACCOUNT, 'one')).toEqual(first);
    expect((await sessions.open(ACCOUNT, 'two')).id).not.toBe(first.id);
  });

  it('ends after its hours, and says so until it is deleted', async () => {
    const { sessions, clock } = await open();
    const { session } = await sessions.create(ACCOUNT, { ...WISH, hours: 2 });
    clock.now += 2 * HOUR_MS - 1;
    await sessions.open(ACCOUNT, 'one');
    clock.now += 1;
    await expect(sessions.open(ACCOUNT, 'one')).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    await expect(sessions.begin(ACCOUNT, 'one')).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    expect((await sessions.get(ACCOUNT, 'one')).id).toBe(session.id);
    expect(await sessions.delete(ACCOUNT, 'one')).toBe(true);
    expect((await sessions.open(ACCOUNT, 'one')).id).not.toBe(session.id);
  });

  it('is swept away a day after its end', async () => {
    const { sessions, clock } = await open();
    await sessions.create(ACCOUNT, { ...WISH, hours: 1 });
    clock.now += 25 * HOUR_MS;
    expect(await sessions.sweep()).toBe(0);
    clock.now += 1;
    expect(await sessions.sweep()).toBe(1);
    await expect(sessions.get(ACCOUNT, 'one')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is made once under a name', async () => {
    const { sessions } = await open();
    const wish: NamedWish = { ...WISH, proxy: { tier: 'mobile', country: 'de' }, identity: 'browser' };
    const { session, isNew } = await sessions.create(ACCOUNT, wish);
    expect([isNew, session.wish]).toEqual([
      true,
      { credentials: null, proxy: wish.proxy, identity: 'browser' },
    ]);
    await expect(sessions.create(ACCOUNT, wish)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await sessions.create(ACCOUNT, wish, true)).toEqual({ session, isNew: false });
    await expect(sessions.create(ACCOUNT, WISH, true)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_MISMATCH',
    });
  });

  it('belongs to one account', async () => {
    const { sessions } = await open();
    await sessions.open(ACCOUNT, 'one');
    await expect(sessions.get('other' as AccountId, 'one')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await sessions.delete('other' as AccountId, 'one')).toBe(false);
  });

  it('is stored without any cookie to be seen where there is a vault', async () => {
    const { sessions, store } = await open();
    const use = await sessions.begin(ACCOUNT, 'one');
    use.jar.store(SHOP, 'sid=a-very-secret-value', 0);
    await sessions.end(use, {});
    const stored = await store.getSession(ACCOUNT, 'one');
    expect(Buffer.from(stored?.data ?? []).includes('very-secret')).toBe(false);
    expect((await sessions.open(ACCOUNT, 'one')).cookies).toMatchObject([{ value: 'a-very-secret-value' }]);
  });

  it('does not open by another key, and can still be listed and deleted', async () => {
    const { sessions, store, clock } = await open();
    await sessions.open(ACCOUNT, 'one');
    const other = sessionsOn(store, clock, '00'.repeat(32));
    await expect(other.open(ACCOUNT, 'one')).rejects.toMatchObject({ code: 'INVALID_SETTINGS' });
    expect((await other.list({ accountId: ACCOUNT, limit: 9 })).items).toHaveLength(1);
    expect(await other.delete(ACCOUNT, 'one')).toBe(true);
  });

  it('whose row was put in the place of another does not open', async () => {
    const { sessions, store } = await open();
    const one = await sessions.open(ACCOUNT, 'one');
    await sessions.open(ACCOUNT, 'two');
    const foreign = await store.getSession(ACCOUNT, 'two');
    const change = { id: one.id, version: 1, data: foreign?.data ?? new Uint8Array(0), at: 0, requests: 0 };
    await store.updateSession(change);
    await expect(sessions.open(ACCOUNT, 'one')).rejects.toThrow('belongs elsewhere');
  });
});

describe('using a session', () => {
  it('keeps cookies, storage, proxy and identity for the next attempt', async () => {
    const { sessions, clock } = await open(undefined);
    const first = await sessions.begin(ACCOUNT, 'one');
    expect(first.sticky.proxyId).toBeNull();
    first.jar.store(SHOP, ['sid=1; HttpOnly', 'lang=de; Domain=shop.example; Secure'], clock.now);
    const proxy = { id: 'list/3', tier: 'residential', country: 'de' } as const;
    expect(await sessions.end(first, { proxy })).toBe(true);

    const second = await sessions.begin(ACCOUNT, 'one');
    expect(second.sticky).toEqual({ id: first.sticky.id, proxyId: 'list/3' });
    expect(second.key).toBe(first.key);
    expect(second.jar.cookiesFor(SHOP, clock.now)).toEqual([
      ['sid', '1'],
      ['lang', 'de'],
    ]);
    expect(second.storage.cookies).toMatchObject([
      { name: 'sid', domain: 'shop.example', httpOnly: true },
      { name: 'lang', domain: '.shop.example', secure: true },
    ]);
    expect(second.session).toMatchObject({ requestCount: 1, lastUsedAt: clock.now, proxy });
  });

  it('takes what a browser gives back: new, changed and removed cookies, and the storage of what it showed', async () => {
    const { sessions, clock } = await open();
    const first = await sessions.begin(ACCOUNT, 'one');
    first.jar.store(SHOP, ['stays=1', 'changes=1', 'goes=1'], clock.now);
    await sessions.end(first, {});
    const before = await sessions.open(ACCOUNT, 'one');
    await sessions.save(before, {
      ...before,
      localStorage: { 'https://shop.example': { cart: '1' }, 'https://other.example': { x: '1' } },
    });

    const second = await sessions.begin(ACCOUNT, 'one');
    const [stays, changes] = second.storage.cookies;
    await sessions.end(second, {
      storage: {
        cookies: [stays, { ...changes, value: '2' }, toBrowserCookie(cookie('new'))].filter(
          (each) => each !== undefined,
        ) as typeof second.storage.cookies,
        localStorage: { 'https://shop.example': { cart: '2' } },
      },
    });
    const { cookies, localStorage } = await sessions.open(ACCOUNT, 'one');
    expect(namesOf(cookies)).toEqual(['changes', 'new', 'stays']);
    expect(cookies.find(({ name }) => name === 'changes')?.value).toBe('2');
    expect(localStorage).toEqual({
      'https://other.example': { x: '1' },
      'https://shop.example': { cart: '2' },
    });
  });

  it('that changed nothing is counted and writes nothing', async () => {
    const { sessions, store, clock } = await open();
    const first = await sessions.begin(ACCOUNT, 'one');
    first.jar.store(SHOP, 'sid=1; Max-Age=86400', clock.now);
    await sessions.end(first, {});
    clock.now += 5;
    await sessions.end(await sessions.begin(ACCOUNT, 'one'), {});
    const use = await sessions.begin(ACCOUNT, 'one');
    // A browser tells time in its own way.
    const cookies = use.storage.cookies.map((each) => ({ ...each, expires: each.expires + 0.2 }));
    await sessions.end(use, { storage: { cookies, localStorage: {} } });
    expect(await store.getSession(ACCOUNT, 'one')).toMatchObject({
      version: 2,
      requestCount: 3,
      lastUsedAt: clock.now,
    });
  });

  it('by many at once loses no cookie of anybody, within a process and between two', async () => {
    const { sessions, store, clock } = await open();
    const elsewhere = sessionsOn(store, clock, VAULT_KEY);
    const uses = await Promise.all(
      Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? sessions : elsewhere).begin(ACCOUNT, 'one')),
    );
    for (const [n, { jar }] of uses.entries()) jar.store(SHOP, `c${n}=${n}`, clock.now);
    const kept = await Promise.all(uses.map((use, n) => (n % 2 === 0 ? sessions : elsewhere).end(use, {})));
    expect(kept.every((each) => each)).toBe(true);
    const session = await sessions.open(ACCOUNT, 'one');
    expect(namesOf(session.cookies)).toEqual(Array.from({ length: 24 }, (_, n) => `c${n}`).sort());
    expect(session.requestCount).toBe(24);
  });

  it('that was deleted meanwhile keeps nothing, also when there is a new one of that name', async () => {
    const { sessions, clock } = await open();
    const use = await sessions.begin(ACCOUNT, 'one');
    await sessions.delete(ACCOUNT, 'one');
    use.jar.store(SHOP, 'sid=1', clock.now);
    expect(await sessions.end(use, {})).toBe(false);
    await sessions.open(ACCOUNT, 'one');
    expect(await sessions.end(use, {})).toBe(false);
    expect((await sessions.open(ACCOUNT, 'one')).cookies).toEqual([]);
  });

  it('is bounded, and says what did not fit', async () => {
    const { sessions } = await open();
    const use = await sessions.begin(ACCOUNT, 'one');
    const big = { item: 'x'.repeat(600_000) };
    const localStorage = { 'https://a.example': big, 'https://b.example': big };
    await sessions.end(use, { storage: { cookies: [], localStorage } });
    const session = await sessions.open(ACCOUNT, 'one');
    expect(Object.keys(session.localStorage)).toEqual(['https://b.example']);
    expect(session.dropped).toEqual({ cookies: 0, origins: 1 });
  });
});
