import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  changedWebhookSchema,
  changedWebhookView,
  deliveryDetailSchema,
  deliveryDetailView,
  deliverySchema,
  deliveryView,
  newWebhookSchema,
  newWebhookView,
  webhookSchema,
  webhookView,
} from '../../capabilities/views/webhook-view.ts';
import {
  rotationRequestSchema,
  webhookChangeSchema,
  webhookRequestSchema,
} from '../../capabilities/webhooks/webhook-request.ts';
import { auditedWebhook } from '../../capabilities/webhooks/webhooks.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { DeliveryId, WebhookId } from '../../core/model/ids.ts';
import { DELIVERY_STATES } from '../../core/ports/webhook-store.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, deletedSchema, success } from '../server/envelope.ts';
import { newIdFor } from '../server/kept-answers.ts';
import { confirmMailPage, mailConfirmedPage, refuseWithPages, sendPage } from '../views/bot-page.ts';
import type { RouteDeps, SharedRouteDeps } from './route-deps.ts';

const params = z.strictObject({ id: z.string().min(1).max(100).describe('The webhook.') });
const deliveryParams = z.strictObject({ id: z.string().min(1).max(100).describe('The delivery.') });

/** The routes of webhooks: the webhooks themselves, their changes, and the deliveries to them. */
export function addWebhookRoutes(app: App, deps: SharedRouteDeps): void {
  addWebhooks(app, deps);
  addWebhookChanges(app, deps);
  addDeliveries(app, deps);
}

const auditor =
  ({ store, now }: SharedRouteDeps) =>
  (actor: string, action: AuditAction, target: string, details: Record<string, unknown> = {}) =>
    store.audit([{ at: now(), actor, action, target, details }]);

function addWebhooks(app: App, deps: SharedRouteDeps): void {
  const { webhooks } = deps;
  const audit = auditor(deps);

  app.route({
    method: 'POST',
    url: '/v1/webhooks',
    config: { access: 'webhooks', creates: true },
    schema: {
      tags: ['webhooks'],
      summary: 'Create a webhook',
      description:
        'Events of the account are sent to its URL, signed as Standard Webhooks say. The secret is in this answer and nowhere else.',
      body: webhookRequestSchema,
      response: answers({ 201: newWebhookSchema }),
    },
    async handler(request, reply) {
      const { accountId, id: actor } = apiKeyOf(request);
      const id = `wh_${newIdFor(request)}` as WebhookId;
      const created = await webhooks.create(accountId, request.body, id);
      await audit(actor, 'webhook.create', created.webhook.id, auditedWebhook(created.webhook));
      reply.code(201).header('location', `/v1/webhooks/${created.webhook.id}`);
      return success(newWebhookView(created));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/webhooks',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'List webhooks, newest first',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(webhookSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('webhooks', request.query.cursor);
      const { limit } = request.query;
      const slice = await webhooks.list({ accountId: accountOf(request), cursor, limit });
      return success(listAnswer('webhooks', slice, webhookView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/webhooks/:id',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'One webhook, without its secret',
      params,
      response: answers({ 200: webhookSchema }),
    },
    handler: async (request) =>
      success(webhookView(await webhooks.get(accountOf(request), request.params.id))),
  });
}

function addWebhookChanges(app: App, deps: SharedRouteDeps): void {
  const { webhooks } = deps;
  const audit = auditor(deps);

  app.route({
    method: 'PATCH',
    url: '/v1/webhooks/:id',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'Change, disable or enable a webhook',
      description:
        'Fields that are left out stay as they are. With another origin of the URL or another format, the webhook gets a ' +
        'new secret, which is in the answer; `SECRETS_BOUND` when it has headers and the request does not give them anew.',
      params,
      body: webhookChangeSchema,
      response: answers({ 200: changedWebhookSchema }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const changed = await webhooks.change(accountId, request.params.id, request.body);
      await audit(actor, 'webhook.change', changed.webhook.id, { fields: Object.keys(request.body) });
      return success(changedWebhookView(changed));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/webhooks/:id',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'Delete a webhook with its deliveries',
      params,
      response: answers({ 200: deletedSchema }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const { id } = request.params;
      await webhooks.delete(accountId, id);
      await audit(actor, 'webhook.delete', id);
      return success({ id, deleted: true as const });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/rotate',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'Give a webhook a new secret',
      description: 'Messages are signed with both secrets until the overlap is over.',
      params,
      body: rotationRequestSchema.nullish(),
      response: answers({ 200: newWebhookSchema }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const body = request.body ?? rotationRequestSchema.parse({});
      const rotated = await webhooks.rotate(accountId, request.params.id, body);
      await audit(actor, 'webhook.rotate', rotated.webhook.id, { overlapHours: body.overlapHours });
      return success(newWebhookView(rotated));
    },
  });
}

function addDeliveries(app: App, deps: SharedRouteDeps): void {
  const { webhooks } = deps;
  const audit = auditor(deps);

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/test',
    config: { access: 'webhooks', creates: true },
    schema: {
      tags: ['webhooks'],
      summary: 'Send a test event to a webhook',
      params,
      response: answers({ 202: deliveryDetailSchema }),
    },
    async handler(request, reply) {
      const deliveryId = `dl_${newIdFor(request)}` as DeliveryId;
      const delivery = await webhooks.test(accountOf(request), request.params.id, deliveryId);
      reply.code(202).header('location', `/v1/deliveries/${delivery.id}`);
      return success(deliveryDetailView(delivery));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/webhooks/:id/deliveries',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'List the deliveries of a webhook, newest first',
      params,
      querystring: z.strictObject({
        ...pagingFields,
        state: z.enum(DELIVERY_STATES).optional().describe('Only those in this state.'),
        event: z.string().max(100).optional().describe('Only those of this type of event.'),
      }),
      response: answers({ 200: listSchema(deliverySchema) }),
    },
    async handler(request) {
      const { state, event: type, limit } = request.query;
      const slice = await webhooks.deliveries({
        accountId: accountOf(request),
        webhookId: request.params.id as WebhookId,
        state,
        type,
        cursor: unwrapCursor('deliveries', request.query.cursor),
        limit,
      });
      return success(listAnswer('deliveries', slice, deliveryView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/deliveries/:id',
    config: { access: 'webhooks' },
    schema: {
      tags: ['webhooks'],
      summary: 'One delivery with what was sent and answered',
      params: deliveryParams,
      response: answers({ 200: deliveryDetailSchema }),
    },
    handler: async (request) =>
      success(deliveryDetailView(await webhooks.delivery(accountOf(request), request.params.id))),
  });

  app.route({
    method: 'POST',
    url: '/v1/deliveries/:id/redeliver',
    config: { access: 'webhooks', creates: true },
    schema: {
      tags: ['webhooks'],
      summary: 'Send the event of a delivery once more',
      description: 'As a delivery of its own, with the same `webhook-id`, apart from the order of its job.',
      params: deliveryParams,
      response: answers({ 202: deliveryDetailSchema }),
    },
    async handler(request, reply) {
      const { accountId, id: actor } = apiKeyOf(request);
      const deliveryId = `dl_${newIdFor(request)}` as DeliveryId;
      const delivery = await webhooks.redeliver(accountId, request.params.id, deliveryId);
      await audit(actor, 'delivery.redeliver', request.params.id, { delivery: delivery.id });
      reply.code(202).header('location', `/v1/deliveries/${delivery.id}`);
      return success(deliveryDetailView(delivery));
    },
  });
}

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
