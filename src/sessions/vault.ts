import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { AccountId } from '../model/ids.ts';

/**
 * Seals bytes so that only this key opens them, and only in the place they were sealed for: a row that was changed,
 * or put in the place of another, does not open. Never returns anything but what was sealed.
 */
export interface Vault {
  /** Tells keys apart without telling anything of them. */
  readonly keyId: string;
  seal(plain: Uint8Array, place: VaultPlace): Uint8Array;
  /** Throws INVALID_SETTINGS when another key sealed it, DATABASE_CORRUPT when it does not open. */
  open(sealed: Uint8Array, place: VaultPlace): Uint8Array;
}

export interface VaultPlace {
  readonly kind: 'session' | 'credential' | 'call';
  readonly accountId: AccountId;
  readonly name: string;
}

const CIPHER = 'aes-256-gcm';
/** The first byte of what this version seals. */
const FORMAT = 1;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const BODY_AT = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

export const VAULT_HINT =
  'Set SCRAPIFIE_VAULT_KEY to 32 random bytes in hex or base64, such as `openssl rand -hex 32` prints.';

/** From the key of the settings, 32 bytes in hex or base64; null where there is none. */
export function createVault(key: string | undefined): Vault | null {
  if (key === undefined) return null;
  const secret = Buffer.from(key, key.length === KEY_BYTES * 2 ? 'hex' : 'base64');
  if (secret.length !== KEY_BYTES) {
    throw new ScrapifieError('INVALID_SETTINGS', `The vault key is not 32 bytes long. ${VAULT_HINT}`);
  }
  const ownId = createHmac('sha256', secret).update('key id').digest().subarray(0, KEY_ID_BYTES);
  const head = Buffer.concat([Buffer.of(FORMAT), ownId]);

  return {
    keyId: ownId.toString('hex'),

    seal(plain, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(head, place));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([head, nonce, cipher.getAuthTag(), body]);
    },

    open(sealed, place) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      if (!isSealed(bytes)) throw unreadable(place, 'it was not sealed by this program');
      if (!bytes.subarray(0, HEAD_BYTES).equals(head)) throw lockedBy(sealed, place, ownId.toString('hex'));
      const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(head, place));
      decipher.setAuthTag(bytes.subarray(HEAD_BYTES + NONCE_BYTES, BODY_AT));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(BODY_AT)), decipher.final()]);
      } catch {
        throw unreadable(place, 'it was changed outside Scrapifie, or belongs elsewhere');
      }
    },
  };
}

export function isSealed(bytes: Uint8Array): boolean {
  return bytes[0] === FORMAT && bytes.length >= BODY_AT;
}

/** Why something sealed stays closed: its key is not the one that is set, `null` when none is. */
export function lockedBy(sealed: Uint8Array, place: VaultPlace, ownId: string | null): ScrapifieError {
  const keyId = Buffer.from(sealed.subarray(1, HEAD_BYTES)).toString('hex');
  const set = ownId === null ? 'no SCRAPIFIE_VAULT_KEY is set' : `SCRAPIFIE_VAULT_KEY is key ${ownId}`;
  return new ScrapifieError(
    'INVALID_SETTINGS',
    `The ${place.kind} "${place.name}" is encrypted with vault key ${keyId}, but ${set}. Set that key again, or delete the ${place.kind}.`,
  );
}

function unreadable(place: VaultPlace, why: string): ScrapifieError {
  return new ScrapifieError(
    'DATABASE_CORRUPT',
    `The stored ${place.kind} "${place.name}" cannot be decrypted: ${why}. Delete it and store it anew.`,
  );
}

/** What the bytes hold together with, though it is not among them. */
function boundTo(head: Uint8Array, { kind, accountId, name }: VaultPlace): Uint8Array {
  return Buffer.concat([head, Buffer.from(JSON.stringify([kind, accountId, name]))]);
}
