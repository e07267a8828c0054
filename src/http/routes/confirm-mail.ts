import type { FastifyRequest } from 'fastify';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from '../server/app.ts';
import { confirmMailPage, mailConfirmedPage, refuseWithPages, sendPage } from '../views/bot-page.ts';
import type { RouteDeps } from './route-deps.ts';

const PER_MINUTE = 12;
const PATH = '/confirm-mail/:account/:webhook/:token';

/**
 * The page behind the link by which the owner of an e-mail address confirms it. A look at it changes nothing, because
 * programs that check mail look at links; its button confirms.
 */
export function addConfirmMailRoutes(app: App, { webhooks, limits, now }: RouteDeps): void {
  const route = { config: { access: 'open' as const }, schema: { hide: true } };
  async function countIn(request: FastifyRequest): Promise<void> {
    const { isAllowed, resetMs } = await limits.take(`confirm-mail:${request.ip}`, PER_MINUTE, now());
    if (isAllowed) return;
    const message = `An address may do this ${PER_MINUTE} times a minute.`;
    throw new ScrapifieError('RATE_LIMITED', message, { retryAfterMs: resetMs });
  }

  app.register(async (scope) => {
    // The form has no fields: all is in the path.
    scope.addContentTypeParser('application/x-www-form-urlencoded', (_request, _body, done) =>
      done(null, {}),
    );
    refuseWithPages(scope as App);
    scope.get(PATH, route, async (_request, reply) => sendPage(reply, confirmMailPage()));
    scope.post(PATH, { ...route, onRequest: countIn }, async (request, reply) => {
      const { account, webhook, token } = request.params as Record<'account' | 'webhook' | 'token', string>;
      await webhooks.confirm(account, webhook, token);
      return sendPage(reply, mailConfirmedPage());
    });
  });
}
