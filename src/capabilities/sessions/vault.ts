import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Settings } from '../../core/config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { CallSeal } from '../../fetch/remote/sealed-calls.ts';

/**
 * Seals bytes so that only the vault's keys open them, and only in the place they were sealed for: a row that was
 * changed, or put in the place of another, does not open. Never returns anything but the bytes that were sealed.
 *
 * Records (sessions, credentials, job options) are sealed in an envelope: each has a data key of its own, and the vault
 * key encrypts only that data key. Changing the vault key therefore rewrites 64 bytes of a record and not its contents.
 * Calls between processes live for seconds and are sealed by the vault key itself.
 */
export interface Vault {
  /** Tells keys apart without telling anything of them. The key that seals. */
  readonly keyId: string;
  seal(plain: Uint8Array, place: VaultPlace): Uint8Array;
  /** Throws INVALID_SETTINGS when the vault has not the key, DATABASE_CORRUPT when the bytes do not open. */
  open(sealed: Uint8Array, place: VaultPlace): Uint8Array;
  /** Seals the contents again under the present key; null when they are under it already. Throws as `open` does. */
  rewrap(sealed: Uint8Array, place: VaultPlace): Uint8Array | null;
}

export interface VaultPlace {
  readonly kind: 'session' | 'credential' | 'job' | 'webhook' | 'schedule' | 'call' | 'answer';
  readonly accountId: AccountId;
  readonly name: string;
}

const CIPHER = 'aes-256-gcm';
/** The first byte: sealed by the vault key itself, or by a data key that the vault key encrypts. */
const DIRECT = 1;
const ENVELOPE = 2;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
const BOX_BYTES = NONCE_BYTES + TAG_BYTES;
const WRAPPED_END = HEAD_BYTES + BOX_BYTES + KEY_BYTES;

export const VAULT_HINT =
  'Set SCRAPIFIE_VAULT_KEY to 32 random bytes in hex or base64, such as `openssl rand -hex 32` prints.';

interface VaultKey {
  readonly id: Buffer;
  readonly secret: Buffer;
}

/**
 * From keys of the settings, each 32 bytes in hex or base64. `key` seals and opens; `oldKeys`, separated by commas, only
 * open. Null without `key`.
 */
export function createVault(key: string | undefined, oldKeys = ''): Vault | null {
  if (key === undefined) return null;
  const own = readKey(key);
  const old = oldKeys.split(',').flatMap((text) => (text.trim() === '' ? [] : [readKey(text.trim())]));
  const keys = new Map([...old, own].map((each) => [each.id.toString('hex'), each]));
  const keyId = own.id.toString('hex');

  function keyOf(bytes: Buffer, place: VaultPlace): VaultKey {
    if (!isSealed(bytes)) throw unreadable(place, 'it was not sealed by this program');
    const known = keys.get(bytes.toString('hex', 1, HEAD_BYTES));
    if (known === undefined) throw lockedBy(bytes, place, keyId);
    return known;
  }

  function dataKeyOf(bytes: Buffer, place: VaultPlace): Buffer {
    const { secret } = keyOf(bytes, place);
    const head = bytes.subarray(0, HEAD_BYTES);
    return unbox(secret, bytes.subarray(HEAD_BYTES, WRAPPED_END), boundTo(head, place), place);
  }

  function wrap(dataKey: Buffer, place: VaultPlace): Buffer {
    const head = Buffer.concat([Buffer.of(ENVELOPE), own.id]);
    return Buffer.concat([head, box(own.secret, dataKey, boundTo(head, place))]);
  }

  function seal(plain: Uint8Array, place: VaultPlace): Buffer {
    if (place.kind === 'call') {
      const head = Buffer.concat([Buffer.of(DIRECT), own.id]);
      return Buffer.concat([head, box(own.secret, plain, boundTo(head, place))]);
    }
    const dataKey = randomBytes(KEY_BYTES);
    return Buffer.concat([wrap(dataKey, place), box(dataKey, plain, boundTo(Buffer.of(ENVELOPE), place))]);
  }

  function open(sealed: Uint8Array, place: VaultPlace): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const { secret } = keyOf(bytes, place);
    if (bytes[0] === DIRECT) {
      const head = bytes.subarray(0, HEAD_BYTES);
      return unbox(secret, bytes.subarray(HEAD_BYTES), boundTo(head, place), place);
    }
    const bound = boundTo(Buffer.of(ENVELOPE), place);
    return unbox(dataKeyOf(bytes, place), bytes.subarray(WRAPPED_END), bound, place);
  }

  return {
    keyId,
    seal,
    open,
    rewrap(sealed, place) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      // Earlier versions sealed records by the vault key itself: these get an envelope.
      if (bytes[0] === DIRECT) return seal(open(bytes, place), place);
      if (keyOf(bytes, place) === own) return null;
      return Buffer.concat([wrap(dataKeyOf(bytes, place), place), bytes.subarray(WRAPPED_END)]);
    },
  };
}

