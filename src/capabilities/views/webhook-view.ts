import { z } from 'zod';
import { pluginPart } from '../../core/config/plugin-part.ts';
import {
  DELIVERY_STATES,
  type Delivery,
  type DeliveryDetail,
  DISABLED_REASONS,
  type StoredWebhook,
  WEBHOOK_FORMATS,
} from '../../core/ports/webhook-store.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import type { ChangedWebhook, WithSecret } from '../webhooks/webhooks.ts';
import { selfLinks, selfSchema } from './list.ts';

/** The public fields of webhooks and deliveries: no secrets, no values of headers. */

const time = z.iso.datetime();

const webhookFields = {
  id: z.string(),
  url: z.string().describe('Where events are sent; the addresses of chats are hidden behind their host.'),
  events: z.array(z.string()),
  format: z.union([z.enum(WEBHOOK_FORMATS), pluginPart]),
  enabled: z.boolean(),
  disabledReason: z
    .enum(DISABLED_REASONS)
    .nullable()
    .describe(
      '`gone`: the receiver answered 410. `failing`: nothing could be delivered for three days. `unconfirmed`: the ' +
        'owner of the e-mail address has not opened the link that was sent there; `test` sends it again.',
    ),
  disabledAt: time.nullable(),
  failingSince: time.nullable().describe('When the attempts began to fail that have failed in a row.'),
  createdAt: time,
  updatedAt: time,
  links: z.object({ self: z.string(), deliveries: z.string() }),
};
export const webhookSchema = z.object(webhookFields).meta({ id: 'Webhook' });
export const newWebhookSchema = z
  .object({ ...webhookFields, secret: z.string().describe('Signs what is sent. Shown this one time.') })
  .meta({ id: 'NewWebhook' });

export const changedWebhookSchema = z
  .object({
    ...webhookFields,
    secret: z
      .string()
      .optional()
      .describe('Only when it has changed, with another origin or format. Shown this one time.'),
  })
  .meta({ id: 'ChangedWebhook' });

const deliveryFields = {
  id: z.string(),
  webhookId: z.string(),
  eventId: z.string().describe('The header `webhook-id`: the same in every attempt and redelivery.'),
  event: z.string().describe('The type of the event.'),
  jobId: z.string().nullable(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.number().int(),
  reason: z.string().nullable().describe('Why it failed.'),
  redeliveryOf: z.string().nullable(),
  createdAt: time,
  endedAt: time.nullable(),
  links: selfSchema,
};
export const deliverySchema = z.object(deliveryFields).meta({ id: 'Delivery' });
export const deliveryDetailSchema = z
  .object({
    ...deliveryFields,
    nextAttemptAt: time.nullable().describe('Not before this time; null when it has ended.'),
    request: z
      .object({
        url: z.string(),
        headers: z.record(z.string(), z.string()).describe('Headers of the webhook are hidden.'),
        body: z.string().describe('The first 16,000 characters.'),
        bodyBytes: z.number().int(),
      })
      .nullable()
      .describe('What was sent last; null before the first attempt.'),
    log: z
      .array(
        z.object({
          at: time,
          ms: z.number().int(),
          statusCode: z.number().int().nullable().describe('Of HTTP or SMTP; null when no answer came.'),
          error: z.string().nullable(),
          answer: z.string().describe('The first 2,000 characters.'),
        }),
      )
      .describe('One entry per attempt.'),
  })
  .meta({ id: 'DeliveryDetail' });

export function webhookView(webhook: StoredWebhook) {
  const { id, target, events, format, disabledAt, disabledReason, failingSince, createdAt, updatedAt } =
    webhook;
  const { self } = selfLinks('webhooks', id);
  return {
    id,
    url: target,
    events: [...events],
    format,
    enabled: disabledAt === null,
    disabledReason,
    disabledAt: isoTimeOrNull(disabledAt),
    failingSince: isoTimeOrNull(failingSince),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    links: { self, deliveries: `${self}/deliveries` },
  };
}

export const newWebhookView = ({ webhook, secret }: WithSecret) => ({ ...webhookView(webhook), secret });

export const changedWebhookView = ({ webhook, secret }: ChangedWebhook) => ({
  ...webhookView(webhook),
  ...(secret === null ? {} : { secret }),
});

export function deliveryView(delivery: Delivery) {
  const { id, webhookId, event, state, attempts, reason, redeliveryOf, createdAt, endedAt } = delivery;
  return {
    id,
    webhookId,
    eventId: event.id,
    event: event.type,
    jobId: event.jobId,
    state,
    attempts,
    reason,
    redeliveryOf,
    createdAt: isoTime(createdAt),
    endedAt: isoTimeOrNull(endedAt),
    links: selfLinks('deliveries', id),
  };
}

export function deliveryDetailView(delivery: DeliveryDetail) {
  const { request, log, nextAttemptAt } = delivery;
  return {
    ...deliveryView(delivery),
    nextAttemptAt: isoTimeOrNull(nextAttemptAt),
    request:
      request === null
        ? null
        : { url: request.target, headers: request.headers, body: request.body, bodyBytes: request.bodyBytes },
    log: log.map((attempt) => ({ ...attempt, at: isoTime(attempt.at) })),
  };
}

export type WebhookView = ReturnType<typeof webhookView>;
export type ChangedWebhookView = ReturnType<typeof changedWebhookView>;
export type NewWebhookView = ReturnType<typeof newWebhookView>;
export type DeliveryView = ReturnType<typeof deliveryView>;
export type DeliveryDetailView = ReturnType<typeof deliveryDetailView>;
