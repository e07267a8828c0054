import { z } from 'zod';
import type { Account } from '../../core/model/account.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { limitsSchema } from '../accounts/account-request.ts';
import { selfLinks, selfSchema } from './list.ts';

const time = z.iso.datetime();
export const usedSchema = z.object({
  openUrls: z.number().int(),
  concurrentPages: z.number().int().describe('Pages that are claimed by a worker.'),
  storedBytes: z.number().int(),
});

const accountFields = {
  id: z.string(),
  name: z.string(),
  plan: z.string().describe('A plan of the settings, or `custom`.'),
  limits: limitsSchema.describe('null: none.'),
  disabledAt: time.nullable().describe('Since when its keys are refused; null: it is in use.'),
  deletingSince: time
    .nullable()
    .describe('Since when it is being deleted, which cannot be undone; null: it is not.'),
  createdAt: time,
  updatedAt: time,
  links: selfSchema,
};
export const accountSchema = z.object(accountFields).meta({ id: 'Account' });
export const usedAccountSchema = z
  .object({ ...accountFields, used: usedSchema })
  .meta({ id: 'AccountWithUse' });

const iso = (at: number) => new Date(at).toISOString();

export function accountView(account: Account) {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    limits: account.limits,
    disabledAt: account.disabledAt === null ? null : iso(account.disabledAt),
    deletingSince: account.deletingSince === null ? null : iso(account.deletingSince),
    createdAt: iso(account.createdAt),
    updatedAt: iso(account.updatedAt),
    links: selfLinks('accounts', account.id),
  };
}

export async function usedBy(store: Pick<Store, 'accountUse'>, id: AccountId) {
  const { openUrls, claimedPages, storedBytes } = await store.accountUse(id);
  return { openUrls, concurrentPages: claimedPages, storedBytes };
}
