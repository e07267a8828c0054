import type { AccountId, DeliveryId, JobId, MonitorId, WebhookId } from '../../core/model/ids.ts';
import type {
  AttemptRecord,
  Delivery,
  DeliveryDetail,
  DeliveryEvent,
  DeliveryState,
  DisabledReason,
  SentRequest,
  StoredWebhook,
  WebhookFormat,
} from '../../core/ports/webhook-store.ts';
import type { Row } from './rows.ts';

const maybe = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);
const parse = <T>(value: unknown) => JSON.parse(String(value)) as T;

export const webhookOf = (row: Row): StoredWebhook => ({
  id: String(row.id) as WebhookId,
  accountId: String(row.account_id) as AccountId,
  jobId: maybe(row.job_id, (id) => String(id) as JobId),
  ...(row.monitor_id == null ? {} : { monitorId: String(row.monitor_id) as MonitorId }),
  format: String(row.format) as WebhookFormat,
  events: parse<string[]>(row.events),
  target: String(row.target),
  data: row.data as Uint8Array,
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  disabledAt: maybe(row.disabled_at, Number),
  disabledReason: maybe(row.disabled_reason, (reason) => String(reason) as DisabledReason),
  failingSince: maybe(row.failing_since, Number),
  version: Number(row.version),
});

export const deliveryOf = (row: Row): Delivery => ({
  id: String(row.id) as DeliveryId,
  webhookId: String(row.webhook_id) as WebhookId,
  accountId: String(row.account_id) as AccountId,
  lane: String(row.lane),
  event: parse<DeliveryEvent>(row.event),
  redeliveryOf: maybe(row.redelivery_of, (id) => String(id) as DeliveryId),
  state: String(row.state) as DeliveryState,
  attempts: Number(row.attempts),
  createdAt: Number(row.created_at),
  firstAttemptAt: maybe(row.first_attempt_at, Number),
  endedAt: maybe(row.ended_at, Number),
  reason: maybe(row.reason, String),
});

/** The row has the column `next_at` of the lane besides those of the delivery. */
export const deliveryDetailOf = (row: Row): DeliveryDetail => ({
  ...deliveryOf(row),
  nextAttemptAt: row.state === 'pending' ? maybe(row.next_at, Number) : null,
  request: maybe(row.request, (text) => parse<SentRequest>(text)),
  log: parse<AttemptRecord[]>(row.log),
});

/** What lists and claims read: neither requests nor logs, which may be long. */
export const DELIVERY_COLUMNS = `seq, id, webhook_id, account_id, lane, event, redelivery_of, state, attempts,
  created_at, first_attempt_at, ended_at, reason`;

/** How many webhooks with open deliveries one claim looks at. */
export const CLAIM_WEBHOOKS = 500;
