import type { WebhookStore } from '../../core/ports/webhook-store.ts';
import { cursorOf } from '../store-rows/rows.ts';
import { webhookOf } from '../store-rows/webhook-rows.ts';
import { change, type Methods, read } from './methods.ts';
import { CLOCK, json, oneOf, sql } from './sql.ts';
import { changed, find, list, one, slice } from './steps.ts';

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
