import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { ApiKey, KeyScope } from '../../core/ports/key-store.ts';
import type { AccountStore } from '../../core/ports/store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import { noSuchAccount } from './accounts.ts';
import {
  COMMAND_LINE,
  hashSecret,
  isUsable,
  LAST_EXPIRY,
  MOST_RATE_PER_MINUTE,
  newKey,
  newSecret,
  prefixOf,
} from './api-key.ts';
import { allows, refusalOf, SCOPE_LIST, scopeSchema } from './scopes.ts';

/** After a rotation the former secret is valid for ninety more days at most. */
const MOST_OVERLAP_SECONDS = 7_776_000;
const OVERLAP_SECONDS = 3_600;

export const accountField = z
  .string()
  .max(64)
  .optional()
  .describe('Another account, for the operator; left out: the account of the key.');

export const keyRequestSchema = z
  .strictObject({
    account: accountField,
    name: z.string().trim().min(1).max(200).describe('What the key is for.'),
    scopes: z.array(scopeSchema).min(1).default(['read', 'write']).describe(SCOPE_LIST),
    ratePerMinute: z
      .number()
      .int()
      .min(1)
      .max(MOST_RATE_PER_MINUTE)
      .nullable()
      .default(null)
      .describe('Requests per minute; null: as many as the server allows a key.'),
    expiresAt: z.iso.datetime({ offset: true }).nullable().default(null).describe('When it stops working.'),
  })
  .meta({ examples: [{ name: 'nightly crawl', scopes: ['jobs:read', 'jobs:write'] }] });

export const keyRotationSchema = z
  .strictObject({
    account: accountField,
    overlapSeconds: z
      .number()
      .int()
      .min(0)
      .max(MOST_OVERLAP_SECONDS)
      .default(OVERLAP_SECONDS)
      .describe('How long the secret of now goes on.'),
  })
  .nullish()
  .meta({ examples: [{ overlapSeconds: OVERLAP_SECONDS }] });

/** From what a key is made: a repeat of the request makes the same. */
export interface KeyMaking {
  readonly id: KeyId;
  /** For the secret; null: any. */
  readonly chance: Buffer | null;
}

export interface NewlyKnownKey {
  readonly key: ApiKey;
  /** The secret is returned this one time: only its hash is kept. */
  readonly secret: string;
}

/**
 * What the holder of a key (`by`) does with the keys of an account: its own, or another one that the operator names. FORBIDDEN where
 * a key that is not the operator’s names another. Every change is in the audit log, and announced to all processes.
 */
export interface KeyAdmin {
  list(by: ApiKey, account: string | undefined): Promise<readonly ApiKey[]>;
  /** NOT_FOUND when the account has no such key. */
  get(by: ApiKey, id: string, account: string | undefined): Promise<ApiKey>;
  /** FORBIDDEN where the new key would have a scope that `by` does not have itself. */
  create(by: ApiKey, request: z.output<typeof keyRequestSchema>, made: KeyMaking): Promise<NewlyKnownKey>;
  /** CONFLICT for the last key of the account with the scope `admin`, except at the command line, which can make another. */
  revoke(by: ApiKey, id: string, account: string | undefined): Promise<void>;
  /** FORBIDDEN where the key has a scope that `by` does not have itself: the holder of a secret has its scopes. */
  rotate(by: ApiKey, id: string, request: z.output<typeof keyRotationSchema>): Promise<NewlyKnownKey>;
}

export interface KeyAdminDeps {
  readonly store: AccountStore;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => number;
}

