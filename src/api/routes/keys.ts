import { z } from 'zod';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { invalidRequest } from '../../jobs/invalid-request.ts';
import type { KeyId } from '../../model/ids.ts';
import type { ApiKey } from '../../ports/api-key.ts';
import { apiKeyOf } from '../access/access.ts';
import { isUsable, LAST_EXPIRY, newKey, newSecret } from '../access/api-key.ts';
import { allows, SCOPE_LIST, SCOPES } from '../access/scopes.ts';
import type { App } from '../http/app.ts';
import { answers, success } from '../http/envelope.ts';
import { selfLinks, selfSchema } from '../views/list.ts';
import type { RouteDeps } from './route-deps.ts';

const time = z.iso.datetime();

const keyFields = {
  id: z.string(),
  name: z.string(),
  prefix: z.string().describe('First characters of the secret, for recognising it.'),
  scopes: z.array(z.enum(SCOPES)),
  ratePerMinute: z.number().int().nullable().describe('null: the server’s default.'),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  lastUsedAt: time.nullable(),
  links: selfSchema,
};
export const keySchema = z.object(keyFields).meta({ id: 'Key' });
const newKeySchema = z
  .object({ ...keyFields, secret: z.string().describe('Shown this one time.') })
  .meta({ id: 'NewKey' });

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function keyView(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    ratePerMinute: key.ratePerMinute,
    createdAt: iso(key.createdAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
    lastUsedAt: iso(key.lastUsedAt),
    links: selfLinks('keys', key.id),
  };
}

export function addKeyRoutes(app: App, { store, keys, now }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/keys',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'List API keys',
      response: answers({ 200: z.object({ items: z.array(keySchema), nextCursor: z.null() }) }),
    },
    async handler(request) {
      const all = await store.listKeys(apiKeyOf(request).accountId);
      return success({ items: all.map(keyView), nextCursor: null });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/keys',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'Create an API key',
      description:
        'The secret is in this answer and nowhere else: only its hash is kept. A key gives others only scopes that it has itself.',
      body: z
        .strictObject({
          name: z.string().trim().min(1).max(200).describe('What the key is for.'),
          scopes: z.array(z.enum(SCOPES)).min(1).default(['read', 'write']).describe(SCOPE_LIST),
          ratePerMinute: z.number().int().min(1).max(100_000_000).nullable().default(null),
          expiresAt: z.iso
            .datetime({ offset: true })
            .nullable()
            .default(null)
            .describe('When it stops working.'),
        })
        .meta({ examples: [{ name: 'nightly crawl', scopes: ['jobs:read', 'jobs:write'] }] }),
      response: answers({ 201: newKeySchema }),
    },
    async handler(request, reply) {
      // The same answer cannot be given twice: the secret is not kept.
      if (request.headers['idempotency-key'] !== undefined) {
        throw new ScrapifieError(
          'UNSUPPORTED_OPTION',
          'The secret of a key is returned once, so Idempotency-Key is not supported here.',
        );
      }
      const { name, ratePerMinute } = request.body;
      const maker = apiKeyOf(request);
      const at = now();
      const expiresAt = request.body.expiresAt === null ? null : Date.parse(request.body.expiresAt);
      if (expiresAt !== null && expiresAt <= at) {
        throw invalidRequest([{ field: 'expiresAt', message: 'This time has passed.' }]);
      }
      if (expiresAt !== null && !(expiresAt <= LAST_EXPIRY)) {
        throw invalidRequest([{ field: 'expiresAt', message: 'A key can last until the year 9999.' }]);
      }
      const scopes = [...new Set(request.body.scopes)];
      const foreign = scopes.filter((scope) => !allows(maker.scopes, scope));
      if (foreign.length > 0) {
        throw new ScrapifieError(
          'FORBIDDEN',
          `This key does not have the scope ${foreign.join(', ')}, so it cannot give it to another key. On the machine of the server, \`scrapifie keys create\` can.`,
        );
      }
      const secret = newSecret();
      const key = newKey(maker.accountId, secret, { name, scopes, ratePerMinute, expiresAt }, at);
      await store.createKey(key);
      await store.audit([
        { at, actor: maker.id, action: 'key.create', target: key.id, details: { name, scopes } },
      ]);
      reply.code(201);
      return success({ ...keyView({ ...key, revokedAt: null, lastUsedAt: null }), secret });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/keys/:id',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'Revoke an API key',
      params: z.strictObject({ id: z.string().max(64) }),
      response: answers({ 200: z.object({ id: z.string(), revoked: z.literal(true) }) }),
    },
    async handler(request) {
      const id = request.params.id as KeyId;
      const { accountId, id: actor } = apiKeyOf(request);
      const at = now();
      const others = (await store.listKeys(accountId)).filter((key) => key.id !== id && isUsable(key, at));
      if (!others.some((key) => key.scopes.includes('admin'))) {
        throw new ScrapifieError(
          'CONFLICT',
          'This is the last key with the scope "admin"; create another first.',
        );
      }
      if (!(await store.revokeKey(accountId, id, at))) {
        throw new ScrapifieError('NOT_FOUND', 'There is no such key, or it is revoked already.');
      }
      keys.forget(id);
      await store.audit([{ at, actor, action: 'key.revoke', target: id, details: {} }]);
      return success({ id, revoked: true as const });
    },
  });
}
