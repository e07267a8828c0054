import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { limitFields, PLAN_NAME, type Plans } from '../../core/config/plans-and-prices.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../../core/model/ids.ts';
import { type Account, type AccountLimits, CUSTOM_PLAN, NO_LIMITS } from '../../core/ports/account-store.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { ApiKey, NewKey } from '../../core/ports/key-store.ts';
import type { AccountStore, Store } from '../../core/ports/store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import { newKey, newSecret } from './api-key.ts';

/** Limits left out stay; null lifts one. */
export type LimitChanges = { readonly [Name in keyof AccountLimits]?: AccountLimits[Name] | undefined };

export interface AccountRequest {
  readonly id?: string | undefined;
  readonly name: string;
  readonly plan?: string | undefined;
  readonly limits?: LimitChanges | undefined;
}

export interface AccountChanges {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly limits?: LimitChanges | undefined;
}

/** The key, or the command line, that makes a change, for the audit log. */
export interface Actor {
  readonly actor: string;
}

/** From what an account is made, where a repeat of the request makes the same. */
export interface AccountMaking {
  /** Id of the first key, and of the account when the request names none. */
  readonly id: string;
  /** For the secret of the first key; null: any. */
  readonly chance: Buffer | null;
  /** An earlier request may have made it already. */
  readonly isRepeated: boolean;
}

export interface CreatedAccount {
  readonly account: Account;
  readonly key: ApiKey;
  readonly secret: string;
}

/**
 * What the operator does with accounts. Every change is in the audit log, without names: the log outlives the accounts.
 * Every change is announced to all processes.
 */
export interface AccountAdmin {
  /** The first key has the scope `admin`; its secret is returned this one time. CONFLICT when the id is taken. */
  create(request: AccountRequest, by: Actor, made?: AccountMaking): Promise<CreatedAccount>;
  /** NOT_FOUND when there is no such account. */
  get(id: string): Promise<Account>;
  /** CONFLICT while the account is being deleted; the same holds for disabling and enabling. */
  change(id: string, changes: AccountChanges, by: Actor): Promise<Account>;
  /** Its keys are refused and its jobs stand still until it is enabled. CONFLICT for the account of the operator. */
  disable(id: string, by: Actor): Promise<Account>;
  enable(id: string, by: Actor): Promise<Account>;
  /**
   * Refuses its keys at once and marks it, so that the scheduler cancels its jobs and deletes everything of it. Repeating
   * it tells how far that is, until NOT_FOUND. CONFLICT for the account of the operator, and when `confirm` is not the
   * name of the account.
   */
  delete(id: string, confirm: string, by: Actor): Promise<AccountDeletion>;
}

export interface AccountDeletion {
  readonly id: string;
  readonly since: number;
  /** Jobs that are still to be deleted. */
  readonly jobs: number;
}

export interface AccountAdminDeps {
  readonly store: AccountStore & Pick<Store, 'beginAccountDeletion' | 'listAccountDeletions'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly plans: Plans;
  readonly now: () => number;
  /** Deletes what accounts have that are marked; left out where a scheduler does it in the background. */
  readonly deleteMarked?: (() => Promise<unknown>) | undefined;
}