export function createKeyAdmin({ store, bus, now }: KeyAdminDeps): KeyAdmin {
  const list = (by: ApiKey, account: string | undefined) => store.listKeys(accountMeant(by, account));
  const announce = (id: KeyId) => bus.publish('account.changed', { accounts: [], keys: [id] });

  return {
    list,
    async get(by, id, account) {
      const key = (await list(by, account)).find((each) => each.id === id);
      if (key === undefined) throw new ScrapifieError('NOT_FOUND', 'There is no such key.');
      return key;
    },
    async create(by, { account, name, ratePerMinute, ...asked }, { id, chance }) {
      const accountId = accountMeant(by, account);
      const at = now();
      const expiresAt = expiryOf(asked.expiresAt, at);
      const scopes = [...new Set(asked.scopes)];
      requireGrantable(by, scopes, 'create');
      const secret = newSecret(chance);
      if (accountId !== by.accountId && (await store.getAccount(accountId)) === null) {
        throw noSuchAccount(accountId);
      }
      const key = { ...newKey(accountId, secret, { name, scopes, ratePerMinute, expiresAt }, at), id };
      await store.createKey(key);
      await store.audit([{ at, actor: by.id, action: 'key.create', target: id, details: { scopes } }]);
      return { key: { ...key, revokedAt: null, lastUsedAt: null }, secret };
    },
    async revoke(by, id, account) {
      const accountId = accountMeant(by, account);
      const at = now();
      const others = (await store.listKeys(accountId)).filter((key) => key.id !== id && isUsable(key, at));
      const mustStay = accountId === by.accountId && by.id !== COMMAND_LINE;
      if (mustStay && !others.some((key) => key.scopes.includes('admin'))) {
        throw new ScrapifieError(
          'CONFLICT',
          'This is the last key with the scope "admin"; create another first.',
        );
      }
      if (!(await store.revokeKey(accountId, id as KeyId, at))) {
        throw new ScrapifieError('NOT_FOUND', 'There is no such key, or it is revoked already.');
      }
      announce(id as KeyId);
      await store.audit([{ at, actor: by.id, action: 'key.revoke', target: id, details: {} }]);
    },
    async rotate(by, id, request) {
      const { account, overlapSeconds } = request ?? { account: undefined, overlapSeconds: OVERLAP_SECONDS };
      const accountId = accountMeant(by, account);
      const rotated = (await store.listKeys(accountId)).find((each) => each.id === id);
      requireGrantable(by, rotated?.scopes ?? [], 'rotate');
      const secret = newSecret();
      const stored = { hash: hashSecret(secret), prefix: prefixOf(secret) };
      const key = await store.rotateKey(accountId, id as KeyId, stored, overlapSeconds * 1_000);
      if (key === null) {
        throw new ScrapifieError('NOT_FOUND', 'There is no such key, or it is revoked or has expired.');
      }
      announce(key.id);
      const details = { overlapSeconds };
      await store.audit([{ at: now(), actor: by.id, action: 'key.rotate', target: id, details }]);
      return { key, secret };
    },
  };
}

/** The account that a request is about. FORBIDDEN where it is another one and the key is not the operator's. */
export function accountMeant(key: ApiKey, named: string | undefined): AccountId {
  if (named === undefined || named === key.accountId) return key.accountId;
  const refusal = refusalOf(key, 'operator');
  if (refusal !== null) throw new ScrapifieError('FORBIDDEN', refusal);
  return named as AccountId;
}

function expiryOf(asked: string | null, at: number): number | null {
  const expiresAt = asked === null ? null : Date.parse(asked);
  if (expiresAt !== null && expiresAt <= at) {
    throw invalidRequest([{ field: 'expiresAt', message: 'This time has passed.' }]);
  }
  if (expiresAt !== null && !(expiresAt <= LAST_EXPIRY)) {
    throw invalidRequest([{ field: 'expiresAt', message: 'A key can last until the year 9999.' }]);
  }
  return expiresAt;
}

function requireGrantable(by: ApiKey, scopes: readonly KeyScope[], command: 'create' | 'rotate'): void {
  const foreign = scopes.filter((scope) => !allows(by.scopes, scope));
  if (foreign.length === 0) return;
  throw new ScrapifieError(
    'FORBIDDEN',
    `This key does not have the scope ${foreign.join(', ')}, so it cannot get the secret of a key that has it. On the machine of the server, \`scrapifie keys ${command}\` can.`,
  );
}
