import type { AccountId, KeyId } from '../model/ids.ts';

/**
 * A part of the store: browsers that are signed in to the dashboard, and links that sign one in. Both are found by the
 * hash of a secret that only the browser has. A sign-in holds as long as the secret of the API key that it was made
 * with: the caller looks that key up for each request.
 */
export interface SignInStore {
  /** Stores a sign-in. Of the sign-ins with one key, the hundred that were used last are kept. */
  addSignIn(signIn: NewSignIn): Promise<void>;
  /** Finds a sign-in. Null when it is unknown, its time is over, or it was unused for longer than `idleMs`. */
  findSignIn(hash: string): Promise<SignIn | null>;
  /** Records that the sign-in is used now. Nothing happens when there is no such sign-in. */
  touchSignIn(hash: string): Promise<void>;
  /** Deletes the sign-in. Returns false when there is no such sign-in. */
  deleteSignIn(hash: string): Promise<boolean>;
  /** Keeps the hash of a link for `lastsMs`. */
  addSignInLink(link: NewSignInLink): Promise<void>;
  /** Takes the link away, so that it works once. Null when it is unknown, was used, or its time is over. */
  takeSignInLink(hash: string): Promise<{ readonly accountId: AccountId } | null>;
  /** Deletes up to `limit` sign-ins, and as many links, whose time is over. Returns how many. */
  deleteEndedSignIns(limit: number): Promise<number>;
}

export interface NewSignIn {
  /** Hash of the secret in the cookie. */
  readonly hash: string;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Hash of the secret that the key had at the sign-in: a rotation ends the sign-in when it ends that secret. */
  readonly keyHash: string;
  readonly lastsMs: number;
  /** How long it may go unused. */
  readonly idleMs: number;
}

export interface SignIn extends Omit<NewSignIn, 'lastsMs' | 'idleMs'> {
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number;
}

export interface NewSignInLink {
  /** Hash of the secret in the link. */
  readonly hash: string;
  readonly accountId: AccountId;
  readonly lastsMs: number;
}

/** Sign-ins of one key that are kept. */
export const MOST_SIGN_INS = 100;
