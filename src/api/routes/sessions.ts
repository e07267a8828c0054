import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { invalidRequest } from '../../jobs/invalid-request.ts';
import { PROXY_TIERS } from '../../model/proxy.ts';
import { countryCode } from '../../plan/proxies/country.ts';
import { NAME, NAME_RULE } from '../../sessions/session.ts';
import { createSessions } from '../../sessions/sessions.ts';
import { openVault } from '../../sessions/vault.ts';
import { accountOf, apiKeyOf } from '../access/access.ts';
import { allows } from '../access/api-key.ts';
import type { App } from '../http/app.ts';
import { answers, success } from '../http/envelope.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../views/list.ts';
import { sessionEntrySchema, sessionEntryView, sessionSchema, sessionView } from '../views/session-view.ts';
import type { RouteDeps } from './route-deps.ts';

const name = z.string().regex(NAME, `Must be ${NAME_RULE}.`);
const sessionParams = z.strictObject({ name: name.describe('The session.') });

const newSession = z
  .strictObject({
    name: name.optional().describe('Left out: a name is made up.'),
    credentials: name.nullable().default(null).describe('The name of what to log in with.'),
    proxy: z
      .strictObject({
        tier: z.enum(PROXY_TIERS).nullable().default(null),
        country: z
          .string()
          .nullable()
          .default(null)
          .refine(
            (text) => text === null || countryCode(text) !== null,
            'Not a country code of two letters (ISO 3166).',
          )
          .transform((text) => (text === null ? null : countryCode(text))),
      })
      .nullable()
      .default(null)
      .describe('Which way out its requests take; it keeps one proxy for as long as that works.'),
    identity: z
      .enum(['bot', 'browser'])
      .nullable()
      .default(null)
      .describe(
        '`browser` carries the identity of a regular browser, the same one throughout; a host’s policy must consent.',
      ),
    expiresInHours: z
      .number()
      .int()
      .min(1)
      .max(8_760)
      .nullable()
      .default(null)
      .describe('When it ends; null: as the settings say, a day unless told.'),
  })
  .meta({ examples: [{ name: 'shop', credentials: 'shop-login', proxy: { country: 'de' } }] });

export function addSessionRoutes(app: App, { store, settings, idempotency, now }: RouteDeps): void {
  const sessions = createSessions({
    store,
    vault: openVault(settings),
    now,
    hours: settings.sessionHours,
  });

  app.route({
    method: 'POST',
    url: '/v1/sessions',
    config: { access: 'write' },
    schema: {
      tags: ['sessions'],
      summary: 'Create a session',
      description:
        'Keeps cookies, storage, proxy and identity from page to page. A request that names a session which is not there creates it, too.',
      body: newSession.nullish(),
      response: answers({ 201: sessionSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const {
        credentials,
        proxy,
        identity,
        expiresInHours,
        name: given,
      } = request.body ?? newSession.parse({});
      if (credentials !== null && !allows(key.scopes, 'credentials')) {
        throw new ScrapifieError('FORBIDDEN', 'This API key lacks the scope "credentials".');
      }
      const isKnown =
        credentials === null ||
        settings.credentialServiceUrl !== undefined ||
        (await store.getCredential(key.accountId, credentials)) !== null;
      if (!isKnown) {
        throw invalidRequest([
          { field: 'credentials', message: `There are no credentials "${credentials}".` },
        ]);
      }
      // A repeated key means the same session, so it decides the name where the request does not.
      const repeatKey = idempotency.keyOf(request);
      const own = repeatKey === null ? randomUUID() : hash('sha256', repeatKey, 'hex').slice(0, 32);
      const options = { name: given ?? own, credentials, proxy, identity, hours: expiresInHours };
      const { session, isNew } = await sessions.create(key.accountId, options, repeatKey !== null);
      if (isNew) {
        const details = { credentials, proxy, identity };
        await store.audit([
          { at: now(), actor: key.id, action: 'session.create', target: session.name, details },
        ]);
      } else reply.header('idempotency-replayed', 'true');
      reply.code(201).header('location', `/v1/sessions/${session.name}`);
      return success(sessionView(session, now()));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sessions',
    config: { access: 'read' },
    schema: {
      tags: ['sessions'],
      summary: 'List sessions, newest first',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(sessionEntrySchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('sessions', request.query.cursor);
      const slice = await sessions.list({
        accountId: accountOf(request),
        cursor,
        limit: request.query.limit,
      });
      return success(listAnswer('sessions', slice, (entry) => sessionEntryView(entry, now())));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sessions/:name',
    config: { access: 'read' },
    schema: {
      tags: ['sessions'],
      summary: 'One session, without what its cookies and storage hold',
      params: sessionParams,
      response: answers({ 200: sessionSchema }),
    },
    handler: async (request) =>
      success(sessionView(await sessions.get(accountOf(request), request.params.name), now())),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/sessions/:name',
    config: { access: 'write' },
    schema: {
      tags: ['sessions'],
      summary: 'Delete a session with all that it keeps',
      params: sessionParams,
      response: answers({ 200: z.object({ name: z.string(), deleted: z.literal(true) }) }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const target = request.params.name;
      if (!(await sessions.delete(accountId, target))) {
        throw new ScrapifieError('NOT_FOUND', `There is no session "${target}".`);
      }
      await store.audit([{ at: now(), actor, action: 'session.delete', target, details: {} }]);
      return success({ name: target, deleted: true as const });
    },
  });
}
