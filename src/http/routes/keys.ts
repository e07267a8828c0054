import { z } from 'zod';
import { accountField, keyRequestSchema, keyRotationSchema } from '../../capabilities/accounts/key-admin.ts';
import { keySchema, keyView, newKeySchema } from '../../capabilities/views/account-view.ts';
import type { KeyId } from '../../core/model/ids.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { newIdFor, secretBytesFor } from '../server/kept-answers.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const params = z.strictObject({ id: z.string().max(64).describe('The key.') });
const querystring = z.strictObject({ account: accountField });

export function addKeyRoutes(app: App, { keyAdmin }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/keys',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'List API keys',
      querystring,
      response: answers({ 200: z.object({ items: z.array(keySchema), nextCursor: z.null() }) }),
    },
    async handler(request) {
      const all = await keyAdmin.list(apiKeyOf(request), request.query.account);
      return success({ items: all.map(keyView), nextCursor: null });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/keys',
    config: { access: 'admin', creates: true },
    schema: {
      tags: ['account'],
      summary: 'Create an API key',
      description:
        'The secret is in this answer and nowhere else: only its hash is kept. A key gives others only scopes that it has itself.',
      body: keyRequestSchema,
      response: answers({ 201: newKeySchema }),
    },
    async handler(request, reply) {
      const made = { id: newIdFor(request) as KeyId, chance: secretBytesFor(request, 'key') };
      const { key, secret } = await keyAdmin.create(apiKeyOf(request), request.body, made);
      reply.code(201);
      return success({ ...keyView(key), secret });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/keys/:id',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'One API key',
      params,
      querystring,
      response: answers({ 200: keySchema }),
    },
    handler: async (request) =>
      success(keyView(await keyAdmin.get(apiKeyOf(request), request.params.id, request.query.account))),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/keys/:id',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'Revoke an API key',
      params,
      querystring,
      response: answers({ 200: z.object({ id: z.string(), revoked: z.literal(true) }) }),
    },
    async handler(request) {
      const { id } = request.params;
      await keyAdmin.revoke(apiKeyOf(request), id, request.query.account);
      return success({ id, revoked: true as const });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/keys/:id/rotate',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'Give an API key another secret',
      description:
        'The secret that the key has now goes on for `overlapSeconds`, and so do earlier ones for as long as they were promised to: a rotation whose answer was lost can be repeated. 0 ends all of them at once. A key rotates only keys whose scopes it has itself.',
      params,
      body: keyRotationSchema,
      response: answers({ 200: newKeySchema }),
    },
    async handler(request) {
      const { key, secret } = await keyAdmin.rotate(apiKeyOf(request), request.params.id, request.body);
      return success({ ...keyView(key), secret });
    },
  });
}
