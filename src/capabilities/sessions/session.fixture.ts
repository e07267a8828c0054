import { onTestFinished } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import type { StoredCookie } from '../../fetch/cookies/cookie-jar.ts';
import { NO_DATA, type SessionData } from './session-data.ts';

export const ACCOUNT = 'default' as AccountId;
export const VAULT_KEY = '8f'.repeat(32);

export const cookie = (name: string, value = 'v', more: Partial<StoredCookie> = {}): StoredCookie => ({
  name,
  value,
  domain: 'shop.example',
  isHostOnly: true,
  path: '/',
  isSecure: false,
  isHttpOnly: false,
  sameSite: null,
  expiresAt: null,
  ...more,
});

export const data = (more: Partial<SessionData> = {}): SessionData => ({ ...NO_DATA, ...more });

/** A store of its own for one test. */
export async function openStore(): Promise<Store> {
  const store = await createSqliteStore({ path: ':memory:' });
  onTestFinished(() => store.close());
  await store.migrate();
  return store;
}
