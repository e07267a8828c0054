import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureFirstKey } from '../../capabilities/accounts/api-key.ts';
import { settingsSchema } from '../../core/config/settings.ts';
import type { Logger } from '../../core/observe/logger.ts';
import { createSqliteStore } from '../../drivers/store-sqlite/sqlite-store.ts';
import { recordStart, warnOfFoundFolder } from './start-records.ts';

async function openStore() {
  const store = await createSqliteStore({ path: ':memory:' });
  onTestFinished(() => store.close());
  await store.migrate();
  return store;
}

describe('the start of a server', () => {
  it('is in the audit log with what has changed in the settings, and without secrets', async () => {
    const store = await openStore();
    const first = settingsSchema.parse({
      apiKey: 'a-key-of-my-own-choice',
      databaseUrl: 'postgres://user:pass-word@db.test/name',
      remoteBrowserUrl: 'wss://browsers.test/path-secret?token=query-secret',
      port: 4000,
    });
    const origin = 'http://127.0.0.1:4000';
    const { apiKey: _, ...rest } = first;
    const second = { ...rest, port: 3000, allowPrivate: true };
    await recordStart(store, first, { version: '1.0.0', origin, at: 1 }, 'machine');
    await recordStart(store, first, { version: '1.0.0', origin, at: 2 }, 'machine');
    await recordStart(store, second, { version: '1.0.0', origin, at: 3 }, 'other machine');
    await recordStart(store, second, { version: '1.0.1', origin, at: 4 }, 'machine');
    const { items } = await store.listAudit({ order: 'oldest', limit: 10 });
    const settings = {
      apiKey: '[secret]',
      databaseUrl: 'postgres://db.test',
      remoteBrowserUrl: 'wss://browsers.test',
      port: 4000,
    };
    expect(items.map(({ action }) => action)).toEqual([...Array(4).fill('server.start'), 'settings.change']);
    expect(items[0]).toMatchObject({
      target: 'all@machine',
      details: { version: '1.0.0', origin, settings },
    });
    expect(items[4]?.details).toEqual({
      changed: {
        allowPrivate: { from: null, to: true },
        apiKey: { from: '[secret]', to: null },
        port: { from: 4000, to: null },
      },
    });
    expect(JSON.stringify(items)).not.toMatch(/my-own-choice|pass-word|path-secret|query-secret/);
  });
});

it('a warning of a data folder that was found names it, and how many keys and webhooks are in it', async () => {
  const store = await openStore();
  await ensureFirstKey(store, settingsSchema.parse({ apiKey: 'a-key-of-a-strangers-choice' }), 1);
  const warned: unknown[] = [];
  const logger = { warn: (fields: unknown) => void warned.push(fields) } as unknown as Logger;
  await warnOfFoundFolder(store, '/strange/data', logger);
  expect(warned).toEqual([{ folder: '/strange/data', keys: 1, webhooks: 0 }]);
});
