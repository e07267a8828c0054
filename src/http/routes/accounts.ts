import { z } from 'zod';
import { accountChangeSchema, newAccountSchema } from '../../capabilities/accounts/accounts.ts';
import {
  accountSchema,
  accountView,
  keyView,
  newKeySchema,
  usedAccountSchema,
  usedBy,
} from '../../capabilities/views/account-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { newIdFor, secretBytesFor } from './idempotency.ts';
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
      return success({ id, deletingSince: new Date(since).toISOString(), jobs });
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
