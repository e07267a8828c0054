import type { DeliveryBacklog } from '../../core/ports/webhook-store.ts';
import type { SqliteDatabase } from './database.ts';

/** See `WebhookStore.deliveryBacklog`. Reads a row for each delivery that waits. */
export function deliveryBacklog(database: SqliteDatabase, now: number): DeliveryBacklog {
  const row = database.get(
    `SELECT count(*) AS pending, min(created_at) AS oldest FROM (
       SELECT created_at FROM deliveries WHERE state = 'pending' LIMIT 100000
     )`,
  );
  const oldest = row?.oldest ?? null;
  return {
    pending: Number(row?.pending),
    oldestMs: oldest === null ? 0 : Math.max(0, now - Number(oldest)),
  };
}
