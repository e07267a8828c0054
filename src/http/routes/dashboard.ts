import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isToken } from '../../capabilities/accounts/bearer-tokens.ts';
import { allows } from '../../capabilities/accounts/scopes.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { isStoreAway, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import { DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';
import {
  isOwnName,
  requireDashboard,
  requireSameOrigin,
  setSignInCookie,
  signInSecretOf,
} from '../access/browser-requests.ts';
import type { DashboardPages } from '../dashboard/dashboard-files.ts';
import type { App } from '../server/app.ts';
import { success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const MOST_SECRET_CHARS = 8_192;
const secret = z.string().min(1).max(MOST_SECRET_CHARS);
const signInBody = z
  .strictObject({ key: secret.optional(), token: secret.optional() })
  .refine(({ key, token }) => (key === undefined) !== (token === undefined), {
    path: ['key'],
    message: 'Give either `key`, an API key, or `token`, from a sign-in link.',
  });

const OPEN = { config: { access: 'open' as const }, schema: { hide: true } };

/** The dashboard at `/`, and signing in to it; without a dashboard, `/` leads to the reference of the API. */
export function addDashboardRoutes(app: App, deps: RouteDeps): void {
  const { dashboard } = deps;
  if (dashboard === null) {
    app.get('/', OPEN, async (_request, reply) =>
      reply
        .code(302)
        .header('location', '/docs')
        .send({ success: true, data: { docs: '/docs' } }),
    );
    return;
  }
  addPages(app, dashboard.pages);
  addSessionRoutes(app, deps, dashboard);
}

function addPages(app: App, pages: DashboardPages): void {
  app.get('/', OPEN, async (request, reply) => {
    await pages.page(request, reply);
    return reply;
  });
  app.get('/assets/*', OPEN, async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    if (!(await pages.file(path, request, reply))) {
      throw new ScrapifieError('NOT_FOUND', `The dashboard has no file ${path.slice(0, 200)}.`);
    }
    return reply;
  });
}

function addSessionRoutes(
  app: App,
  { store, settings, version, keys, now, logger }: RouteDeps,
  { signIns, authentication }: NonNullable<RouteDeps['dashboard']>,
): void {
  const installation = {
    version,
    role: settings.role,
    profile: settings.databaseUrl === undefined ? 'embedded' : 'fleet',
  };

  async function signedIn(key: FoundKey) {
    // While the store is away, a browser that was signed in still is.
    const account = await store.getAccount(key.accountId).catch((error: unknown) => {
      if (isStoreAway(error)) return null;
      throw error;
    });
    const isAdmin = allows(key.scopes, 'admin');
    return {
      signedIn: true,
      account: { id: key.accountId, name: account?.name ?? key.accountId },
      keyId: key.id,
      key: { id: key.id, prefix: key.prefix, name: key.name },
      scopes: key.scopes,
      isAdmin,
      isOperator: isAdmin && key.accountId === DEFAULT_ACCOUNT,
      ...installation,
    };
  }

  /** The answer does not wait for the entry. */
  function record(request: FastifyRequest, key: FoundKey, action: AuditAction, details: object): void {
    const entry = { at: now(), actor: key.id, action, target: 'dashboard' };
    store
      .audit([{ ...entry, details: { address: request.ip, ...details } }])
      .catch((error) => logger.warn({ err: error }, `${action} was not recorded`));
  }

  async function keyBy(request: FastifyRequest, reply: FastifyReply, body: z.infer<typeof signInBody>) {
    const { key, token } = body;
    if (key === undefined) {
      if (!isOwnName(request.host, settings.publicUrl)) {
        throw new ScrapifieError(
          'CROSS_SITE',
          'A sign-in link works at an IP address, at localhost, and at SCRAPIFIE_PUBLIC_URL. Sign in with an API key.',
        );
      }
      return authentication.check(request, reply, false, () => signIns.takeLink(token ?? ''));
    }
    if (isToken(key)) {
      const message = 'Tokens of an issuer cannot sign in to the dashboard. Give an API key.';
      throw invalidRequest([{ field: 'key', message }]);
    }
    return authentication.check(request, reply, keys.isRemembered(key), () => keys.identify(key));
  }

  app.route({
    method: 'POST',
    url: '/dashboard/session',
    ...OPEN,
    schema: { ...OPEN.schema, body: signInBody },
    onRequest: async (request) => requireSameOrigin(request),
    // Before the fields are looked at: an address that sent many wrong keys gets in with a known key alone.
    async preValidation(request) {
      const { key } = (request.body ?? {}) as { key?: unknown };
      authentication.requireUnlimited(request, typeof key === 'string' && keys.isRemembered(key));
    },
    async handler(request, reply) {
      const key = await keyBy(request, reply, request.body);
      const before = signInSecretOf(request);
      if (before !== null) await signIns.end(before);
      setSignInCookie(request, reply, await signIns.begin(key));
      record(request, key, 'dashboard.sign-in', { by: request.body.key === undefined ? 'link' : 'key' });
      return reply.header('cache-control', 'no-store').send(success(await signedIn(key)));
    },
  });

  app.route({
    method: 'GET',
    url: '/dashboard/session',
    ...OPEN,
    async handler(request, reply) {
      const given = signInSecretOf(request);
      const key = given === null ? null : await signIns.identify(given);
      const isUsed = key !== null && key.account.disabledAt === null;
      const answer = isUsed ? await signedIn(key) : { signedIn: false, ...installation };
      return reply.header('cache-control', 'no-store').send(success(answer));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/dashboard/session',
    ...OPEN,
    onRequest: async (request) => requireDashboard(request),
    async handler(request, reply) {
      const given = signInSecretOf(request);
      const key = given === null ? null : await signIns.identify(given);
      if (given !== null) await signIns.end(given);
      if (key !== null) record(request, key, 'dashboard.sign-out', {});
      setSignInCookie(request, reply, null);
      return reply.header('cache-control', 'no-store').send(success({ signedIn: false, ...installation }));
    },
  });
}
