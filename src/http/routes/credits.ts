import { z } from 'zod';
import { creditPlanSchema, grantSchema } from '../../capabilities/accounts/credit-admin.ts';
import {
  creditEntrySchema,
  creditEntryView,
  creditsSchema,
  creditsView,
} from '../../capabilities/views/account-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import type { Credits } from '../../core/ports/credit-store.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { idempotencyKeyOf } from '../server/kept-answers.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const params = z.strictObject({ id: z.string().max(64).describe('The account.') });
const limitsSchema = z
  .object({ credits: creditsSchema.nullable().describe('What is left to spend; null: it is not limited.') })
  .meta({ id: 'AccountCredits' });

const view = (credits: Credits | null) =>
  success({ credits: credits === null ? null : creditsView(credits) });

/** Credits of an account, for the operator. */
export function addCreditRoutes(app: App, { creditAdmin: credits }: SharedRouteDeps): void {
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
    handler: async (request) => view(await credits.get(request.params.id)),
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
      body: creditPlanSchema,
      response: answers({ 200: limitsSchema }),
    },
    async handler(request) {
      const by = { actor: apiKeyOf(request).id };
      return view(await credits.setPlan(request.params.id, request.body, by));
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
      await credits.lift(request.params.id, { actor: apiKeyOf(request).id });
      return view(null);
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
        'They do not expire. No more can be taken away than the balance has: 409. With an `Idempotency-Key` the same ' +
        'grant is made once, and the same entry is answered.',
      params,
      body: grantSchema,
      response: answers({ 201: creditEntrySchema }),
    },
    async handler(request, reply) {
      const by = { actor: apiKeyOf(request).id };
      const key = idempotencyKeyOf(request);
      const { entry, isRepeated } = await credits.grant(request.params.id, request.body, key, by);
      if (isRepeated) reply.header('idempotency-replayed', 'true');
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
      const cursor = unwrapCursor('credit-entries', request.query.cursor);
      const slice = await credits.entries(request.params.id, { cursor, limit: request.query.limit });
      return success(listAnswer('credit-entries', slice, creditEntryView));
    },
  });
}
