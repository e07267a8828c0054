import { randomUUID } from 'node:crypto';
import type { WebhookId } from '../../core/model/ids.ts';
import type {
  AttemptEnd,
  ClaimedLane,
  Delivery,
  LaneLease,
  NewDelivery,
  WebhookStore,
} from '../../core/ports/webhook-store.ts';
import { cursorOf, type Row, sliceOf } from '../store-rows/rows.ts';
import {
  CLAIM_WEBHOOKS,
  DELIVERY_COLUMNS,
  deliveryDetailOf,
  deliveryOf,
  webhookOf,
} from '../store-rows/webhook-rows.ts';
import { NOW, type PostgresDatabase, type Query } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** Claims take turns at this lock, so that the limits of webhooks and accounts hold over all processes. */
const CLAIM_LOCK = 0x77_65_62_68;

export const createPostgresWebhookStore = (database: PostgresDatabase): WebhookStore => ({
  ...webhookMethods(database),
  ...deliveryMethods(database),
});

type WebhookMethods = Pick<
  WebhookStore,
  | 'createWebhook'
  | 'getWebhook'
  | 'listWebhooks'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'webhooksFor'
  | 'disableWebhook'
>;

function webhookMethods(database: PostgresDatabase): WebhookMethods {
  return {
    async createWebhook({ id, accountId, jobId, monitorId = null, format, events, target, data }) {
      // The second writer waits for the first and gets its row, which an update that changes nothing returns.
      const [row] = await database.query(
        `INSERT INTO webhooks (id, account_id, job_id, format, events, target, data, monitor_id, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ${NOW}, ${NOW})
         ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING *`,
        [id, accountId, jobId, format, jsonParameter(events), target, data, monitorId],
      );
      return webhookOf(row as Row);
    },

    async getWebhook(account, id) {
      const [row] = await database.query('SELECT * FROM webhooks WHERE account_id = $1 AND id = $2', [
        account,
        id,
      ]);
      return row === undefined ? null : webhookOf(row);
    },

    async listWebhooks({ accountId, cursor, limit }) {
      const rows = await database.query(
        `SELECT * FROM webhooks WHERE account_id = $1 AND job_id IS NULL AND monitor_id IS NULL AND seq < $2
         ORDER BY seq DESC LIMIT $3`,
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', webhookOf);
    },

    async updateWebhook(account, { id, version, format, events, target, data, isEnabled }) {
      const rows = await database.query(
        `UPDATE webhooks SET format = $4, events = $5, target = $6, data = $7, updated_at = ${NOW},
           version = version + 1,
           disabled_at = CASE WHEN $8::boolean THEN NULL ELSE coalesce(disabled_at, ${NOW}) END,
           disabled_reason = CASE WHEN $8::boolean THEN NULL ELSE coalesce(disabled_reason, 'user') END,
           failing_since = CASE WHEN disabled_at IS NOT NULL THEN NULL ELSE failing_since END
         WHERE account_id = $1 AND id = $2 AND version = $3 RETURNING seq`,
        [account, id, version, format, jsonParameter(events), target, data, isEnabled],
      );
      return rows.length > 0;
    },

    async deleteWebhook(account, id) {
      const rows = await database.query(
        'DELETE FROM webhooks WHERE account_id = $1 AND id = $2 RETURNING seq',
        [account, id],
      );
      return rows.length > 0;
    },

    async webhooksFor(accounts, jobs, monitors = []) {
      const rows = await database.query(
        `SELECT * FROM webhooks WHERE job_id IS NULL AND monitor_id IS NULL AND disabled_at IS NULL
           AND account_id = ANY ($1::text[])
         UNION ALL SELECT * FROM webhooks WHERE job_id = ANY ($2::text[])
         UNION ALL SELECT * FROM webhooks WHERE monitor_id = ANY ($3::text[]) AND disabled_at IS NULL`,
        [[...accounts], [...jobs], [...monitors]],
      );
      return rows.map(webhookOf);
    },

    async disableWebhook(id, reason) {
      const rows = await database.query(
        `UPDATE webhooks SET disabled_at = ${NOW}, disabled_reason = $2, version = version + 1
         WHERE id = $1 AND disabled_at IS NULL RETURNING seq`,
        [id, reason],
      );
      return rows.length > 0;
    },
  };
}

/** Adds deliveries in their order, with their lanes; returns how many are new. */
async function insertDeliveries(query: Query, deliveries: readonly NewDelivery[]): Promise<number> {
  const rows = deliveries.map(({ id, webhookId, accountId, lane, event, redeliveryOf }, ord) => ({
    ord,
    id,
    webhook_id: webhookId,
    account_id: accountId,
    lane,
    event,
    redelivery_of: redeliveryOf,
  }));
  // The lanes are locked before the deliveries come in: the end of the last delivery of a lane removes its row.
  const added = await query(
    `WITH given AS MATERIALIZED (
       SELECT g.* FROM jsonb_to_recordset($1::jsonb) AS g (
         ord int, id text, webhook_id text, account_id text, lane text, event jsonb, redelivery_of text
       ) JOIN webhooks w ON w.id = g.webhook_id
         AND (w.disabled_at IS NULL OR w.disabled_reason = 'unconfirmed')
       WHERE g.redelivery_of IS NOT NULL OR NOT EXISTS (
         SELECT 1 FROM deliveries d WHERE d.webhook_id = g.webhook_id AND d.event_id = g.event ->> 'id'
           AND d.redelivery_of IS NULL
       )
     ), lanes AS (
       INSERT INTO delivery_lanes (webhook_id, lane, account_id, next_at)
       SELECT DISTINCT ON (webhook_id, lane) webhook_id, lane, account_id, ${NOW} FROM given
       ORDER BY webhook_id, lane
       ON CONFLICT (webhook_id, lane) DO UPDATE SET next_at = delivery_lanes.next_at
       RETURNING webhook_id
     )
     INSERT INTO deliveries (id, webhook_id, account_id, lane, event_id, type, event, redelivery_of, created_at)
     SELECT id, webhook_id, account_id, lane, event ->> 'id', event ->> 'type', event, redelivery_of, ${NOW}
     FROM given WHERE (SELECT count(*) FROM lanes) >= 0 ORDER BY ord
     ON CONFLICT DO NOTHING RETURNING seq`,
    [jsonParameter(rows)],
  );
  return added.length;
}

async function headOf(query: Query, webhookId: string, lane: string): Promise<Delivery | null> {
  const [row] = await query(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries
     WHERE webhook_id = $1 AND lane = $2 AND state = 'pending' ORDER BY seq LIMIT 1`,
    [webhookId, lane],
  );
  return row === undefined ? null : deliveryOf(row);
}

/** Locks the lane where the lease holds. */
async function holds(query: Query, { webhookId, lane, token }: LaneLease): Promise<boolean> {
  const rows = await query(
    'SELECT 1 FROM delivery_lanes WHERE webhook_id = $1 AND lane = $2 AND token = $3 FOR UPDATE',
    [webhookId, lane, token],
  );
  return rows.length > 0;
}

/** Ends the lease, and the lane with it when nothing is open there. */
async function endLease(query: Query, { webhookId, lane }: LaneLease, inMs: number): Promise<void> {
  const sql =
    (await headOf(query, webhookId, lane)) === null
      ? 'DELETE FROM delivery_lanes WHERE webhook_id = $1 AND lane = $2 AND $3::bigint IS NOT NULL'
      : `UPDATE delivery_lanes SET next_at = ${NOW} + $3::bigint, token = NULL WHERE webhook_id = $1 AND lane = $2`;
  await query(sql, [webhookId, lane, inMs]);
}

async function recordAttempt(query: Query, end: AttemptEnd): Promise<void> {
  const { deliveryId, attempt, record, request, outcome } = end;
  await query(
    `UPDATE deliveries SET state = $2, attempts = $3, reason = $4, request = $5, log = log || $6::jsonb,
       first_attempt_at = coalesce(first_attempt_at, $7::bigint),
       ended_at = CASE WHEN $2 = 'pending' THEN NULL ELSE ${NOW} END
     WHERE id = $1 AND state = 'pending' AND attempts < $3`,
    [
      deliveryId,
      outcome.state,
      attempt,
      outcome.state === 'failed' ? outcome.reason : null,
      jsonParameter(request),
      jsonParameter([record]),
      record.at,
    ],
  );
}

function deliveryMethods(database: PostgresDatabase): Omit<WebhookStore, keyof WebhookMethods> {
  return {
    async webhookCursor() {
      const [row] = await database.query('SELECT cursor FROM webhook_reader WHERE id = 1');
      return row === undefined ? null : String(row.cursor);
    },

    addDeliveries: ({ after, next, deliveries }) =>
      database.transaction(async (query) => {
        const moved =
          after === null
            ? 'INSERT INTO webhook_reader (id, cursor) VALUES (1, $1) ON CONFLICT DO NOTHING RETURNING id'
            : 'UPDATE webhook_reader SET cursor = $1 WHERE id = 1 AND cursor = $2 RETURNING id';
        const rows = await query(moved, after === null ? [next] : [next, after]);
        if (rows.length === 0) return false;
        if (deliveries.length > 0) await insertDeliveries(query, deliveries);
        return true;
      }),

    addDelivery: async (delivery) => (await insertDeliveries(database.query, [delivery])) > 0,

    claimLanes: (how) =>
      database.transaction(async (query) => {
        await query('SELECT pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
        // Each webhook with open deliveries is found by one step in the index, however many lanes it has.
        const rows = await query(
          `WITH RECURSIVE place AS (
             (SELECT webhook_id, account_id, 1 AS step FROM delivery_lanes
                WHERE webhook_id > $1 ORDER BY webhook_id LIMIT 1)
             UNION ALL
             SELECT l.webhook_id, l.account_id, p.step + 1 FROM place p CROSS JOIN LATERAL (
               SELECT webhook_id, account_id FROM delivery_lanes
               WHERE webhook_id > p.webhook_id ORDER BY webhook_id LIMIT 1
             ) l WHERE p.step < $2
           ), due AS (
             SELECT p.step, p.webhook_id, p.account_id, d.lane, d.next_at FROM place p CROSS JOIN LATERAL (
               SELECT lane, next_at FROM delivery_lanes l
               WHERE l.webhook_id = p.webhook_id AND l.next_at <= ${NOW} ORDER BY l.next_at
               LIMIT greatest(0, (
                 SELECT CASE WHEN w.failing_since IS NULL THEN $3::int ELSE 1 END FROM webhooks w
                 WHERE w.id = p.webhook_id
               ) - (
                 SELECT count(*) FROM delivery_lanes b
                 WHERE b.webhook_id = p.webhook_id AND b.token IS NOT NULL AND b.next_at > ${NOW}
               ))
             ) d
           ), fair AS (
             SELECT due.*, row_number() OVER (PARTITION BY account_id ORDER BY step, next_at) + (
               SELECT count(*) FROM delivery_lanes b
               WHERE b.account_id = due.account_id AND b.token IS NOT NULL AND b.next_at > ${NOW}
             ) AS nth FROM due
           ), chosen AS (
             SELECT * FROM fair WHERE nth <= $4 ORDER BY step, next_at LIMIT $5
           ), leased AS (
             UPDATE delivery_lanes l SET next_at = ${NOW} + $6::bigint, token = $7 || ':' || c.step || ':' || c.nth
             FROM chosen c WHERE l.webhook_id = c.webhook_id AND l.lane = c.lane
             RETURNING l.webhook_id, l.lane, l.token
           )
           SELECT p.webhook_id, p.step, l.lane, l.token FROM place p LEFT JOIN leased l USING (webhook_id)
           ORDER BY p.step`,
          [
            how.after ?? '',
            CLAIM_WEBHOOKS,
            how.perWebhook,
            how.perAccount,
            how.limit,
            how.leaseMs,
            randomUUID(),
          ],
        );
        const leased = rows.filter(({ token }) => token !== null);
        const lanes = await claimedLanes(query, leased);
        const seen = rows.at(-1)?.webhook_id as WebhookId | undefined;
        // Where the limit cut the round short, the next one begins behind the last webhook that got its turn.
        const last = leased.length >= how.limit ? (leased.at(-1)?.webhook_id as WebhookId) : (seen ?? null);
        const isRound =
          leased.length < how.limit && new Set(rows.map((row) => row.step)).size < CLAIM_WEBHOOKS;
        return { lanes, next: isRound ? null : last };
      }),

    finishAttempt: (lane, end, leaseMs) =>
      database.transaction(async (query) => {
        if (!(await holds(query, lane))) return { isKept: false, next: null };
        await recordAttempt(query, end);
        const { state } = end.outcome;
        await query(
          state === 'delivered'
            ? `UPDATE webhooks SET failing_since = NULL
               WHERE id = $1 AND failing_since IS NOT NULL AND $2::bigint IS NOT NULL`
            : 'UPDATE webhooks SET failing_since = $2::bigint WHERE id = $1 AND failing_since IS NULL',
          [lane.webhookId, end.record.at],
        );
        if (end.outcome.state === 'pending') {
          await endLease(query, lane, end.outcome.retryInMs);
          return { isKept: true, next: null };
        }
        const next = await headOf(query, lane.webhookId, lane.lane);
        if (next === null) await endLease(query, lane, 0);
        else {
          await query(
            `UPDATE delivery_lanes SET next_at = ${NOW} + $3::bigint WHERE webhook_id = $1 AND lane = $2`,
            [lane.webhookId, lane.lane, leaseMs],
          );
        }
        return { isKept: true, next };
      }),

    releaseLane: (lane) =>
      database.transaction(async (query) => {
        if (await holds(query, lane)) await endLease(query, lane, 0);
      }),

    abandonLane: (lane, reason, limit) =>
      database.transaction(async (query) => {
        if (!(await holds(query, lane))) return;
        await query(
          `UPDATE deliveries SET state = 'failed', reason = $3, ended_at = ${NOW} WHERE seq IN (
             SELECT seq FROM deliveries WHERE webhook_id = $1 AND lane = $2 AND state = 'pending'
             ORDER BY seq LIMIT $4
           )`,
          [lane.webhookId, lane.lane, reason, limit],
        );
        await endLease(query, lane, 0);
      }),

    async deliveryBacklog() {
      const [row] = await database.query(
        `SELECT count(*)::integer AS pending, greatest(0, coalesce(${NOW} - min(created_at), 0))::bigint AS oldest_ms
         FROM (SELECT created_at FROM deliveries WHERE state = 'pending' LIMIT 100000) open`,
      );
      return { pending: Number(row?.pending), oldestMs: Number(row?.oldest_ms) };
    },

    async listDeliveries({ accountId, webhookId, state, type, cursor, limit }) {
      const rows = await database.query(
        `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE webhook_id = $1 AND account_id = $2 AND seq < $3
           AND ($4::text IS NULL OR state = $4) AND ($5::text IS NULL OR type = $5) ORDER BY seq DESC LIMIT $6`,
        [
          webhookId,
          accountId,
          cursorOf(cursor, Number.MAX_SAFE_INTEGER),
          state ?? null,
          type ?? null,
          limit + 1,
        ],
      );
      return sliceOf(rows, limit, 'seq', deliveryOf);
    },

    async getDelivery(account, id) {
      const [row] = await database.query(
        `SELECT d.*, l.next_at FROM deliveries d
         LEFT JOIN delivery_lanes l ON l.webhook_id = d.webhook_id AND l.lane = d.lane
         WHERE d.account_id = $1 AND d.id = $2`,
        [account, id],
      );
      return row === undefined ? null : deliveryDetailOf(row);
    },

    async sweepDeliveries(endedBefore, limit) {
      const deliveries = await database.query(
        `DELETE FROM deliveries WHERE seq IN (
           SELECT seq FROM deliveries WHERE ended_at < $1 ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING seq`,
        [endedBefore, limit],
      );
      // The webhook of a monitor is stored before the monitor, which may have been refused.
      const webhooks = await database.query(
        `DELETE FROM webhooks WHERE seq IN (
           SELECT w.seq FROM webhooks w WHERE w.created_at < $1 AND (
             (w.monitor_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM monitors m WHERE m.id = w.monitor_id))
             OR (w.job_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id)
               AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = w.job_id AND j.finished_at IS NULL))
           ) ORDER BY w.created_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING seq`,
        [endedBefore, limit],
      );
      return deliveries.length + webhooks.length;
    },
  };
}

/** The lanes with their webhooks and first deliveries, in the order of the claim. */
async function claimedLanes(query: Query, leased: readonly Row[]): Promise<ClaimedLane[]> {
  if (leased.length === 0) return [];
  const found = await query('SELECT * FROM webhooks WHERE id = ANY ($1::text[])', [
    [...new Set(leased.map((row) => row.webhook_id))],
  ]);
  const webhooks = new Map(found.map((row) => [row.id, webhookOf(row)]));
  const lanes: ClaimedLane[] = [];
  for (const row of leased) {
    const lease = {
      webhookId: row.webhook_id as WebhookId,
      lane: String(row.lane),
      token: String(row.token),
    };
    const delivery = await headOf(query, lease.webhookId, lease.lane);
    const webhook = webhooks.get(row.webhook_id);
    if (delivery !== null && webhook !== undefined) lanes.push({ lease, webhook, delivery });
  }
  return lanes;
}
