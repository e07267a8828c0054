import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { MOST_CREDITS, microcreditsOf } from '../../model/credits.ts';
import type { AccountId } from '../../model/ids.ts';
import { apiKeyOf } from '../access/access.ts';
import { noSuchAccount } from '../access/accounts.ts';
import type { App } from '../http/app.ts';
import { answers, success } from '../http/envelope.ts';
import { idempotencyKeyOf } from '../http/kept-answers.ts';
import { creditEntrySchema, creditEntryView, creditsSchema, creditsView } from '../views/credit-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../views/list.ts';
import type { RouteDeps } from './route-deps.ts';

const params = z.strictObject({ id: z.string().max(64).describe('The account.') });
const amount = z.number().min(0).max(MOST_CREDITS);
const limitsSchema = z.object({ credits: creditsSchema.nullable().describe('null: not limited.') });

/** Credits of an account, for the operator. */
export function addCreditRoutes(app: App, { store, now }: RouteDeps): void {
  async function found(id: string): Promise<AccountId> {
    const account = await store.getAccount(id as AccountId);
    if (account === null) throw noSuchAccount(id);
    return account.id;
  }

  async function view(id: AccountId) {
    const credits = await store.getCredits(id);
    return success({ credits: credits === null ? null : creditsView(credits) });
  }

  const audit = (actor: string, action: string, target: string, details: Record<string, unknown>) =>
    store.audit([{ at: now(), actor, action, target, details }]);

  app.route({
    method: 'GET',
    url: '/v1/accounts/:id/credits',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'What an account may spend',
      params,
      response: answers({ 200: limitsSchema }),
    },
    handler: async (request) => view(await found(request.params.id)),
  });

  app.route({
    method: 'PUT',
    url: '/v1/accounts/:id/credits',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Limit what an account may spend',
      description:
        'From now on pages of its jobs are paid for with its credits. A changed allowance counts for this month.',
      params,
      body: z
        .strictObject({
          monthlyCredits: amount.describe('Credited at the beginning of each calendar month, in UTC.'),
          lowCredits: amount.default(0).describe('Below this, `account.low_credits` is sent.'),
        })
        .meta({ examples: [{ monthlyCredits: 10_000, lowCredits: 500 }] }),
      response: answers({ 200: limitsSchema }),
    },
    async handler(request) {
      const id = await found(request.params.id);
      const { monthlyCredits, lowCredits } = request.body;
      await audit(apiKeyOf(request).id, 'account.credits', id, { monthlyCredits, lowCredits });
      await store.setCreditPlan(id, {
        monthlyMicrocredits: microcreditsOf(monthlyCredits),
        lowMicrocredits: microcreditsOf(lowCredits),
      });
      return view(id);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/accounts/:id/credits',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Lift the limit of what an account may spend',
      description: 'Granted credits are kept for the next time it is limited.',
      params,
      response: answers({ 200: limitsSchema }),
    },
    async handler(request) {
      const id = await found(request.params.id);
      await audit(apiKeyOf(request).id, 'account.credits', id, { limits: null });
      await store.setCreditPlan(id, null);
      return view(id);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/accounts/:id/credits',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Grant credits to an account, or take some away',
      description:
        'They do not expire. With an `Idempotency-Key` the same grant is made once, and the same entry is answered.',
      params,
      body: z
        .strictObject({
          amount: z
            .number()
            .min(-MOST_CREDITS)
            .max(MOST_CREDITS)
            .refine((credits) => microcreditsOf(credits) !== 0, 'must not be zero')
            .describe('Credits; negative: taken away.'),
          reason: z.string().trim().min(1).max(500),
        })
        .meta({ examples: [{ amount: 1_000, reason: 'invoice 4711' }] }),
      response: answers({ 201: creditEntrySchema }),
    },
    async handler(request, reply) {
      const id = await found(request.params.id);
      const { amount: credits, reason } = request.body;
      const microcredits = microcreditsOf(credits);
      const key = idempotencyKeyOf(request);
      await audit(apiKeyOf(request).id, 'account.grant', id, { amount: credits, reason });
      const entryId = randomUUID();
      const entry = await store.grantCredits(id, { id: entryId, microcredits, reason, key });
      if (entry === null) throw noSuchAccount(id);
      if (entry.microcredits !== microcredits || entry.reason !== reason) {
        throw new ScrapifieError(
          'IDEMPOTENCY_MISMATCH',
          'This Idempotency-Key was used for another grant of the account.',
        );
      }
      if (entry.id !== entryId) reply.header('idempotency-replayed', 'true');
      reply.code(201);
      return success(creditEntryView(entry));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/accounts/:id/credits/entries',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Grants and allowances of an account, newest first',
      params,
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(creditEntrySchema) }),
    },
    async handler(request) {
      const accountId = await found(request.params.id);
      const cursor = unwrapCursor('credit-entries', request.query.cursor);
      const slice = await store.listCreditEntries({ accountId, cursor, limit: request.query.limit });
      return success(listAnswer('credit-entries', slice, creditEntryView));
    },
  });
}
