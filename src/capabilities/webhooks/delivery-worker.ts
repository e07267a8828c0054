import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { DeliveryId } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { DeliveryOutcome, WorkMetrics } from '../../core/observe/metrics/work-metrics.ts';
import type { Store } from '../../core/ports/store.ts';
import type {
  AttemptEnd,
  ClaimedLane,
  Delivery,
  DisabledReason,
  FinishedAttempt,
  StoredWebhook,
} from '../../core/ports/webhook-store.ts';
import { endWith, sampledContext, serverAttributes, startSpan } from '../../core/tracing/tracing.ts';
import type { Vault } from '../sessions/vault.ts';
import { CONFIRM_EVENT } from './mail.ts';
import { type ContentsParts, readContents, toldData } from './message.ts';
import {
  ATTEMPT_MS,
  type Outgoing,
  type SenderParts,
  type SentAttempt,
  sendAttempt,
} from './send-attempt.ts';
import { unpackWebhook } from './webhook-secrets.ts';

export interface DeliveryWorkerDeps {
  readonly store: Store;
  readonly vault: Vault | null;
  readonly sender: SenderParts;
  readonly contents: ContentsParts;
  /** The current time by the store's clock. */
  readonly now: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
  /** Chance, as a number from 0 to below 1. */
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly logger: Logger;
  readonly metrics: Pick<WorkMetrics, 'deliveryAttempted'>;
  /** The lane is given back before its next delivery. */
  readonly isStopping: () => boolean;
}

/** Longer than reading the contents, sending them and storing the result should ever take together. */
export const LEASE_MS = 30_000;
/** Deliveries of one lane before others of the webhook get their turn. */
const MOST_IN_A_ROW = 100;
/** Open deliveries of a disabled webhook that one call ends. */
const MOST_ABANDONED = 5_000;
const STORE_PAUSE_MS = 500;
const OUTCOMES: Readonly<Record<SentAttempt['result'], DeliveryOutcome>> = {
  delivered: 'delivered',
  again: 'retried',
  over: 'refused',
  unconfirmed: 'refused',
  gone: 'gone',
};

/** The first retries come soon: most failures are a restart or a lost connection. */
const FIRST_DELAYS_MS = [2_000, 4_000, 8_000] as const;
const LONGEST_DELAY_MS = 6 * 3_600_000;
/** Around the delay, so that receivers that were away are not asked by all senders at the same moment. */
const JITTER = 0.25;
/** A receiver may ask for more time, but not for so much that a delivery has one attempt left. */
const MOST_RETRY_AFTER_MS = 3_600_000;
/** The time from the first attempt to the last. */
export const RETRY_PERIOD_MS = 3 * 86_400_000;

/** Sends what is due in a leased lane, in order, until a delivery has to be tried again later or nothing is left. */
export async function workLane(
  claimed: ClaimedLane,
  claimedAt: number,
  deps: DeliveryWorkerDeps,
): Promise<void> {
  const { store, clock } = deps;
  const { lease } = claimed;
  let { webhook } = claimed;
  let delivery: Delivery | null = claimed.delivery;
  let leaseUntil = claimedAt + LEASE_MS;
  for (let count = 0; delivery !== null; count += 1) {
    if (count > 0) {
      const current = await store.getWebhook(webhook.accountId, webhook.id);
      if (current === null) return;
      webhook = current;
    }
    const isConfirmation = webhook.disabledReason === 'unconfirmed' && delivery.event.type === CONFIRM_EVENT;
    if (webhook.disabledAt !== null && !isConfirmation)
      return store.abandonLane(lease, 'The webhook is disabled.', MOST_ABANDONED);
    if (deps.isStopping() || count >= MOST_IN_A_ROW) return store.releaseLane(lease);
    const data = unpackWebhook(webhook, deps.vault);
    const contents = await readContents(delivery.event, deps.contents);
    const until = leaseUntil;
    const mayStart = () => clock() < until - 2 * ATTEMPT_MS;
    if (!mayStart()) return store.releaseLane(lease);
    const event = { ...delivery.event, data: toldData(delivery.event, contents) };
    const sent = await sendInSpan(delivery, { webhook, data, event, contents, mayStart }, deps.sender);
    const end = endOf(delivery, sent, deps);
    const finishedAt = clock();
    const { isKept, next } = await finish(claimed, end, until, deps);
    if (!isKept) return;
    deps.metrics.deliveryAttempted(OUTCOMES[sent.result], sent.record.ms);
    leaseUntil = finishedAt + LEASE_MS;
    const reason = await disablingReason(webhook, delivery, sent, end, deps);
    if (reason !== null) await disable(webhook, reason, delivery.id, deps);
    delivery = next;
  }
}

