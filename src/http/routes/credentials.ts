import { z } from 'zod';
import { credentialInputSchema as secretSchema } from '../../capabilities/sessions/credential.ts';
import { NAME, NAME_RULE } from '../../capabilities/sessions/session.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { credentialView, credentialViewSchema } from '../../capabilities/views/session-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, deletedNameSchema, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const credentialParams = z.strictObject({
  name: z.string().regex(NAME, `Must be ${NAME_RULE}.`).describe('What sessions call it by.'),
});

export function addCredentialRoutes(app: App, { credentials, store, now }: SharedRouteDeps): void {
  app.route({
    method: 'PUT',
    url: '/v1/credentials/:name',
    config: { access: 'admin' },
    schema: {
      tags: ['sessions'],
      summary: 'Store what to log in with, encrypted',
      description:
        'In place of one of the same name. It is never shown again, and sent to the hosts it names only. Needs `SCRAPIFIE_VAULT_KEY`.',
      params: credentialParams,
      body: secretSchema.meta({
        examples: [{ kind: 'login', hosts: ['shop.example'], username: 'ann', password: '…' }],
      }),
      response: answers({ 200: credentialViewSchema }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const target = request.params.name;
      const { kind, hosts } = request.body;
      await credentials.put(accountId, target, request.body);
      await store.audit([{ at: now(), actor, action: 'credential.put', target, details: { kind, hosts } }]);
      const stored = await store.getCredential(accountId, target);
      if (stored === null) throw new ScrapifieError('CONFLICT', `"${target}" was deleted just now.`);
      return success(credentialView(stored));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/credentials',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['sessions'],
      summary: 'List stored credentials, without their secrets',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(credentialViewSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('credentials', request.query.cursor);
      const { limit } = request.query;
      const slice = await credentials.list({ accountId: accountOf(request), cursor, limit });
      return success(listAnswer('credentials', slice, credentialView));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/credentials/:name',
    config: { access: 'admin' },
    schema: {
      tags: ['sessions'],
      summary: 'Delete stored credentials',
      description: 'Sessions that name them fail with `NOT_FOUND` from then on.',
      params: credentialParams,
      response: answers({ 200: deletedNameSchema }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const target = request.params.name;
      if (!(await credentials.delete(accountId, target))) {
        throw new ScrapifieError('NOT_FOUND', `There are no credentials "${target}".`);
      }
      await store.audit([{ at: now(), actor, action: 'credential.delete', target, details: {} }]);
      return success({ name: target, deleted: true as const });
    },
  });
}
