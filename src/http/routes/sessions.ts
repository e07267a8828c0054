import { z } from 'zod';
import { credentialAccessOf } from '../../capabilities/accounts/api-key.ts';
import { allows } from '../../capabilities/accounts/scopes.ts';
import { logIn, loginRequestSchema } from '../../capabilities/jobs/login.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { credentialInputSchema as secretSchema } from '../../capabilities/sessions/credential.ts';
import { NAME, NAME_RULE, sessionRequestSchema } from '../../capabilities/sessions/session.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  credentialView,
  credentialViewSchema,
  loginSchema,
  loginView,
  sessionEntrySchema,
  sessionEntryView,
  sessionSchema,
  sessionView,
} from '../../capabilities/views/session-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, starterOf } from '../server/caller.ts';
import { clientGone } from '../server/connections.ts';
import { answers, deletedNameSchema, success } from '../server/envelope.ts';
import { newIdFor } from '../server/kept-answers.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const name = z.string().regex(NAME, `Must be ${NAME_RULE}.`);
const sessionParams = z.strictObject({ name: name.describe('The session.') });

export function addSessionRoutes(app: App, deps: SharedRouteDeps): void {
  const { jobs, sessions, store, settings, now } = deps;

  app.route({
    method: 'POST',
    url: '/v1/sessions',
    config: { access: 'jobs:write', creates: true },
    schema: {
      tags: ['sessions'],
      summary: 'Create a session',
      description:
        'Keeps cookies, storage, proxy and identity from page to page. A request that names a session which is not there creates it, too.',
      body: sessionRequestSchema.nullish().meta({ examples: [{ name: 'shop', identity: 'bot' }] }),
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
      } = request.body ?? sessionRequestSchema.parse({});
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
      const options = {
        name: given ?? newIdFor(request),
        credentials,
        proxy,
        identity,
        hours: expiresInHours,
      };
      const { session, isNew } = await sessions.create(
        key.accountId,
        options,
        request.held?.isRepeated ?? false,
      );
      if (isNew) {
        const details = { credentials, proxy, identity };
        await store.audit([
          { at: now(), actor: key.id, action: 'session.create', target: session.name, details },
        ]);
      }
      reply.code(201).header('location', `/v1/sessions/${session.name}`);
      return success(sessionView(session, now()));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sessions',
    config: { access: 'jobs:read' },
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
    config: { access: 'jobs:read' },
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
    method: 'POST',
    url: '/v1/sessions/:name/login',
    config: { access: 'jobs:write' },
    schema: {
      tags: ['sessions'],
      summary: 'Log a session in',
      description:
        'Fetches the page, fills in its log-in form with the credentials of the session and sends it, or does what ' +
        '`actions` say. The session keeps what the site sets. `LOGIN_FAILED` when the site still asks to log in.',
      params: sessionParams,
      body: loginRequestSchema,
      response: answers({ 200: loginSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId } = key;
      const target = { session: request.params.name, account: accountId };
      const result = await logIn({ jobs, sessions, store }, target, request.body, {
        credentials: credentialAccessOf(key),
        signal: clientGone(reply),
        startedBy: starterOf(request),
      });
      const { method, finalUrl } = result;
      const details = { method, url: finalUrl };
      await store.audit([
        { at: now(), actor: key.id, action: 'session.login', target: target.session, details },
      ]);
      return success(loginView(result, now()));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/sessions/:name',
    config: { access: 'jobs:write' },
    schema: {
      tags: ['sessions'],
      summary: 'Delete a session with all that it keeps',
      params: sessionParams,
      response: answers({ 200: deletedNameSchema }),
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
