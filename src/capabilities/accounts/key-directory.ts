import { timingSafeEqual } from 'node:crypto';
import { isStoreAway } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';
import type { AccountStore } from '../../core/ports/store.ts';
import { hashSecret, isUsable } from './api-key.ts';
import { type BearerTokens, isToken } from './bearer-tokens.ts';

export interface KeyDirectory {
  /**
   * The usable key with this secret, or null. Counts as a use. While the store is away, a key that was seen valid a
   * short while ago still is; of any other the store's error is thrown.
   */
  identify(secret: string): Promise<FoundKey | null>;
  /** Identifies a key by the hash of its secret, as `identify` does by the secret itself. */
  identifyHash(hash: string): Promise<FoundKey | null>;
  /** Whether a key with this secret was seen valid lately, without asking the store. */
  isRemembered(secret: string): boolean;
  /** Whether a key that was identified before is usable still, as fresh as `identify` knows it. */
  isValid(key: FoundKey): Promise<boolean>;
  /** The key was changed or revoked: the store is asked about it again. */
  forget(id: KeyId): void;
  /** The account was changed: the store is asked about its keys again. */
  forgetAccount(id: AccountId): void;
  /** Writes the uses that still wait. */
  close(): Promise<void>;
}

export interface KeyDirectoryOptions {
  readonly store: Pick<AccountStore, 'findKey' | 'touchKeys'>;
  readonly now: () => number;
  /** Told when the last uses could not be written; they are only for showing. */
  readonly onError: (error: unknown) => void;
}

/** A key revoked in another process, or whose account was disabled there, stops working here within this time. */
const FRESH_MS = 5_000;
/** How long a key lives on without the store: one revoked meanwhile stops working here within this time. */
const TRUSTED_MS = 600_000;
const TOUCH_MS = 5_000;
const MAX_KNOWN = 10_000;
/** Apart, so that a flood of wrong keys cannot push the right ones out. */
const MAX_UNKNOWN = 1_000;

export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { store, now } = options;
  const known = new Map<string, { readonly key: FoundKey; readonly seenAt: number }>();
  const unknown = new Map<string, number>();
  const used = new Map<KeyId, number>();
  const timer = setInterval(flush, TOUCH_MS).unref();

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const uses = [...used].map(([id, at]) => ({ id, at }));
    used.clear();
    try {
      await store.touchKeys(uses);
    } catch (error) {
      options.onError(error);
    }
  }

  async function find(hash: string, at: number): Promise<FoundKey | null> {
    const cached = known.get(hash);
    if (cached !== undefined && isWithin(FRESH_MS, cached.seenAt, at)) return cached.key;
    if ((unknown.get(hash) ?? 0) > at) return null;
    let key: FoundKey | null;
    try {
      key = await store.findKey(hash);
    } catch (error) {
      // Looked up again: the key may have been revoked while the store was asked.
      const trusted = known.get(hash);
      if (trusted === undefined || !isStoreAway(error)) throw error;
      if (!isWithin(TRUSTED_MS, trusted.seenAt, at)) throw error;
      return trusted.key;
    }
    if (key === null) {
      known.delete(hash);
      remember(unknown, hash, at + FRESH_MS, MAX_UNKNOWN);
      return null;
    }
    remember(known, hash, { key, seenAt: at }, MAX_KNOWN);
    return key;
  }

  async function identifyHash(hash: string): Promise<FoundKey | null> {
    const at = now();
    const key = await find(hash, at);
    if (key === null || !isSame(key.hash, hash) || !isUsable(key, at)) return null;
    used.set(key.id, at);
    return key;
  }

  return {
    identify: (secret) => identifyHash(hashSecret(secret)),
    identifyHash,
    async isValid({ hash }) {
      const at = now();
      const key = await find(hash, at);
      return key !== null && isUsable(key, at) && key.account.disabledAt === null;
    },
    isRemembered: (secret) => known.has(hashSecret(secret)),
    forget(id) {
      for (const [hash, { key }] of known) if (key.id === id) known.delete(hash);
    },
    forgetAccount(id) {
      for (const [hash, { key }] of known) if (key.accountId === id) known.delete(hash);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Keys of the store, and tokens of an issuer where there is one. */
export function withTokens(keys: KeyDirectory, tokens: BearerTokens | null): KeyDirectory {
  if (tokens === null) return keys;
  return {
    identify: (secret) => (isToken(secret) ? tokens.identify(secret) : keys.identify(secret)),
    identifyHash: keys.identifyHash,
    isRemembered: (secret) => (isToken(secret) ? tokens.isRemembered(secret) : keys.isRemembered(secret)),
    isValid: (key) => (tokens.isFrom(key) ? tokens.isValid(key) : keys.isValid(key)),
    forget: keys.forget,
    forgetAccount(id) {
      keys.forgetAccount(id);
      tokens.forgetAccount(id);
    },
    async close() {
      await Promise.all([keys.close(), tokens.close()]);
    },
  };
}

/** In both directions: a clock that was put back must not make a key live longer. */
const isWithin = (ms: number, seenAt: number, at: number) => Math.abs(at - seenAt) < ms;

/** The oldest entry makes room. */
function remember<T>(map: Map<string, T>, hash: string, value: T, max: number): void {
  map.delete(hash);
  if (map.size >= max) {
    const oldest = map.keys().next();
    if (!oldest.done) map.delete(oldest.value);
  }
  map.set(hash, value);
}

function isSame(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}
