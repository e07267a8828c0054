import type { FastifyRequest } from 'fastify';
import { creditsOf, dayOf, MOST_CREDITS, monthOf, startOfMonth } from '../../../../core/model/credits.ts';
import type { UsageSum } from '../../../../core/ports/credit-store.ts';
import { isoTime, isoTimeOrNull } from '../../../../lib/iso-time.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import type { FirecrawlDeps } from '../firecrawl-deps.ts';

/** The answer for an account without a limit: clients expect a number. */
const UNLIMITED = MOST_CREDITS;
const MONTHS_SHOWN = 12;
const DAY_MS = 86_400_000;
const MOST_ROWS = 1_000;

/** What an account has used, has left and has under way. */
export function addTeamRoutes(app: App, { store, settings, now, jobs, isV1 }: FirecrawlDeps): void {
  const route = (url: string, handler: (request: FastifyRequest) => Promise<object>) =>
    app.route({
      method: 'GET',
      url,
      config: { access: 'jobs:read' },
      schema: { hide: true },
      handler: async (request) => ({ success: true, ...(await handler(request)) }),
    });

  function period() {
    const month = monthOf(now());
    return { start: isoTime(startOfMonth(month)), end: isoTime(startOfMonth(month + 1)) };
  }

  route('/team/credit-usage', async (request) => {
    const credits = await store.getCredits(apiKeyOf(request).accountId);
    const { start, end } = period();
    const remaining =
      credits === null ? UNLIMITED : creditsOf(credits.allowanceMicrocredits + credits.balanceMicrocredits);
    const plan = credits === null ? UNLIMITED : creditsOf(credits.monthlyMicrocredits);
    return {
      data: isV1
        ? {
            remaining_credits: remaining,
            plan_credits: plan,
            billing_period_start: start,
            billing_period_end: end,
          }
        : {
            remainingCredits: remaining,
            planCredits: plan,
            billingPeriodStart: start,
            billingPeriodEnd: end,
          },
    };
  });

  route('/team/token-usage', async () => {
    const { start, end } = period();
    return {
      data: isV1
        ? {
            remaining_tokens: UNLIMITED,
            plan_tokens: UNLIMITED,
            billing_period_start: start,
            billing_period_end: end,
          }
        : {
            remainingTokens: UNLIMITED,
            planTokens: UNLIMITED,
            billingPeriodStart: start,
            billingPeriodEnd: end,
          },
    };
  });

  /** One period for each month, and one for each of its keys where that is asked for. */
  async function periods(request: FastifyRequest, amount: (sum: Amounts) => object) {
    const { accountId } = apiKeyOf(request);
    const isByKey = (request.query as { byApiKey?: string }).byApiKey === 'true';
    const current = monthOf(now());
    const months = Array.from({ length: MONTHS_SHOWN }, (_, at) => current - MONTHS_SHOWN + 1 + at);
    const found = await Promise.all(
      months.map(async (month) => {
        const [from, to] = [startOfMonth(month), startOfMonth(month + 1)];
        const { items } = await store.listUsage({
          accountId,
          by: isByKey ? 'key' : 'engine',
          from: dayOf(from),
          to: dayOf(to - DAY_MS),
          limit: MOST_ROWS,
        });
        const sums: readonly Amounts[] = isByKey ? items : items.length === 0 ? [] : [total(items)];
        return sums.map((sum) => ({
          startDate: isoTime(from),
          endDate: isoTime(to),
          ...(isByKey ? { apiKey: sum.value } : {}),
          ...amount(sum),
        }));
      }),
    );
    return { periods: found.flat() };
  }

  route('/team/credit-usage/historical', (request) =>
    periods(request, ({ microcredits }) => ({ creditsUsed: creditsOf(microcredits) })),
  );
  route('/team/token-usage/historical', (request) =>
    periods(request, ({ tokens }) => ({ tokensUsed: tokens })),
  );

  async function concurrency(request: FastifyRequest) {
    const { accountId } = apiKeyOf(request);
    const [account, use] = await Promise.all([store.getAccount(accountId), store.accountUse(accountId)]);
    return { use, most: account?.limits.concurrentPages ?? settings.maxConcurrency };
  }

  route('/concurrency-check', async (request) => {
    const { use, most } = await concurrency(request);
    return { concurrency: use.claimedPages, maxConcurrency: most };
  });

  route('/team/queue-status', async (request) => {
    const { accountId } = apiKeyOf(request);
    const [{ use, most }, ended] = await Promise.all([
      concurrency(request),
      jobs.list({ accountId, status: 'completed', limit: 1 }),
    ]);
    const last = ended.items[0]?.finishedAt ?? null;
    return {
      jobsInQueue: use.openUrls,
      activeJobsInQueue: use.claimedPages,
      waitingJobsInQueue: Math.max(0, use.openUrls - use.claimedPages),
      maxConcurrency: most,
      mostRecentSuccess: isoTimeOrNull(last),
    };
  });
}

type Amounts = Pick<UsageSum, 'value' | 'tokens' | 'microcredits'>;

const total = (items: readonly UsageSum[]): Amounts => ({
  value: '',
  tokens: items.reduce((sum, { tokens }) => sum + tokens, 0),
  microcredits: items.reduce((sum, { microcredits }) => sum + microcredits, 0),
});
