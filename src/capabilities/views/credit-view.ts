import { z } from 'zod';
import { creditsOf } from '../../core/model/credits.ts';
import type { CreditEntry, Credits, UsageSum } from '../../core/ports/credit-store.ts';

const time = z.iso.datetime();
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
  renewsAt: new Date(credits.renewsAt).toISOString(),
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
  at: new Date(at).toISOString(),
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
