import type { AttemptEnd, Delivery, LaneLease, WebhookStore } from '../../core/ports/webhook-store.ts';
import { cursorOf } from '../store-rows/rows.ts';
import { type Methods, read, transaction } from './methods.ts';
import { CLOCK, either, FOR_UPDATE, given, json, NULL, raw, SKIP_LOCKED, type Sql, sql } from './sql.ts';
import { find, get, one, run, type Steps, slice } from './steps.ts';
import type { WebhookRecordStore } from './webhooks.ts';
import { DELIVERY_COLUMNS, deliveryDetailOf, deliveryOf } from './webhooks.ts';

/** How deliveries come in and lanes are claimed is tuned for each database. */
export type DeliveryQueueStore = Pick<WebhookStore, 'addDeliveries' | 'addDelivery' | 'claimLanes'>;
export type DeliveryStore = Omit<WebhookStore, keyof WebhookRecordStore | keyof DeliveryQueueStore>;

/** The count of deliveries that wait ends here, so that it takes a short time however many there are. */
const MOST_COUNTED = 100_000;

const inLane = ({ webhookId, lane }: Pick<LaneLease, 'webhookId' | 'lane'>): Sql =>
  sql`webhook_id = ${webhookId} AND lane = ${lane}`;

/** Returns the delivery of the lane that is sent next; null when none is open. */
export function* headOf(lane: Pick<LaneLease, 'webhookId' | 'lane'>): Steps<Delivery | null> {
  return yield* find(
    sql`SELECT ${raw(DELIVERY_COLUMNS)} FROM deliveries WHERE ${inLane(lane)} AND state = 'pending' ORDER BY seq LIMIT 1`,
    deliveryOf,
  );
}

/** Locks the lane where the lease holds. */
function* holds(lease: LaneLease): Steps<boolean> {
  const held = yield* get(
    sql`SELECT 1 FROM delivery_lanes WHERE ${inLane(lease)} AND token = ${lease.token} ${FOR_UPDATE}`,
  );
  return held !== undefined;
}

/** Ends the lease, and the lane with it when nothing is open there. */
function* endLease(lease: LaneLease, inMs: number): Steps<void> {
  const isOver = (yield* headOf(lease)) === null;
  yield* run(
    isOver
      ? sql`DELETE FROM delivery_lanes WHERE ${inLane(lease)}`
      : sql`UPDATE delivery_lanes SET next_at = ${CLOCK} + ${inMs}, token = NULL WHERE ${inLane(lease)}`,
  );
}

function* recordAttempt({ deliveryId, attempt, record, request, outcome }: AttemptEnd): Steps<void> {
  const log = either(
    sql`json_insert(log, '$[#]', json(${json(record)}))`,
    sql`log || ${json([record])}::jsonb`,
  );
  yield* run(
    sql`UPDATE deliveries SET state = ${outcome.state}, attempts = ${attempt},
        reason = ${outcome.state === 'failed' ? outcome.reason : null}, request = ${json(request)}, log = ${log},
        first_attempt_at = coalesce(first_attempt_at, ${record.at}),
        ended_at = ${outcome.state === 'pending' ? NULL : CLOCK}
      WHERE id = ${deliveryId} AND state = 'pending' AND attempts < ${attempt}`,
  );
}

export const deliveryStore: Methods<DeliveryStore> = {
  webhookCursor: read(() =>
    find(sql`SELECT cursor FROM webhook_reader WHERE id = 1`, ({ cursor }) => String(cursor)),
  ),

  finishAttempt: transaction(function* (lease, end, leaseMs) {
    if (!(yield* holds(lease))) return { isKept: false, next: null };
    yield* recordAttempt(end);
    yield* run(
      end.outcome.state === 'delivered'
        ? sql`UPDATE webhooks SET failing_since = NULL WHERE id = ${lease.webhookId} AND failing_since IS NOT NULL`
        : sql`UPDATE webhooks SET failing_since = ${end.record.at}
            WHERE id = ${lease.webhookId} AND failing_since IS NULL`,
    );
    if (end.outcome.state === 'pending') {
      yield* endLease(lease, end.outcome.retryInMs);
      return { isKept: true, next: null };
    }
    const next = yield* headOf(lease);
    yield* run(
      next === null
        ? sql`DELETE FROM delivery_lanes WHERE ${inLane(lease)}`
        : sql`UPDATE delivery_lanes SET next_at = ${CLOCK} + ${leaseMs} WHERE ${inLane(lease)}`,
    );
    return { isKept: true, next };
  }),

  releaseLane: transaction(
    function* (lease) {
      if (yield* holds(lease)) yield* endLease(lease, 0);
    },
    { isUnsynced: true },
  ),

  abandonLane: transaction(function* (lease, reason, limit) {
    if (!(yield* holds(lease))) return;
    yield* run(
      sql`UPDATE deliveries SET state = 'failed', reason = ${reason}, ended_at = ${CLOCK} WHERE seq IN (
        SELECT seq FROM deliveries WHERE ${inLane(lease)} AND state = 'pending' ORDER BY seq LIMIT ${limit}
      )`,
    );
    yield* endLease(lease, 0);
  }),

  deliveryBacklog: read(() =>
    one(
      sql`SELECT count(*) AS pending, min(created_at) AS oldest, ${CLOCK} AS now FROM (
        SELECT created_at FROM deliveries WHERE state = 'pending' LIMIT ${MOST_COUNTED}
      ) waiting`,
      ({ pending, oldest, now }) => ({
        pending: Number(pending),
        oldestMs: oldest === null ? 0 : Math.max(0, Number(now) - Number(oldest)),
      }),
    ),
  ),

  listDeliveries: read(({ accountId, webhookId, state, type, cursor, limit }) =>
    slice(
      sql`SELECT ${raw(DELIVERY_COLUMNS)} FROM deliveries
        WHERE webhook_id = ${webhookId} AND account_id = ${accountId}
          AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
          ${given(state, (value) => sql`AND state = ${value}`)} ${given(type, (value) => sql`AND type = ${value}`)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      deliveryOf,
    ),
  ),

  getDelivery: read((account, id) =>
    find(
      sql`SELECT d.*, l.next_at FROM deliveries d
        LEFT JOIN delivery_lanes l ON l.webhook_id = d.webhook_id AND l.lane = d.lane
        WHERE d.account_id = ${account} AND d.id = ${id}`,
      deliveryDetailOf,
    ),
  ),

  sweepDeliveries: transaction(function* (endedBefore, limit) {
    const deliveries = yield* run(
      sql`DELETE FROM deliveries WHERE seq IN (
        SELECT seq FROM deliveries WHERE ended_at IS NOT NULL AND ended_at < ${endedBefore}
        ORDER BY ended_at LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    );
    // The webhook of a monitor is stored before the monitor, which may have been refused.
    const webhooks = yield* run(
      sql`DELETE FROM webhooks WHERE seq IN (
        SELECT w.seq FROM webhooks w WHERE w.created_at < ${endedBefore} AND (
          (w.monitor_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM monitors m WHERE m.id = w.monitor_id))
          OR (w.job_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id)
            AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = w.job_id AND j.finished_at IS NULL))
        ) ORDER BY w.created_at LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    );
    return deliveries + webhooks;
  }),
};
