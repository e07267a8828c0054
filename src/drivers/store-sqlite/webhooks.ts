import { randomUUID } from 'node:crypto';
import type { WebhookId } from '../../core/model/ids.ts';
import type {
  AttemptEnd,
  ClaimedLane,
  Delivery,
  LaneClaim,
  LaneLease,
  NewDelivery,
  WebhookStore,
} from '../../core/ports/webhook-store.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import {
  CLAIM_WEBHOOKS,
  DELIVERY_COLUMNS,
  deliveryDetailOf,
  deliveryOf,
  webhookOf,
} from '../store-rows/webhook-rows.ts';
import type { SqliteDatabase } from './database.ts';
import { deliveryBacklog } from './delivery-backlog.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteWebhookStore(
  database: SqliteDatabase,
  now: () => number,
): Synchronous<WebhookStore> {
  const backlog = { deliveryBacklog: () => deliveryBacklog(database, now()) };
  return { ...webhookMethods(database, now), ...deliveryMethods(database, now), ...backlog };
}

type WebhookMethods = Pick<
  Synchronous<WebhookStore>,
  | 'createWebhook'
  | 'getWebhook'
  | 'listWebhooks'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'webhooksFor'
  | 'disableWebhook'
>;

function webhookMethods(database: SqliteDatabase, now: () => number): WebhookMethods {
  return {
    createWebhook({ id, accountId, jobId, monitorId = null, format, events, target, data }) {
      const at = now();
      database.run(
        `INSERT INTO webhooks (id, account_id, job_id, monitor_id, format, events, target, data, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
        id,
        accountId,
        jobId,
        monitorId,
        format,
        JSON.stringify(events),
        target,
        data,
        at,
        at,
      );
      return webhookOf(database.get('SELECT * FROM webhooks WHERE id = ?', id) ?? {});
    },

    getWebhook(account, id) {
      const row = database.get('SELECT * FROM webhooks WHERE account_id = ? AND id = ?', account, id);
      return row === undefined ? null : webhookOf(row);
    },

    listWebhooks({ accountId, cursor, limit }) {
      const rows = database.all(
        `SELECT * FROM webhooks WHERE account_id = ? AND job_id IS NULL AND monitor_id IS NULL AND seq < ?
         ORDER BY seq DESC LIMIT ?`,
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', webhookOf);
    },

    updateWebhook(account, { id, version, format, events, target, data, isEnabled }) {
      const at = now();
      return (
        database.run(
          `UPDATE webhooks SET format = ?, events = ?, target = ?, data = ?, updated_at = ?, version = version + 1,
             disabled_at = iif(?, NULL, coalesce(disabled_at, ?)),
             disabled_reason = iif(?, NULL, coalesce(disabled_reason, 'user')),
             failing_since = iif(disabled_at IS NOT NULL, NULL, failing_since)
           WHERE account_id = ? AND id = ? AND version = ?`,
          format,
          JSON.stringify(events),
          target,
          data,
          at,
          Number(isEnabled),
          at,
          Number(isEnabled),
          account,
          id,
          version,
        ) > 0
      );
    },

    deleteWebhook(account, id) {
      return database.run('DELETE FROM webhooks WHERE account_id = ? AND id = ?', account, id) > 0;
    },

    webhooksFor(accounts, jobs, monitors = []) {
      const rows = database.all(
        `SELECT * FROM webhooks WHERE job_id IS NULL AND monitor_id IS NULL AND disabled_at IS NULL
           AND account_id IN (SELECT value FROM json_each(?))
         UNION ALL SELECT * FROM webhooks WHERE job_id IN (SELECT value FROM json_each(?))
         UNION ALL SELECT * FROM webhooks WHERE monitor_id IN (SELECT value FROM json_each(?)) AND disabled_at IS NULL`,
        ...[accounts, jobs, monitors].map((list) => JSON.stringify(list)),
      );
      return rows.map(webhookOf);
    },

    disableWebhook(id, reason) {
      const changed = database.run(
        `UPDATE webhooks SET disabled_at = ?, disabled_reason = ?, version = version + 1
         WHERE id = ? AND disabled_at IS NULL`,
        now(),
        reason,
        id,
      );
      return changed > 0;
    },
  };
}

function deliveryMethods(
  database: SqliteDatabase,
  now: () => number,
): Omit<Synchronous<WebhookStore>, keyof WebhookMethods | 'deliveryBacklog'> {
  const insert = ({ id, webhookId, accountId, lane, event, redeliveryOf }: NewDelivery): boolean => {
    const isNew =
      database.run(
        `INSERT INTO deliveries (id, webhook_id, account_id, lane, event_id, type, event, redelivery_of, created_at)
         SELECT ?, id, ?, ?, ?, ?, ?, ?, ? FROM webhooks
         WHERE id = ? AND (disabled_at IS NULL OR disabled_reason = 'unconfirmed')
         ON CONFLICT DO NOTHING`,
        ...[id, accountId, lane, event.id, event.type],
        JSON.stringify(event),
        redeliveryOf,
        now(),
        webhookId,
      ) > 0;
    if (isNew) {
      database.run(
        `INSERT INTO delivery_lanes (webhook_id, lane, account_id, next_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (webhook_id, lane) DO NOTHING`,
        webhookId,
        lane,
        accountId,
        now(),
      );
    }
    return isNew;
  };

  const headOf = (webhookId: WebhookId, lane: string): Delivery | null => {
    const row = database.get(
      `SELECT ${DELIVERY_COLUMNS} FROM deliveries
       WHERE webhook_id = ? AND lane = ? AND state = 'pending' ORDER BY seq LIMIT 1`,
      webhookId,
      lane,
    );
    return row === undefined ? null : deliveryOf(row);
  };

  const holds = ({ webhookId, lane, token }: LaneLease): boolean =>
    database.get(
      'SELECT 1 AS held FROM delivery_lanes WHERE webhook_id = ? AND lane = ? AND token = ?',
      webhookId,
      lane,
      token,
    ) !== undefined;

  /** Ends the lease, and the lane with it when nothing is open there. */
  const endLease = (webhookId: WebhookId, lane: string, nextAt: number): void => {
    if (headOf(webhookId, lane) === null) {
      database.run('DELETE FROM delivery_lanes WHERE webhook_id = ? AND lane = ?', webhookId, lane);
      return;
    }
    database.run(
      'UPDATE delivery_lanes SET next_at = ?, token = NULL WHERE webhook_id = ? AND lane = ?',
      nextAt,
      webhookId,
      lane,
    );
  };

  let hasFreed = false;
  /** One process alone sends from this store: leases from before its first claim are of processes that have ended. */
  const freeLanes = (): void => {
    if (!hasFreed)
      database.run('UPDATE delivery_lanes SET next_at = ?, token = NULL WHERE token IS NOT NULL', now());
    hasFreed = true;
  };

  const countLeased = (column: 'webhook_id' | 'account_id', value: string): number =>
    Number(
      database.get(
        column === 'webhook_id'
          ? `SELECT count(*) AS leased FROM delivery_lanes
             WHERE webhook_id = ? AND token IS NOT NULL AND next_at > ?`
          : `SELECT count(*) AS leased FROM delivery_lanes
             WHERE account_id = ? AND token IS NOT NULL AND next_at > ?`,
        value,
        now(),
      )?.leased,
    );

  function claimOf(webhookId: string, how: LaneClaim, most: number, claimed: ClaimedLane[]): void {
    const rows = database.all(
      'SELECT lane FROM delivery_lanes WHERE webhook_id = ? AND next_at <= ? ORDER BY next_at LIMIT ?',
      webhookId,
      now(),
      most,
    );
    const webhook = database.get('SELECT * FROM webhooks WHERE id = ?', webhookId);
    for (const { lane } of rows) {
      const delivery = headOf(webhookId as WebhookId, String(lane));
      if (delivery === null || webhook === undefined) continue;
      const lease = { webhookId: webhookId as WebhookId, lane: String(lane), token: randomUUID() };
      database.run(
        'UPDATE delivery_lanes SET next_at = ?, token = ? WHERE webhook_id = ? AND lane = ?',
        now() + how.leaseMs,
        lease.token,
        webhookId,
        lease.lane,
      );
      claimed.push({ lease, webhook: webhookOf(webhook), delivery });
    }
  }

  function recordAttempt({ deliveryId, attempt, record, request, outcome }: AttemptEnd): void {
    const log = database.get('SELECT log FROM deliveries WHERE id = ?', deliveryId)?.log ?? '[]';
    database.run(
      `UPDATE deliveries SET state = ?, attempts = ?, reason = ?, request = ?, log = ?,
         first_attempt_at = coalesce(first_attempt_at, ?), ended_at = ?
       WHERE id = ? AND state = 'pending' AND attempts < ?`,
      outcome.state,
      attempt,
      outcome.state === 'failed' ? outcome.reason : null,
      JSON.stringify(request),
      JSON.stringify([...(JSON.parse(String(log)) as unknown[]), record]),
      record.at,
      outcome.state === 'pending' ? null : now(),
      deliveryId,
      attempt,
    );
  }

  return {
    webhookCursor() {
      const row = database.get('SELECT cursor FROM webhook_reader WHERE id = 1');
      return row === undefined ? null : String(row.cursor);
    },

    addDeliveries({ after, next, deliveries }) {
      const current = database.get('SELECT cursor FROM webhook_reader WHERE id = 1')?.cursor ?? null;
      if (current !== after) return false;
      for (const delivery of deliveries) insert(delivery);
      database.run('INSERT OR REPLACE INTO webhook_reader (id, cursor) VALUES (1, ?)', next);
      return true;
    },

    addDelivery: insert,

    claimLanes(how) {
      freeLanes();
      const claimed: ClaimedLane[] = [];
      const accounts = new Map<string, number>();
      let place: string = how.after ?? '';
      for (let looked = 0; looked < CLAIM_WEBHOOKS && claimed.length < how.limit; looked += 1) {
        const row = database.get(
          `SELECT l.webhook_id, l.account_id, w.failing_since FROM delivery_lanes l
           JOIN webhooks w ON w.id = l.webhook_id WHERE l.webhook_id > ? ORDER BY l.webhook_id LIMIT 1`,
          place,
        );
        if (row === undefined) return { lanes: claimed, next: null };
        place = String(row.webhook_id);
        const account = String(row.account_id);
        const ofAccount = accounts.get(account) ?? countLeased('account_id', account);
        const most = Math.min(
          how.limit - claimed.length,
          (row.failing_since === null ? how.perWebhook : 1) - countLeased('webhook_id', place),
          how.perAccount - ofAccount,
        );
        const before = claimed.length;
        if (most > 0) claimOf(place, how, most, claimed);
        accounts.set(account, ofAccount + claimed.length - before);
      }
      return { lanes: claimed, next: place as WebhookId };
    },

    finishAttempt(lane, end, leaseMs) {
      if (!holds(lane)) return { isKept: false, next: null };
      recordAttempt(end);
      const { webhookId } = lane;
      if (end.outcome.state === 'delivered') {
        database.run(
          'UPDATE webhooks SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL',
          webhookId,
        );
      } else {
        database.run(
          'UPDATE webhooks SET failing_since = ? WHERE id = ? AND failing_since IS NULL',
          end.record.at,
          webhookId,
        );
      }
      if (end.outcome.state === 'pending') {
        endLease(webhookId, lane.lane, now() + end.outcome.retryInMs);
        return { isKept: true, next: null };
      }
      const next = headOf(webhookId, lane.lane);
      if (next === null) endLease(webhookId, lane.lane, now());
      else {
        database.run(
          'UPDATE delivery_lanes SET next_at = ? WHERE webhook_id = ? AND lane = ?',
          now() + leaseMs,
          webhookId,
          lane.lane,
        );
      }
      return { isKept: true, next };
    },

    releaseLane(lane) {
      if (holds(lane)) endLease(lane.webhookId, lane.lane, now());
    },

    abandonLane(lane, reason, limit) {
      if (!holds(lane)) return;
      database.run(
        `UPDATE deliveries SET state = 'failed', reason = ?, ended_at = ? WHERE seq IN (
           SELECT seq FROM deliveries WHERE webhook_id = ? AND lane = ? AND state = 'pending' ORDER BY seq LIMIT ?
         )`,
        reason,
        now(),
        lane.webhookId,
        lane.lane,
        limit,
      );
      endLease(lane.webhookId, lane.lane, now());
    },

    listDeliveries({ accountId, webhookId, state, type, cursor, limit }) {
      const rows = database.all(
        `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE webhook_id = ?1 AND account_id = ?2 AND seq < ?3
           AND (?4 IS NULL OR state = ?4) AND (?5 IS NULL OR type = ?5) ORDER BY seq DESC LIMIT ?6`,
        webhookId,
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        state ?? null,
        type ?? null,
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', deliveryOf);
    },

    getDelivery(account, id) {
      const row = database.get(
        `SELECT d.*, l.next_at FROM deliveries d
         LEFT JOIN delivery_lanes l ON l.webhook_id = d.webhook_id AND l.lane = d.lane
         WHERE d.account_id = ? AND d.id = ?`,
        account,
        id,
      );
      return row === undefined ? null : deliveryDetailOf(row);
    },

    sweepDeliveries(endedBefore, limit) {
      const deliveries = database.run(
        `DELETE FROM deliveries WHERE seq IN (
           SELECT seq FROM deliveries WHERE ended_at IS NOT NULL AND ended_at < ? ORDER BY ended_at LIMIT ?
         )`,
        endedBefore,
        limit,
      );
      // The webhook of a monitor is stored before the monitor, which may have been refused.
      const webhooks = database.run(
        `DELETE FROM webhooks WHERE seq IN (
           SELECT w.seq FROM webhooks w WHERE w.created_at < ? AND (
             (w.monitor_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM monitors m WHERE m.id = w.monitor_id))
             OR (w.job_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id)
               AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = w.job_id AND j.finished_at IS NULL))
           ) ORDER BY w.created_at LIMIT ?
         )`,
        endedBefore,
        limit,
      );
      return deliveries + webhooks;
    },
  };
}
