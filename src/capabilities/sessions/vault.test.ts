import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import { createVault, isSealed, type Vault, type VaultPlace } from './vault.ts';

const KEY = randomBytes(32);
const PLACE: VaultPlace = { kind: 'credential', accountId: 'default' as AccountId, name: 'shop' };

function vaultOf(key: Buffer, encoding: 'hex' | 'base64' = 'hex'): Vault {
  const vault = createVault(key.toString(encoding));
  if (vault === null) throw new Error('There is a key.');
  return vault;
}
const vault = vaultOf(KEY);
const places = fc.record({
  kind: fc.constantFrom<VaultPlace['kind']>('session', 'credential'),
  accountId: fc.string({ minLength: 1 }).map((id) => id as AccountId),
  name: fc.string({ minLength: 1 }),
});

describe('the vault', () => {
  it('gives back what was sealed, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), places, (plain, place) => {
        expect([...vault.open(vault.seal(plain, place), place)]).toEqual([...plain]);
      }),
    );
  });

  it('seals the same differently each time, and shows nothing of it', () => {
    const plain = Buffer.from('a password that is long enough to be found');
    const [one, other] = [vault.seal(plain, PLACE), vault.seal(plain, PLACE)];
    expect(Buffer.compare(one, other)).not.toBe(0);
    expect(Buffer.from(one).includes(plain.subarray(0, 8))).toBe(false);
    expect(isSealed(one)).toBe(true);
  });

  it('opens nothing in which any bit was changed', () => {
    const sealed = vault.seal(Buffer.from('secret'), PLACE);
    fc.assert(
      fc.property(fc.nat(sealed.length * 8 - 1), (bit) => {
        const changed = Uint8Array.from(sealed);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => vault.open(changed, PLACE)).toThrow('"shop"');
      }),
      { numRuns: 300 },
    );
  });

  it('opens nothing that was cut off', () => {
    const sealed = vault.seal(Buffer.from('secret'), PLACE);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => vault.open(sealed.subarray(0, length), PLACE)).toThrow('cannot be decrypted');
    }
  });

  it('opens nothing in the place of something else', () => {
    fc.assert(
      fc.property(places, places, (place, other) => {
        fc.pre(JSON.stringify(place) !== JSON.stringify(other));
        const sealed = vault.seal(Buffer.from('secret'), place);
        expect(() => vault.open(sealed, other)).toThrow('belongs elsewhere');
      }),
    );
  });

  it('says which key is missing when another one sealed it', () => {
    const other = vaultOf(randomBytes(32));
    const sealed = other.seal(Buffer.from('secret'), PLACE);
    expect(() => vault.open(sealed, PLACE)).toThrow(
      expect.objectContaining({ code: 'INVALID_SETTINGS', message: expect.stringContaining(other.keyId) }),
    );
  });

  it('takes its key in hex and in base64, and refuses one of another length', () => {
    const sealed = vault.seal(Buffer.from('secret'), PLACE);
    expect(Buffer.from(vaultOf(KEY, 'base64').open(sealed, PLACE)).toString()).toBe('secret');
    expect(vaultOf(KEY, 'base64').keyId).toBe(vault.keyId);
    expect(() => createVault('c2hvcnQ=')).toThrow('not 32 bytes');
    expect(createVault(undefined)).toBeNull();
  });
});
