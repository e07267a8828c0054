import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import { createOutage, type Outage } from '../../../test/property/outage.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { newKey } from './api-key.ts';
import { createKeyDirectory, type KeyDirectory } from './key-directory.ts';

const SECRET = 'sk_a-key-of-this-test';
const TEN_MINUTES_MS = 600_000;
const AWAY = { code: 'STORE_UNAVAILABLE' };

let platform: Platform;
let outage: Outage;
let directory: KeyDirectory;
const clock = { now: 0 };
const key = newKey(
  'default' as AccountId,
  SECRET,
  { name: 'mine', scopes: ['read'], ratePerMinute: null, expiresAt: null },
  0,
);
beforeEach(async () => {
  platform = await openPlatform();
  clock.now = 1_800_000_000_000;
  outage = createOutage(() => new ScrapifieError('STORE_UNAVAILABLE', 'away'));
  directory = createKeyDirectory({
    store: outage.wrap(platform.store),
    now: () => clock.now,
    onError: () => undefined,
  });
  await platform.store.createKey({ ...key, accountId: await platform.store.defaultAccount() });
});
afterEach(async () => {
  outage.end();
  await directory.close();
  await platform.close();
});

describe('while the store is away', () => {
  it('a key that was seen valid stays valid, for ten minutes from then', async () => {
    expect(await directory.identify(SECRET)).toMatchObject({ id: key.id });
    outage.begin('away');
    clock.now += TEN_MINUTES_MS - 1;
    expect(await directory.identify(SECRET)).toMatchObject({ id: key.id });
    clock.now += 1;
    await expect(directory.identify(SECRET)).rejects.toMatchObject(AWAY);
    outage.end();
    expect(await directory.identify(SECRET)).toMatchObject({ id: key.id });
  });

  it('a key never seen is neither right nor wrong', async () => {
    outage.begin('away');
    await expect(directory.identify(SECRET)).rejects.toMatchObject(AWAY);
    outage.end();
    expect(await directory.identify(SECRET)).toMatchObject({ id: key.id });
  });

  it('a key that was revoked, has expired or was forgotten does not come back to life', async () => {
    await platform.store.revokeKey(await platform.store.defaultAccount(), key.id, clock.now);
    expect(await directory.identify(SECRET)).toBeNull();
    outage.begin('away');
    clock.now += 10_000;
    expect(await directory.identify(SECRET)).toBeNull();
    directory.forget(key.id);
    await expect(directory.identify(SECRET)).rejects.toMatchObject(AWAY);
  });

  it('a clock that is put back lengthens no life', async () => {
    await directory.identify(SECRET);
    outage.begin('away');
    clock.now -= TEN_MINUTES_MS;
    await expect(directory.identify(SECRET)).rejects.toMatchObject(AWAY);
  });
});