function endOf(delivery: Delivery, sent: SentAttempt, { now, random }: DeliveryWorkerDeps): AttemptEnd {
  const attempt = delivery.attempts + 1;
  const { record, request, result, retryAfterMs } = sent;
  const base = { deliveryId: delivery.id, attempt, record, request };
  if (result === 'delivered') return { ...base, outcome: { state: 'delivered' } };
  if (result === 'gone')
    return { ...base, outcome: { state: 'failed', reason: 'The receiver answered 410.' } };
  if (result === 'unconfirmed')
    return { ...base, outcome: { state: 'failed', reason: 'The address is not confirmed.' } };
  if (result === 'over')
    return { ...base, outcome: { state: 'failed', reason: 'The server refused the message.' } };
  const failed = { count: attempt, firstAt: delivery.firstAttemptAt ?? record.at, retryAfterMs };
  const retryInMs = retryDelayMs(failed, now(), random());
  return retryInMs === null
    ? { ...base, outcome: { state: 'failed', reason: 'No attempt succeeded within three days.' } }
    : { ...base, outcome: { state: 'pending', retryInMs } };
}

/** Stores how the attempt ended, as long as the lease may hold: a success that is not stored is sent again. */
async function finish(
  { lease }: ClaimedLane,
  end: AttemptEnd,
  leaseUntil: number,
  { store, clock, pause, logger }: DeliveryWorkerDeps,
): Promise<FinishedAttempt> {
  for (;;) {
    try {
      return await store.finishAttempt(lease, end, LEASE_MS);
    } catch (error) {
      if (clock() + STORE_PAUSE_MS > leaseUntil) throw error;
      logger.warn({ err: error }, 'webhooks: the end of an attempt is not stored yet');
      await pause(STORE_PAUSE_MS);
    }
  }
}

/** A webhook is disabled by a 410, and when nothing was delivered from the first attempt at a delivery to its last. */
async function disablingReason(
  webhook: StoredWebhook,
  delivery: Delivery,
  { result, record }: SentAttempt,
  { outcome }: AttemptEnd,
  { store }: DeliveryWorkerDeps,
): Promise<DisabledReason | null> {
  if (result === 'gone') return 'gone';
  if (outcome.state !== 'failed' || result === 'over' || result === 'unconfirmed') return null;
  const current = await store.getWebhook(webhook.accountId, webhook.id);
  const failingSince = current?.failingSince ?? null;
  const firstAt = delivery.firstAttemptAt ?? record.at;
  return failingSince !== null && failingSince <= firstAt ? 'failing' : null;
}

/** The notice: an event for the other webhooks of the account, an entry in the audit log, and a line for the operator. */
async function disable(
  { id, accountId, target, format }: StoredWebhook,
  reason: DisabledReason,
  deliveryId: DeliveryId,
  { store, now, logger }: DeliveryWorkerDeps,
): Promise<void> {
  if (!(await store.disableWebhook(id, reason))) return;
  const details = { reason, accountId, deliveryId };
  logger.warn({ webhookId: id, ...details }, 'webhooks: a webhook was disabled');
  await store.audit([{ at: now(), actor: 'scrapifie', action: 'webhook.disable', target: id, details }]);
  await store.appendEvents([
    { type: 'webhook.disabled', accountId, jobId: null, data: { webhookId: id, target, format, reason } },
  ]);
}

/** Makes one attempt at a delivery, in a span of the trace of its job where that has one. */
function sendInSpan(
  { attempts }: Pick<Delivery, 'attempts'>,
  outgoing: Outgoing,
  sender: SenderParts,
): Promise<SentAttempt> {
  const { webhook, event, data, contents } = outgoing;
  const parent = sampledContext(contents.job?.options.traceParent);
  if (parent === null) return sendAttempt(outgoing, sender);
  const attributes = {
    'scrapifie.job.id': event.jobId ?? '',
    'scrapifie.event.type': event.type,
    'scrapifie.webhook.id': webhook.id,
    'scrapifie.webhook.format': webhook.format,
    'scrapifie.attempt': attempts + 1,
    // The span names no e-mail address and no address of a plug-in, since both may be private.
    ...(data.url.startsWith('http') ? serverAttributes(data.url) : {}),
  };
  const span = startSpan(`deliver ${event.type}`, { kind: SpanKind.CLIENT, attributes }, parent);
  if (span === null) return sendAttempt(outgoing, sender);
  return endWith(span, async () => {
    const sent = await sendAttempt(outgoing, sender);
    const { statusCode } = sent.record;
    if (statusCode !== null) span.setAttribute('http.response.status_code', statusCode);
    span.setAttribute('scrapifie.outcome', sent.result);
    if (sent.result !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR });
    return sent;
  });
}

interface FailedAttempts {
  /** Number of attempts that have failed, 1 or more. */
  readonly count: number;
  readonly firstAt: number;
  /** What the last answer asked for; null when it did not. */
  readonly retryAfterMs: number | null;
}

/** How long to wait before the next attempt; null when there is none. `random` is from 0 to below 1. */
export function retryDelayMs(failed: FailedAttempts, now: number, random: number): number | null {
  const asked = Math.min(failed.retryAfterMs ?? 0, MOST_RETRY_AFTER_MS);
  const delayMs = Math.max(asked, backoffMs(failed.count, random));
  return now + delayMs > failed.firstAt + RETRY_PERIOD_MS ? null : delayMs;
}

function backoffMs(count: number, random: number): number {
  const first = FIRST_DELAYS_MS[count - 1];
  if (first !== undefined) return first;
  const doubled = 8_000 * 2 ** Math.min(count - FIRST_DELAYS_MS.length, 20);
  return Math.round(Math.min(LONGEST_DELAY_MS, doubled) * (1 - JITTER + 2 * JITTER * random));
}
