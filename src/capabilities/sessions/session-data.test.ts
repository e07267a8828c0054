import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACCOUNT, cookie, data, VAULT_KEY } from './session.fixture.ts';
import { packData, unpackData, withinLimits } from './session-data.ts';
import { createVault } from './vault.ts';

const PLACE = { kind: 'session', accountId: ACCOUNT, name: 'shop' } as const;
const NOW = 1_800_000_000_000;
const vault = createVault(VAULT_KEY);

describe('the data of a session', () => {
  it('comes back as it went in, sealed or not', () => {
    const texts = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.dictionary(texts, texts), texts, (items, value) => {
        const given = data({ cookies: [cookie('sid', value)], localStorage: { 'https://a.example': items } });
        for (const key of [vault, null]) {
          expect(unpackData(packData(given, key, PLACE), key, PLACE)).toEqual(given);
        }
      }),
    );
  });

  it('shows no cookie where there is a vault, and is read where there was none before', () => {
    const given = data({ cookies: [cookie('sid', 'a-very-secret-value')] });
    const [open, sealed] = [packData(given, null, PLACE), packData(given, vault, PLACE)];
    expect(Buffer.from(open).includes('a-very-secret-value')).toBe(true);
    expect(Buffer.from(sealed).includes('a-very-secret-value')).toBe(false);
    expect(unpackData(open, vault, PLACE)).toEqual(given);
  });

  it('says what is missing when it cannot be opened, and never gives out anything else', () => {
    const sealed = packData(data(), vault, PLACE);
    expect(() => unpackData(sealed, null, PLACE)).toThrow(
      new RegExp(`vault key ${vault?.keyId}, but no SCRAPIFIE_VAULT_KEY is set`),
    );
    expect(() => unpackData(sealed, createVault('00'.repeat(32)), PLACE)).toThrow(`${vault?.keyId}`);
    expect(() => unpackData(sealed, vault, { ...PLACE, name: 'other' })).toThrow('belongs elsewhere');
    for (const broken of [Uint8Array.of(), Uint8Array.of(0, 1, 2), Uint8Array.of(9, 9)]) {
      expect(() => unpackData(broken, null, PLACE)).toThrow('is damaged');
    }
  });
});

describe('the limits of a session', () => {
  it('leave out cookies that are over', () => {
    const cookies = [cookie('old', '', { expiresAt: NOW }), cookie('new', '', { expiresAt: NOW + 1 })];
    const kept = withinLimits(data({ cookies }), NOW);
    expect(kept.cookies.map(({ name }) => name)).toEqual(['new']);
    expect(kept.dropped).toEqual({ cookies: 0, origins: 0 });
  });

  it('drop the longest unchanged first, and count what they drop', () => {
    const cookies = ['a', 'b', 'c', 'd'].map((name) => cookie(name, 'x'.repeat(100)));
    const limits = { cookies: 3, cookieBytes: 250, storageBytes: 25 };
    const origin = (letter: string) => [`https://${letter}`, { k: '0123456789' }] as const;
    const localStorage = Object.fromEntries([origin('a'), origin('b')]);
    const kept = withinLimits(data({ cookies, localStorage }), NOW, limits);
    expect(kept.cookies.map(({ name }) => name)).toEqual(['c', 'd']);
    expect(Object.keys(kept.localStorage)).toEqual(['https://b']);
    expect(kept.dropped).toEqual({ cookies: 2, origins: 1 });
    expect(withinLimits(kept, NOW, limits)).toEqual(kept);
  });

  it('hold whatever comes', () => {
    const limits = { cookies: 5, cookieBytes: 200, storageBytes: 100 };
    const jar = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ maxLength: 100 })));
    const storage = fc.dictionary(fc.webUrl(), fc.dictionary(fc.string(), fc.string({ maxLength: 60 })));
    fc.assert(
      fc.property(jar, storage, (pairs, localStorage) => {
        const cookies = pairs.map(([name, value]) => cookie(name, value));
        const kept = withinLimits(data({ cookies, localStorage }), NOW, limits);
        expect(kept.cookies.length).toBeLessThanOrEqual(limits.cookies);
        expect(kept.cookies.map(({ value }) => value).join('').length).toBeLessThanOrEqual(
          limits.cookieBytes,
        );
        const items = Object.values(kept.localStorage).flatMap((each) => Object.entries(each).flat());
        expect(Buffer.byteLength(items.join(''))).toBeLessThanOrEqual(limits.storageBytes);
        expect(kept.dropped.cookies).toBe(cookies.length - kept.cookies.length);
      }),
    );
  });
});
