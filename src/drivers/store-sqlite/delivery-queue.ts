import { randomUUID } from 'node:crypto';
import type { WebhookId } from '../../core/model/ids.ts';
import type { ClaimedLane, LaneClaim, NewDelivery } from '../../core/ports/webhook-store.ts';
import { type DeliveryQueueStore, headOf } from '../store-sql/deliveries.ts';
import { CLAIM_WEBHOOKS, webhookOf } from '../store-sql/webhooks.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './sql-methods.ts';
import { runSqlite } from './sql-methods.ts';

/** How deliveries come in and lanes are claimed; the rest of the port is shared with the other database. */
export function createSqliteDeliveryQueue(
  database: SqliteDatabase,
  now: () => number,
): Synchronous<DeliveryQueueStore> {
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
      const delivery = runSqlite(
        headOf({ webhookId: webhookId as WebhookId, lane: String(lane) }),
        database,
        now,
      );
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

  return {
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
  };
}
