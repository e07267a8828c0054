import { randomUUID } from 'node:crypto';
import type { WebhookId } from '../../core/model/ids.ts';
import type { ClaimedLane, NewDelivery } from '../../core/ports/webhook-store.ts';
import type { Row } from '../store-rows/rows.ts';
import { type DeliveryQueueStore, headOf } from '../store-sql/deliveries.ts';
import { CLAIM_WEBHOOKS, webhookOf } from '../store-sql/webhooks.ts';
import { NOW, type PostgresDatabase, type Query, type Session } from './database.ts';
import { jsonParameter } from './parameters.ts';
import { runPostgres } from './sql-methods.ts';

/** Claims take turns at this lock, so that the limits of webhooks and accounts hold over all processes. */
const CLAIM_LOCK = 0x77_65_62_68;

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

/** How deliveries come in and lanes are claimed; the rest of the port is shared with the other database. */
export function createPostgresDeliveryQueue(database: PostgresDatabase): DeliveryQueueStore {
  return {
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
      database.transaction(async (query, run) => {
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
        const lanes = await claimedLanes({ query, run }, leased);
        const seen = rows.at(-1)?.webhook_id as WebhookId | undefined;
        // Where the limit cut the round short, the next one begins behind the last webhook that got its turn.
        const last = leased.length >= how.limit ? (leased.at(-1)?.webhook_id as WebhookId) : (seen ?? null);
        const isRound =
          leased.length < how.limit && new Set(rows.map((row) => row.step)).size < CLAIM_WEBHOOKS;
        return { lanes, next: isRound ? null : last };
      }),
  };
}

/** The lanes with their webhooks and first deliveries, in the order of the claim. */
async function claimedLanes(session: Session, leased: readonly Row[]): Promise<ClaimedLane[]> {
  if (leased.length === 0) return [];
  const found = await session.query('SELECT * FROM webhooks WHERE id = ANY ($1::text[])', [
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
    const delivery = await runPostgres(headOf(lease), session);
    const webhook = webhooks.get(row.webhook_id);
    if (delivery !== null && webhook !== undefined) lanes.push({ lease, webhook, delivery });
  }
  return lanes;
}