/**
 * The vault of the settings. Null only where the operator allows secrets in the open; without a key and without that
 * permission, the vault refuses to seal.
 */
export function openVault({ vaultKey, vaultOldKeys, allowPlainSecrets }: VaultKeys): Vault | null {
  return createVault(vaultKey, vaultOldKeys) ?? (allowPlainSecrets ? null : KEYLESS);
}

/**
 * Opens the vault of places whose key is made by whatever seals first: opening needs no key, and makes none. `makeKeys` is asked
 * when there is none and something is to be sealed.
 */
export function openVaultLater(keys: VaultKeys, makeKeys: () => VaultKeys): Vault | null {
  if (keys.vaultKey !== undefined || keys.allowPlainSecrets) return openVault(keys);
  let vault: Vault | null = null;
  return {
    get keyId() {
      return (vault ?? KEYLESS).keyId;
    },
    seal(plain, place) {
      vault ??= openVault(makeKeys()) ?? KEYLESS;
      return vault.seal(plain, place);
    },
    open: (sealed, place) => (vault ?? KEYLESS).open(sealed, place),
    rewrap: (sealed, place) => (vault ?? KEYLESS).rewrap(sealed, place),
  };
}

export type VaultKeys = Pick<Settings, 'vaultKey' | 'vaultOldKeys' | 'allowPlainSecrets'>;

const KEYLESS: Vault = {
  keyId: 'none',
  seal() {
    throw new ScrapifieError('UNSUPPORTED_OPTION', `Secrets are only stored encrypted. ${VAULT_HINT}`);
  },
  open(sealed, place) {
    throw lockedBy(sealed, place, null);
  },
  rewrap(sealed, place) {
    throw lockedBy(sealed, place, null);
  },
};

function readKey(text: string): VaultKey {
  const secret = Buffer.from(text, text.length === KEY_BYTES * 2 ? 'hex' : 'base64');
  if (secret.length !== KEY_BYTES) {
    throw new ScrapifieError('INVALID_SETTINGS', `The vault key is not 32 bytes long. ${VAULT_HINT}`);
  }
  const id = createHmac('sha256', secret).update('key id').digest().subarray(0, KEY_ID_BYTES);
  return { id, secret };
}

/** Nonce, tag and what was encrypted. */
function box(secret: Buffer, plain: Uint8Array, bound: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(bound);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function unbox(secret: Buffer, boxed: Buffer, bound: Uint8Array, place: VaultPlace): Buffer {
  const nonce = boxed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bound);
  decipher.setAuthTag(boxed.subarray(NONCE_BYTES, BOX_BYTES));
  try {
    return Buffer.concat([decipher.update(boxed.subarray(BOX_BYTES)), decipher.final()]);
  } catch {
    throw unreadable(place, 'it was changed outside Scrapifie, or belongs elsewhere');
  }
}

export function isSealed(bytes: Uint8Array): boolean {
  if (bytes[0] === DIRECT) return bytes.length >= HEAD_BYTES + BOX_BYTES;
  return bytes[0] === ENVELOPE && bytes.length >= WRAPPED_END + BOX_BYTES;
}

/** Why something sealed stays closed: its key is not among those that are set; `ownId` is null when none is. */
export function lockedBy(sealed: Uint8Array, place: VaultPlace, ownId: string | null): ScrapifieError {
  const keyId = Buffer.from(sealed.subarray(1, HEAD_BYTES)).toString('hex');
  const set = ownId === null ? 'no SCRAPIFIE_VAULT_KEY is set' : `SCRAPIFIE_VAULT_KEY is key ${ownId}`;
  return new ScrapifieError(
    'INVALID_SETTINGS',
    `The ${place.kind} "${place.name}" is encrypted with vault key ${keyId}, but ${set}. Set that key again, name it in SCRAPIFIE_VAULT_OLD_KEYS, or delete the ${place.kind}.`,
  );
}

function unreadable(place: VaultPlace, why: string): ScrapifieError {
  return new ScrapifieError(
    'DATABASE_CORRUPT',
    `The stored ${place.kind} "${place.name}" cannot be decrypted: ${why}. Delete it and store it anew.`,
  );
}

/** The place is authenticated with the bytes, though it is not among them. */
function boundTo(head: Uint8Array, { kind, accountId, name }: VaultPlace): Uint8Array {
  return Buffer.concat([head, Buffer.from(JSON.stringify([kind, accountId, name]))]);
}

/** Calls are of all accounts. */
const PLACE: VaultPlace = { kind: 'call', accountId: '' as AccountId, name: 'render' };

/** Seals what render workers are asked, by the key of the settings; null where there is none. */
export function createCallSeal(vaultKey: string | undefined, oldKeys = ''): CallSeal | null {
  const vault = createVault(vaultKey, oldKeys);
  if (vault === null) return null;
  return {
    seal: (plain) => vault.seal(plain, PLACE),
    open(sealed) {
      try {
        return vault.open(sealed, PLACE);
      } catch (error) {
        if (isScrapifieError(error)) return null;
        throw error;
      }
    },
  };
}
