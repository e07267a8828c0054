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
  WebhookStore,
} from '../../core/ports/webhook-store.ts';
import { cursorOf, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read } from './methods.ts';
import { CLOCK, json, oneOf, sql } from './sql.ts';
import { changed, find, list, one, slice } from './steps.ts';

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

/** Webhooks themselves; what is sent to them is in `deliveries.ts`. */
export type WebhookRecordStore = Pick<
  WebhookStore,
  | 'createWebhook'
  | 'getWebhook'
  | 'listWebhooks'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'webhooksFor'
  | 'disableWebhook'
>;

export const webhookStore: Methods<WebhookRecordStore> = {
  // The second writer waits for the first and gets its row, which an update that changes nothing returns.
  createWebhook: change(({ id, accountId, jobId, monitorId = null, format, events, target, data }) =>
    one(
      sql`INSERT INTO webhooks (id, account_id, job_id, monitor_id, format, events, target, data, created_at, updated_at)
        VALUES (${id}, ${accountId}, ${jobId}, ${monitorId}, ${format}, ${json(events)}, ${target}, ${data}, ${CLOCK},
          ${CLOCK})
        ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING *`,
      webhookOf,
    ),
  ),

  getWebhook: read((account, id) =>
    find(sql`SELECT * FROM webhooks WHERE account_id = ${account} AND id = ${id}`, webhookOf),
  ),

  listWebhooks: read(({ accountId, cursor, limit }) =>
    slice(
      sql`SELECT * FROM webhooks WHERE account_id = ${accountId} AND job_id IS NULL AND monitor_id IS NULL
          AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      webhookOf,
    ),
  ),

  updateWebhook: change((account, { id, version, format, events, target, data, isEnabled }) =>
    changed(
      sql`UPDATE webhooks SET format = ${format}, events = ${json(events)}, target = ${target}, data = ${data},
          updated_at = ${CLOCK}, version = version + 1,
          disabled_at = CASE WHEN ${isEnabled} THEN NULL ELSE coalesce(disabled_at, ${CLOCK}) END,
          disabled_reason = CASE WHEN ${isEnabled} THEN NULL ELSE coalesce(disabled_reason, 'user') END,
          failing_since = CASE WHEN disabled_at IS NOT NULL THEN NULL ELSE failing_since END
        WHERE account_id = ${account} AND id = ${id} AND version = ${version}`,
    ),
  ),

  deleteWebhook: change((account, id) =>
    changed(sql`DELETE FROM webhooks WHERE account_id = ${account} AND id = ${id}`),
  ),

  webhooksFor: read((accounts, jobs, monitors = []) =>
    list(
      sql`SELECT * FROM webhooks WHERE job_id IS NULL AND monitor_id IS NULL AND disabled_at IS NULL
          AND account_id ${oneOf([...accounts], 'text')}
        UNION ALL SELECT * FROM webhooks WHERE job_id ${oneOf([...jobs], 'text')}
        UNION ALL SELECT * FROM webhooks WHERE monitor_id ${oneOf([...monitors], 'text')} AND disabled_at IS NULL`,
      webhookOf,
    ),
  ),

  disableWebhook: change((id, reason) =>
    changed(
      sql`UPDATE webhooks SET disabled_at = ${CLOCK}, disabled_reason = ${reason}, version = version + 1
        WHERE id = ${id} AND disabled_at IS NULL`,
    ),
  ),
};