const ACCOUNT_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export function createAccountAdmin({ store, bus, plans, now, deleteMarked }: AccountAdminDeps): AccountAdmin {
  async function record(
    action: AuditAction,
    target: string,
    details: object,
    { actor }: Actor,
  ): Promise<void> {
    await store.audit([{ at: now(), actor, action, target, details: { ...details } }]);
    bus.publish('account.changed', { accounts: [target], keys: [] });
  }

  async function get(id: string): Promise<Account> {
    const account = await store.getAccount(id as AccountId);
    if (account === null) throw noSuchAccount(id);
    return account;
  }

  async function setDisabled(id: string, isDisabled: boolean, by: Actor): Promise<Account> {
    if (isDisabled && id === DEFAULT_ACCOUNT) {
      throw new ScrapifieError('CONFLICT', 'The account of the operator cannot be disabled.');
    }
    const account = await store.changeAccount(id as AccountId, { isDisabled });
    if (account === null) throw noSuchAccount(id);
    await record(isDisabled ? 'account.disable' : 'account.enable', id, {}, by);
    return account;
  }

  async function jobsOfDeleted(id: AccountId): Promise<number> {
    const deletions = await store.listAccountDeletions(MOST_DELETIONS);
    return deletions.find((each) => each.id === id)?.jobs ?? 0;
  }

  return {
    get,
    async create({ id: given, name, plan, limits: asked }, by, made) {
      const id = (given ?? `acc-${made?.id ?? randomUUID()}`) as AccountId;
      const terms = termsOf(plans, { plan: CUSTOM_PLAN, limits: NO_LIMITS }, plan, asked);
      const secret = newSecret(made?.chance);
      const options = { name: 'first key', scopes: ['admin'] as const, ratePerMinute: null, expiresAt: null };
      const drafted = newKey(id, secret, options, now());
      const key: NewKey = made === undefined ? drafted : { ...drafted, id: made.id as KeyId };
      const isNew = await store.createAccount({ id, name, ...terms }, key);
      const isOurs = !isNew && made?.isRepeated === true && (await store.findKey(key.hash)) !== null;
      if (!isNew && !isOurs) {
        throw new ScrapifieError('CONFLICT', `There is an account ${id} already.`);
      }
      await record('account.create', id, { plan: terms.plan, key: key.id }, by);
      return { account: await get(id), key: { ...key, revokedAt: null, lastUsedAt: null }, secret };
    },
    async change(id, { name, plan, limits }, by) {
      const before = await get(id);
      const terms = plan === undefined && limits === undefined ? {} : termsOf(plans, before, plan, limits);
      const account = await store.changeAccount(before.id, { name, ...terms });
      if (account === null) throw noSuchAccount(id);
      await record(
        'account.change',
        id,
        { plan, limits, ...(name !== undefined && { isRenamed: true }) },
        by,
      );
      return account;
    },
    disable: (id, by) => setDisabled(id, true, by),
    enable: (id, by) => setDisabled(id, false, by),
    async delete(id, confirm, by) {
      const account = await get(id);
      if (account.id === DEFAULT_ACCOUNT) {
        throw new ScrapifieError('CONFLICT', 'The account of the operator cannot be deleted.');
      }
      if (confirm !== account.name) {
        throw new ScrapifieError('CONFLICT', `\`confirm\` must be the name of the account ${id}.`);
      }
      const since = await store.beginAccountDeletion(account.id);
      if (since === null) throw noSuchAccount(id);
      const jobs = await jobsOfDeleted(account.id);
      await record('account.delete', id, { jobs }, by);
      if (deleteMarked === undefined) return { id, since, jobs };
      await deleteMarked();
      return { id, since, jobs: await jobsOfDeleted(account.id) };
    },
  };
}

const MOST_DELETIONS = 1_000;

export const noSuchAccount = (id: string) =>
  new ScrapifieError('NOT_FOUND', `There is no account ${id.slice(0, 100)}.`);

type Terms = Pick<Account, 'plan' | 'limits'>;

/** Plan and limits after a change: a named plan has its own limits, and limits of one's own make the plan `custom`. */
function termsOf(
  plans: Plans,
  before: Terms,
  plan: string | undefined,
  changes: LimitChanges | undefined,
): Terms {
  if (plan !== undefined && plan !== CUSTOM_PLAN) {
    const limits = Object.hasOwn(plans, plan) ? plans[plan] : undefined;
    if (limits === undefined) {
      const names = [...Object.keys(plans), CUSTOM_PLAN].join(', ');
      throw invalidRequest([{ field: 'plan', message: `There is no plan "${plan}"; there is ${names}.` }]);
    }
    if (changes !== undefined) {
      throw invalidRequest([
        { field: 'limits', message: `The plan "${plan}" has its own limits; leave out one of the two.` },
      ]);
    }
    return { plan, limits };
  }
  const given = Object.entries(changes ?? {}).filter(([, value]) => value !== undefined);
  return { plan: CUSTOM_PLAN, limits: { ...before.limits, ...Object.fromEntries(given) } };
}

/** At the start: accounts of a plan get the limits that the settings give it now. Returns how many have changed. */
export async function applyPlans(store: Pick<AccountStore, 'applyPlan'>, plans: Plans): Promise<number> {
  let changed = 0;
  for (const [name, limits] of Object.entries(plans)) changed += await store.applyPlan(name, limits);
  return changed;
}

export const limitsSchema = z.strictObject(limitFields).meta({ id: 'AccountLimits' });
const someLimits = z.strictObject(limitFields).partial().meta({ id: 'AccountLimitsRequest' });
const nameField = z.string().trim().min(1).max(200);
const planField = z.string().regex(PLAN_NAME, 'is not the name of a plan');
export const newAccountSchema = z
  .strictObject({
    id: z
      .string()
      .regex(ACCOUNT_ID, 'must be 1 to 63 lower-case letters, digits, dashes and underscores')
      .optional()
      .describe('Left out: one is made.'),
    name: nameField,
    plan: planField.optional(),
    limits: someLimits.optional().describe('Limits left out are none.'),
  })
  .meta({ examples: [{ id: 'tenant-1', name: 'Tenant 1', limits: { requestsPerMinute: 600 } }] });

export const accountChangeSchema = z
  .strictObject({
    name: nameField.optional(),
    plan: planField.optional(),
    limits: someLimits.optional(),
  })
  .meta({ examples: [{ limits: { concurrentPages: 8, storedBytes: null } }] });
