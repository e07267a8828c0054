import { z } from 'zod';
import { accountChangeSchema, newAccountSchema } from '../../capabilities/accounts/accounts.ts';
import { creditPlanSchema, grantSchema } from '../../capabilities/accounts/credit-admin.ts';
import {
  accountSchema,
  accountView,
  creditEntrySchema,
  creditEntryView,
  creditsSchema,
  creditsView,
  keyView,
  newKeySchema,
  usedAccountSchema,
  usedBy,
} from '../../capabilities/views/account-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import type { Credits } from '../../core/ports/credit-store.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { idempotencyKeyOf, newIdFor, secretBytesFor } from '../server/kept-answers.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const params = z.strictObject({ id: z.string().max(64).describe('The account.') });

export function addAccountsRoutes(app: App, { accountAdmin: admin, store }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/accounts',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'List accounts, by id',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(accountSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('accounts', request.query.cursor);
      const slice = await store.listAccounts({ cursor, limit: request.query.limit });
      return success(listAnswer('accounts', slice, accountView));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/accounts',
    config: { access: 'operator', creates: true },
    schema: {
      tags: ['account'],
      summary: 'Create an account and its first key',
      description:
        'The first key has the scope `admin`. Its secret is in this answer and nowhere else: only its hash is kept.',
      body: newAccountSchema,
      response: answers({ 201: z.object({ account: accountSchema, key: newKeySchema }) }),
    },
    async handler(request, reply) {
      const made = {
        id: newIdFor(request),
        chance: secretBytesFor(request, 'key'),
        isRepeated: request.held?.isRepeated ?? false,
      };
      const { account, key, secret } = await admin.create(
        request.body,
        { actor: apiKeyOf(request).id },
        made,
      );
      reply.code(201);
      return success({ account: accountView(account), key: { ...keyView(key), secret } });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/accounts/:id',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'One account, and what it uses of its limits',
      params,
      response: answers({ 200: usedAccountSchema }),
    },
    async handler(request) {
      const account = await admin.get(request.params.id);
      return success({ ...accountView(account), used: await usedBy(store, account.id) });
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/accounts/:id',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Change name, plan or limits of an account',
      description: 'Fields that are left out stay. Limits given make the plan `custom`; null lifts a limit.',
      params,
      body: accountChangeSchema,
      response: answers({ 200: accountSchema }),
    },
    async handler(request) {
      const account = await admin.change(request.params.id, request.body, { actor: apiKeyOf(request).id });
      return success(accountView(account));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/accounts/:id',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Delete an account with everything of it',
      description:
        'Its keys are refused at once, its jobs are cancelled, and everything of it is deleted in the background; repeat ' +
        'the request to see how far that is, until it answers 404. The audit log keeps its entries.',
      params,
      querystring: z.strictObject({ confirm: z.string().max(200).describe('The name of the account.') }),
      response: answers({
        202: z.object({
          id: z.string(),
          deletingSince: z.iso.datetime(),
          jobs: z.number().int().describe('Jobs that are still to be deleted.'),
        }),
      }),
    },
    async handler(request, reply) {
      const by = { actor: apiKeyOf(request).id };
      const { id, since, jobs } = await admin.delete(request.params.id, request.query.confirm, by);
      reply.code(202);
      return success({ id, deletingSince: isoTime(since), jobs });
    },
  });

  for (const action of ['disable', 'enable'] as const) {
    app.route({
      method: 'POST',
      url: `/v1/accounts/:id/${action}`,
      config: { access: 'operator' },
      schema: {
        tags: ['account'],
        summary:
          action === 'disable' ? 'Refuse the keys of an account' : 'Accept the keys of an account again',
        description:
          action === 'disable'
            ? 'Its keys are refused within seconds, and its jobs start no further page until it is enabled.'
            : 'Its jobs go on where they were.',
        params,
        response: answers({ 200: accountSchema }),
      },
      async handler(request) {
        return success(accountView(await admin[action](request.params.id, { actor: apiKeyOf(request).id })));
      },
    });
  }
}

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
