import { z } from 'zod';
import { noSuchAccount } from '../../capabilities/accounts/accounts.ts';
import {
  hashSecret,
  isUsable,
  LAST_EXPIRY,
  MOST_RATE_PER_MINUTE,
  newKey,
  newSecret,
  prefixOf,
} from '../../capabilities/accounts/api-key.ts';
import { allows, refusalOf, SCOPE_LIST, scopeSchema } from '../../capabilities/accounts/scopes.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { keySchema, keyView, newKeySchema } from '../../capabilities/views/account-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { ApiKey, KeyScope } from '../../core/ports/key-store.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf, isCommandLine } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { newIdFor, secretBytesFor } from './idempotency.ts';
import type { SharedRouteDeps } from './route-deps.ts';

export const accountField = z
  .string()
  .max(64)
  .optional()
  .describe('Another account, for the operator; left out: the account of the key.');

/** The account that a request is about. FORBIDDEN where it is another one and the key is not the operator's. */
export function accountMeant(key: ApiKey, named: string | undefined): AccountId {
  if (named === undefined || named === key.accountId) return key.accountId;
  const refusal = refusalOf(key, 'operator');
  if (refusal !== null) throw new ScrapifieError('FORBIDDEN', refusal);
  return named as AccountId;
}

/** The holder of a secret has its scopes. FORBIDDEN where the key would get one that it does not have itself. */
function requireGrantable(key: ApiKey, scopes: readonly KeyScope[], command: 'create' | 'rotate'): void {
  const foreign = scopes.filter((scope) => !allows(key.scopes, scope));
  if (foreign.length === 0) return;
  throw new ScrapifieError(
    'FORBIDDEN',
    `This key does not have the scope ${foreign.join(', ')}, so it cannot get the secret of a key that has it. On the machine of the server, \`scrapifie keys ${command}\` can.`,
  );
}

const idParams = z.strictObject({ id: z.string().max(64).describe('The key.') });

export function addKeyRoutes(app: App, { store, bus, keys, now }: SharedRouteDeps): void {
  function forget(id: KeyId): void {
    keys.forget(id);
    bus.publish('account.changed', { accounts: [], keys: [id] });
  }

  app.route({
    method: 'GET',
    url: '/v1/keys',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'List API keys',
      querystring: z.strictObject({ account: accountField }),
      response: answers({ 200: z.object({ items: z.array(keySchema), nextCursor: z.null() }) }),
    },
    async handler(request) {
      const all = await store.listKeys(accountMeant(apiKeyOf(request), request.query.account));
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
      body: z
        .strictObject({
          account: accountField,
          name: z.string().trim().min(1).max(200).describe('What the key is for.'),
          scopes: z.array(scopeSchema).min(1).default(['read', 'write']).describe(SCOPE_LIST),
          ratePerMinute: z.number().int().min(1).max(MOST_RATE_PER_MINUTE).nullable().default(null),
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
      const { name, ratePerMinute } = request.body;
      const maker = apiKeyOf(request);
      const accountId = accountMeant(maker, request.body.account);
      const at = now();
      const expiresAt = request.body.expiresAt === null ? null : Date.parse(request.body.expiresAt);
      if (expiresAt !== null && expiresAt <= at) {
        throw invalidRequest([{ field: 'expiresAt', message: 'This time has passed.' }]);
      }
      if (expiresAt !== null && !(expiresAt <= LAST_EXPIRY)) {
        throw invalidRequest([{ field: 'expiresAt', message: 'A key can last until the year 9999.' }]);
      }
      const scopes = [...new Set(request.body.scopes)];
      requireGrantable(maker, scopes, 'create');
      const secret = newSecret(secretBytesFor(request, 'key'));
      if (accountId !== maker.accountId && (await store.getAccount(accountId)) === null) {
        throw noSuchAccount(accountId);
      }
      const options = { name, scopes, ratePerMinute, expiresAt };
      const key = { ...newKey(accountId, secret, options, at), id: newIdFor(request) as KeyId };
      await store.createKey(key);
      await store.audit([{ at, actor: maker.id, action: 'key.create', target: key.id, details: { scopes } }]);
      reply.code(201);
      return success({ ...keyView({ ...key, revokedAt: null, lastUsedAt: null }), secret });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/keys/:id',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'One API key',
      params: idParams,
      querystring: z.strictObject({ account: accountField }),
      response: answers({ 200: keySchema }),
    },
    async handler(request) {
      const all = await store.listKeys(accountMeant(apiKeyOf(request), request.query.account));
      const key = all.find(({ id }) => id === request.params.id);
      if (key === undefined) throw new ScrapifieError('NOT_FOUND', 'There is no such key.');
      return success(keyView(key));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/keys/:id',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'Revoke an API key',
      params: idParams,
      querystring: z.strictObject({ account: accountField }),
      response: answers({ 200: z.object({ id: z.string(), revoked: z.literal(true) }) }),
    },
    async handler(request) {
      const id = request.params.id as KeyId;
      const own = apiKeyOf(request);
      const accountId = accountMeant(own, request.query.account);
      const actor = own.id;
      const at = now();
      const others = (await store.listKeys(accountId)).filter((key) => key.id !== id && isUsable(key, at));
      // At the command line of the machine, `scrapifie keys create` makes another.
      const isLast = accountId === own.accountId && !isCommandLine(request);
      if (isLast && !others.some((key) => key.scopes.includes('admin'))) {
        throw new ScrapifieError(
          'CONFLICT',
          'This is the last key with the scope "admin"; create another first.',
        );
      }
      if (!(await store.revokeKey(accountId, id, at))) {
        throw new ScrapifieError('NOT_FOUND', 'There is no such key, or it is revoked already.');
      }
      forget(id);
      await store.audit([{ at, actor, action: 'key.revoke', target: id, details: {} }]);
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
      params: idParams,
      body: z
        .strictObject({
          account: accountField,
          overlapSeconds: z
            .number()
            .int()
            .min(0)
            .max(MOST_OVERLAP_SECONDS)
            .default(3_600)
            .describe('How long the secret of now goes on.'),
        })
        .nullish()
        .meta({ examples: [{ overlapSeconds: 3_600 }] }),
      response: answers({ 200: newKeySchema }),
    },
    async handler(request) {
      const { account, overlapSeconds } = request.body ?? { account: undefined, overlapSeconds: 3_600 };
      const own = apiKeyOf(request);
      const id = request.params.id as KeyId;
      const accountId = accountMeant(own, account);
      const rotated = (await store.listKeys(accountId)).find((each) => each.id === id);
      requireGrantable(own, rotated?.scopes ?? [], 'rotate');
      const secret = newSecret();
      const stored = { hash: hashSecret(secret), prefix: prefixOf(secret) };
      const overlapMs = overlapSeconds * 1_000;
      const key = await store.rotateKey(accountId, id, stored, overlapMs);
      if (key === null) {
        throw new ScrapifieError('NOT_FOUND', 'There is no such key, or it is revoked or has expired.');
      }
      forget(id);
      const details = { overlapSeconds };
      await store.audit([{ at: now(), actor: own.id, action: 'key.rotate', target: id, details }]);
      return success({ ...keyView(key), secret });
    },
  });
}

/** After a rotation the former secret is valid for ninety more days at most. */
const MOST_OVERLAP_SECONDS = 7_776_000;
