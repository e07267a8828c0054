import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import { MOST_CREDITS, microcreditsOf } from '../../core/model/credits.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { CreditEntry, Credits } from '../../core/ports/credit-store.ts';
import type { ListPage, Store } from '../../core/ports/store.ts';
import { type Actor, noSuchAccount } from './accounts.ts';

const amount = z.number().min(0).max(MOST_CREDITS);

export const creditPlanSchema = z
  .strictObject({
    monthlyCredits: amount.describe('Credited at the beginning of each calendar month, in UTC.'),
    lowCredits: amount.default(0).describe('Below this, `account.low_credits` is sent.'),
  })
  .meta({ examples: [{ monthlyCredits: 10_000, lowCredits: 500 }] });

export const grantSchema = z
  .strictObject({
    amount: z
      .number()
      .min(-MOST_CREDITS)
      .max(MOST_CREDITS)
      .refine((credits) => microcreditsOf(credits) !== 0, 'must not be zero')
      .describe('Credits; negative: taken away.'),
    reason: z.string().trim().min(1).max(500),
  })
  .meta({ examples: [{ amount: 1_000, reason: 'invoice 4711' }] });

export type GrantRequest = z.output<typeof grantSchema>;

/**
 * What the operator does with the credits of accounts. Every change is in the audit log. Every method throws NOT_FOUND for
 * an account that is not there.
 */
export interface CreditAdmin {
  /** Null when the account is not limited. */
  get(account: string): Promise<Credits | null>;
  setPlan(account: string, plan: z.output<typeof creditPlanSchema>, by: Actor): Promise<Credits | null>;
  lift(account: string, by: Actor): Promise<void>;
  /**
   * A grant with the `key` of an earlier one returns that one; IDEMPOTENCY_MISMATCH when they differ. CONFLICT when it
   * would take more than the balance.
   */
  grant(account: string, request: GrantRequest, key: string | null, by: Actor): Promise<Granted>;
  entries(
    account: string,
    query: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<ListPage<CreditEntry>>;
}

export interface Granted {
  readonly entry: CreditEntry;
  readonly isRepeated: boolean;
}

export function createCreditAdmin({
  store,
  now,
}: {
  readonly store: Store;
  readonly now: () => number;
}): CreditAdmin {
  async function found(id: string): Promise<AccountId> {
    const account = await store.getAccount(id as AccountId);
    if (account === null) throw noSuchAccount(id);
    return account.id;
  }
  const audit = ({ actor }: Actor, action: AuditAction, target: string, details: Record<string, unknown>) =>
    store.audit([{ at: now(), actor, action, target, details }]);

  return {
    get: async (account) => store.getCredits(await found(account)),
    async setPlan(account, { monthlyCredits, lowCredits }, by) {
      const id = await found(account);
      await audit(by, 'account.credits', id, { monthlyCredits, lowCredits });
      await store.setCreditPlan(id, {
        monthlyMicrocredits: microcreditsOf(monthlyCredits),
        lowMicrocredits: microcreditsOf(lowCredits),
      });
      return store.getCredits(id);
    },
    async lift(account, by) {
      const id = await found(account);
      await audit(by, 'account.credits', id, { limits: null });
      await store.setCreditPlan(id, null);
    },
    async grant(account, { amount: credits, reason }, key, by) {
      const accountId = await found(account);
      const microcredits = microcreditsOf(credits);
      const id = randomUUID();
      const entry = await store.grantCredits(accountId, { id, microcredits, reason, key });
      if (entry === null) throw noSuchAccount(account);
      if (entry.microcredits !== microcredits || entry.reason !== reason) {
        const message = 'This Idempotency-Key was used for another grant of the account.';
        throw new ScrapifieError('IDEMPOTENCY_MISMATCH', message);
      }
      // After the grant, which has an entry of its own: what was refused or repeated has not happened.
      if (entry.id === id) await audit(by, 'account.grant', accountId, { amount: credits, reason });
      return { entry, isRepeated: entry.id !== id };
    },
    entries: async (account, query) => store.listCreditEntries({ accountId: await found(account), ...query }),
  };
}
