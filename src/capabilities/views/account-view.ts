import { z } from 'zod';
import { creditsOf } from '../../core/model/credits.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Account } from '../../core/ports/account-store.ts';
import type { AuditRecord } from '../../core/ports/audit-store.ts';
import type { CreditEntry, Credits, UsageSum } from '../../core/ports/credit-store.ts';
import type { ApiKey } from '../../core/ports/key-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import { limitsSchema } from '../accounts/accounts.ts';
import { scopeSchema } from '../accounts/scopes.ts';
import { selfLinks, selfSchema } from './list.ts';

const time = z.iso.datetime();
export const usedSchema = z
  .object({
    openUrls: z.number().int(),
    concurrentPages: z.number().int().describe('Pages that are claimed by a worker.'),
    storedBytes: z.number().int(),
  })
  .meta({ id: 'AccountUse' });

const accountFields = {
  id: z.string(),
  name: z.string(),
  plan: z.string().describe('A plan of the settings, or `custom`.'),
  limits: limitsSchema,
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

export function accountView(account: Account) {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    limits: account.limits,
    disabledAt: isoTimeOrNull(account.disabledAt),
    deletingSince: isoTimeOrNull(account.deletingSince),
    createdAt: isoTime(account.createdAt),
    updatedAt: isoTime(account.updatedAt),
    links: selfLinks('accounts', account.id),
  };
}

export async function usedBy(store: Pick<Store, 'accountUse'>, id: AccountId) {
  const { openUrls, claimedPages, storedBytes } = await store.accountUse(id);
  return { openUrls, concurrentPages: claimedPages, storedBytes };
}

const keyFields = {
  id: z.string(),
  name: z.string(),
  prefix: z.string().describe('First characters of the secret, for recognising it.'),
  scopes: z.array(scopeSchema),
  ratePerMinute: z
    .number()
    .int()
    .nullable()
    .describe('Requests per minute; null: as many as the server allows a key.'),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  lastUsedAt: time.nullable(),
  links: selfSchema,
};
export const keySchema = z.object(keyFields).meta({ id: 'Key' });
export const newKeySchema = z
  .object({ ...keyFields, secret: z.string().describe('Shown this one time.') })
  .meta({ id: 'NewKey' });

export function keyView(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    ratePerMinute: key.ratePerMinute,
    createdAt: isoTimeOrNull(key.createdAt),
    expiresAt: isoTimeOrNull(key.expiresAt),
    revokedAt: isoTimeOrNull(key.revokedAt),
    lastUsedAt: isoTimeOrNull(key.lastUsedAt),
    links: selfLinks('keys', key.id),
  };
}

const hash = z.string().length(64);

export const auditSchema = z
  .object({
    seq: z.number().int().describe('1 for the first entry; no number is left out.'),
    at: z.iso.datetime(),
    actor: z.string().describe('The id of an API key, an address, an account, or `command line`.'),
    action: z.string().describe('What was done, such as `key.create`.'),
    target: z.string(),
    details: z.record(z.string(), z.unknown()),
    previousHash: hash.describe('`hash` of the entry before; zeros for the first.'),
    hash: hash.describe('SHA-256 over this entry and `previousHash`; docs/security.md says how.'),
  })
  .meta({ id: 'AuditEntry' });

export const auditView = ({ at, ...record }: AuditRecord) => ({
  ...record,
  at: isoTime(at),
});

const count = z.number().int();

export const creditsSchema = z
  .object({
    availableCredits: z.number().describe('What new pages can be paid with: allowance and balance.'),
    allowanceCredits: z.number().describe('Left of this month’s allowance; it lapses with the month.'),
    balanceCredits: z.number().describe('Granted credits; they do not expire.'),
    heldCredits: z.number().describe('Held for the jobs that are going on.'),
    monthlyCredits: z.number().describe('The allowance of each calendar month, in UTC.'),
    lowCredits: z.number().describe('Below this, `account.low_credits` is sent.'),
    renewsAt: time.describe('When the next allowance comes.'),
  })
  .meta({ id: 'Credits' });

export const creditsView = (credits: Credits) => ({
  availableCredits: creditsOf(credits.allowanceMicrocredits + credits.balanceMicrocredits),
  allowanceCredits: creditsOf(credits.allowanceMicrocredits),
  balanceCredits: creditsOf(credits.balanceMicrocredits),
  heldCredits: creditsOf(credits.heldMicrocredits),
  monthlyCredits: creditsOf(credits.monthlyMicrocredits),
  lowCredits: creditsOf(credits.lowMicrocredits),
  renewsAt: isoTime(credits.renewsAt),
});

export const creditEntrySchema = z
  .object({
    id: z.string(),
    kind: z
      .enum(['grant', 'allowance', 'lapse'])
      .describe('`lapse`: what was left of an allowance when its month was over.'),
    amount: z.number().describe('Credits; negative: taken away.'),
    reason: z.string(),
    at: time,
  })
  .meta({ id: 'CreditEntry' });

export const creditEntryView = ({ id, kind, microcredits, reason, at }: CreditEntry) => ({
  id,
  kind,
  amount: creditsOf(microcredits),
  reason,
  at: isoTime(at),
});

export const usageSchema = z
  .object({
    value: z
      .string()
      .describe('The day, the id of the key or the job, the engine or the host. Empty: no key made the job.'),
    pages: count,
    attempts: count,
    bytes: count,
    browserMs: count,
    proxyBytes: count,
    tokens: count.describe('Of language models.'),
    credits: z.number(),
  })
  .meta({ id: 'Usage' });

export type UsageView = ReturnType<typeof usageView>;

export const usageView = ({ microcredits, ...sum }: UsageSum) => ({
  ...sum,
  credits: creditsOf(microcredits),
});
