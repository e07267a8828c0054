import { expect } from 'vitest';
import type { AccountId, KeyId } from '../../../src/core/model/ids.ts';
import { MOST_SIGN_INS, type NewSignIn } from '../../../src/core/ports/key-store.ts';
import type { Claim } from '../contract.ts';
import type { TimedStore } from './timed-store.ts';

const ACCOUNT = 'default' as AccountId;
const KEY = 'key-1' as KeyId;
const HOUR_MS = 3_600_000;

const newSignIn = (hash: string, changes: Partial<NewSignIn> = {}): NewSignIn => ({
  hash,
  accountId: ACCOUNT,
  keyId: KEY,
  keyHash: 'hash of the key',
  lastsMs: 10 * HOUR_MS,
  idleMs: HOUR_MS,
  ...changes,
});

async function addKey(store: TimedStore): Promise<void> {
  await store.createKey({
    id: KEY,
    accountId: ACCOUNT,
    name: 'dashboard',
    hash: 'hash of the key',
    prefix: 'sk_',
    scopes: ['admin'],
    ratePerMinute: null,
    createdAt: 0,
    expiresAt: null,
  });
}

/** Browsers that are signed in to the dashboard, and links that sign one in. */
export function signInsContract(holds: Claim<TimedStore>): void {
  holds('finds a sign-in by its hash until it is deleted', async (store) => {
    await addKey(store);
    await store.addSignIn(newSignIn('one'));
    expect(await store.findSignIn('one')).toMatchObject({
      hash: 'one',
      accountId: ACCOUNT,
      keyId: KEY,
      keyHash: 'hash of the key',
    });
    expect(await store.findSignIn('another')).toBeNull();
    expect(await store.deleteSignIn('one')).toBe(true);
    expect(await store.deleteSignIn('one')).toBe(false);
    expect(await store.findSignIn('one')).toBeNull();
  });

  holds(
    'a sign-in ends when it was idle too long, and at its end however often it is used',
    async (store) => {
      await addKey(store);
      await store.addSignIn(newSignIn('over', { lastsMs: 0 }));
      await store.addSignIn(newSignIn('idle', { idleMs: 0 }));
      await store.addSignIn(newSignIn('used'));
      await store.touchSignIn('used');
      await store.touchSignIn('over');
      await store.touchSignIn('unknown');
      expect(await store.findSignIn('over')).toBeNull();
      expect(await store.findSignIn('idle')).toBeNull();
      const used = await store.findSignIn('used');
      expect(used?.expiresAt).toBe((used?.createdAt ?? 0) + 10 * HOUR_MS);
      expect(used?.usedAt).toBeGreaterThanOrEqual(used?.createdAt ?? 0);
    },
  );

  holds('a link works once, within its time', async (store) => {
    await store.addSignInLink({ hash: 'link', accountId: ACCOUNT, lastsMs: HOUR_MS });
    await store.addSignInLink({ hash: 'late', accountId: ACCOUNT, lastsMs: 0 });
    const taken = await Promise.all([store.takeSignInLink('link'), store.takeSignInLink('link')]);
    expect(taken.filter((each) => each !== null)).toEqual([{ accountId: ACCOUNT }]);
    expect(await store.takeSignInLink('late')).toBeNull();
    expect(await store.takeSignInLink('unknown')).toBeNull();
  });

  holds('keeps a bounded number of sign-ins of a key, and not those whose time is over', async (store) => {
    await addKey(store);
    for (let at = 0; at <= MOST_SIGN_INS; at += 1) await store.addSignIn(newSignIn(`sign-in ${at}`));
    const found = await Promise.all(
      Array.from({ length: MOST_SIGN_INS + 1 }, (_, at) => store.findSignIn(`sign-in ${at}`)),
    );
    expect(found.filter((each) => each !== null)).toHaveLength(MOST_SIGN_INS);
    expect(found.at(-1)).not.toBeNull();

    await store.addSignIn(newSignIn('over', { lastsMs: 0 }));
    await store.addSignInLink({ hash: 'late', accountId: ACCOUNT, lastsMs: 0 });
    expect(await store.deleteEndedSignIns(10)).toBe(2);
    expect(await store.deleteEndedSignIns(10)).toBe(0);
  });
}
