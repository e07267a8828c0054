import { randomBytes } from 'node:crypto';
import { isStoreAway } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { ApiKey, FoundKey, SignIn } from '../../core/ports/key-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { hashSecret, isUsable } from './api-key.ts';
import type { KeyDirectory } from './key-directory.ts';
import { allows } from './scopes.ts';

/**
 * Browsers that are signed in to the dashboard. A sign-in stands for the key that it was made with, and ends with it:
 * when the key is revoked, expires or gets another secret, or its account is disabled.
 */
export interface SignIns {
  /** Signs in with a key. The secret is for the cookie of the browser. */
  begin(key: FoundKey): Promise<{ readonly secret: string; readonly lastsMs: number }>;
  /**
   * The key of a sign-in, or null when that has ended. Counts as a use. While the store is away, a sign-in that was seen
   * valid a short while ago still is; of any other the store's error is thrown.
   */
  identify(secret: string): Promise<FoundKey | null>;
  /** Whether a sign-in has not ended; its key is not looked at. Counts as no use. */
  isOpen(secret: string): Promise<boolean>;
  end(secret: string): Promise<void>;
  /**
   * Uses up a link. Returns the oldest usable key of its account with the scope admin; null when the link is unknown,
   * used or too old, or the account has no such key.
   */
  takeLink(token: string): Promise<FoundKey | null>;
}

type SignInParts = Pick<
  Store,
  'addSignIn' | 'findSignIn' | 'touchSignIn' | 'deleteSignIn' | 'takeSignInLink' | 'listKeys'
>;

export interface SignInsOptions {
  readonly store: SignInParts;
  readonly keys: Pick<KeyDirectory, 'identifyHash'>;
  readonly now: () => number;
  /** Told when the last use could not be written; the sign-in then ends sooner. */
  readonly onError: (error: unknown) => void;
}

const DAY_MS = 86_400_000;
const LASTS_MS = 30 * DAY_MS;
const IDLE_MS = 7 * DAY_MS;
/** The last use is written once in so long: a page of the dashboard sends many requests. */
const TOUCH_MS = 3_600_000;
/** How long a sign-in lives on without the store. */
const TRUSTED_MS = 600_000;
const MAX_REMEMBERED = 10_000;
const SECRET_BYTES = 32;

const newToken = () => randomBytes(SECRET_BYTES).toString('base64url');

export function createSignIns({ store, keys, now, onError }: SignInsOptions): SignIns {
  const remembered = new BoundedMap<string, { readonly signIn: SignIn; readonly seenAt: number }>(
    MAX_REMEMBERED,
  );
  const touchedAt = new BoundedMap<string, number>(MAX_REMEMBERED);

  async function find(hash: string): Promise<SignIn | null> {
    const at = now();
    try {
      const signIn = await store.findSignIn(hash);
      if (signIn === null) remembered.delete(hash);
      else remembered.set(hash, { signIn, seenAt: at });
      return signIn;
    } catch (error) {
      const known = remembered.get(hash);
      const isTrusted = known !== undefined && Math.abs(at - known.seenAt) < TRUSTED_MS;
      if (!isTrusted || !isStoreAway(error)) throw error;
      return known.signIn;
    }
  }

  /** The request does not wait for it. */
  function touch({ hash, usedAt }: SignIn): void {
    const at = now();
    if (at - Math.max(usedAt, touchedAt.get(hash) ?? 0) < TOUCH_MS) return;
    touchedAt.set(hash, at);
    store.touchSignIn(hash).catch(onError);
  }

  return {
    async begin(key) {
      const secret = newToken();
      await store.addSignIn({
        hash: hashSecret(secret),
        accountId: key.accountId,
        keyId: key.id,
        keyHash: key.hash,
        lastsMs: LASTS_MS,
        idleMs: IDLE_MS,
      });
      return { secret, lastsMs: LASTS_MS };
    },
    async identify(secret) {
      const signIn = await find(hashSecret(secret));
      if (signIn === null) return null;
      const key = await keys.identifyHash(signIn.keyHash);
      if (key !== null) touch(signIn);
      return key;
    },
    isOpen: async (secret) => (await find(hashSecret(secret))) !== null,
    async end(secret) {
      const hash = hashSecret(secret);
      remembered.delete(hash);
      await store.deleteSignIn(hash);
    },
    async takeLink(token) {
      const link = await store.takeSignInLink(hashSecret(token));
      if (link === null) return null;
      const owner = (await store.listKeys(link.accountId)).find((key) => isOwner(key, now()));
      return owner === undefined ? null : keys.identifyHash(owner.hash);
    },
  };
}

const isOwner = (key: ApiKey, at: number): boolean => isUsable(key, at) && allows(key.scopes, 'admin');

/** For as long a link can be used. */
const LINK_LASTS_MS = 3_600_000;

/** Where the dashboard takes the token of a link from: the part of an address that browsers send to no server. */
const LINK_PATH = '/sign-in#token=';

/** Makes a link that signs one browser in, once, as the owner of the account. */
export async function makeSignInLink(
  store: Pick<Store, 'addSignInLink'>,
  accountId: AccountId,
  origin: string,
): Promise<string> {
  const token = newToken();
  await store.addSignInLink({ hash: hashSecret(token), accountId, lastsMs: LINK_LASTS_MS });
  return `${origin.replace(/\/+$/, '')}${LINK_PATH}${token}`;
}
