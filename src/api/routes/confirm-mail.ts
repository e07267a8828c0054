import type { FastifyReply, FastifyRequest } from 'fastify';
import { mailRulesOf } from '../../deliver/mail-addresses.ts';
import { createWebhooks } from '../../deliver/webhooks.ts';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import { openVault } from '../../sessions/vault.ts';
import type { App } from '../http/app.ts';
import { confirmMailPage, mailConfirmedPage, refusalPage } from '../views/bot-page.ts';
import type { RouteDeps } from './route-deps.ts';

const PER_MINUTE = 12;
const PATH = '/confirm-mail/:account/:webhook/:token';

/**
 * The page behind the link by which the owner of an e-mail address confirms it. A look at it changes nothing, because
 * programs that check mail look at links; its button confirms.
 */
export function addConfirmMailRoutes(app: App, { store, settings, limits, now }: RouteDeps): void {
  const webhooks = createWebhooks({ store, vault: openVault(settings), now, mail: mailRulesOf(settings) });
  const route = { config: { access: 'open' as const }, schema: { hide: true } };
  const show = (reply: FastifyReply, html: string) =>
    reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(html);

  async function countIn(request: FastifyRequest): Promise<void> {
    const { isAllowed, resetMs } = await limits.take(`confirm-mail:${request.ip}`, PER_MINUTE, now());
    if (isAllowed) return;
    const message = `An address may do this ${PER_MINUTE} times a minute.`;
    throw new ScrapifieError('RATE_LIMITED', message, { retryAfterMs: resetMs });
  }

  app.register(async (scope) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', (_request, body, done) => {
      body.resume();
      done(null, {});
    });
    scope.get(PATH, route, async (_request, reply) => show(reply, confirmMailPage()));
    scope.post(PATH, route, async (request, reply) => {
      const { account, webhook, token } = request.params as Record<'account' | 'webhook' | 'token', string>;
      try {
        await countIn(request);
        await webhooks.confirm(account, webhook, token);
        return show(reply, mailConfirmedPage());
      } catch (error) {
        if (!isScrapifieError(error)) throw error;
        return show(reply.code(error.spec.httpStatus), refusalPage(error.message));
      }
    });
  });
}
