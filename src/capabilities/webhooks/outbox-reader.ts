import { isWebhookEvent, matchesAnyEvent } from '../../core/model/event-types.ts';
import type { AccountId, JobId, MonitorId } from '../../core/model/ids.ts';
import type { EventCursor, EventStore, PagesEventData, StoredEvent } from '../../core/ports/event-store.ts';
import type {
  DeliveryEvent,
  NewDelivery,
  StoredWebhook,
  WebhookStore,
} from '../../core/ports/webhook-store.ts';
import { isoTime } from '../../lib/iso-time.ts';
import { newDeliveryId } from './webhooks.ts';

type ReaderStore = Pick<EventStore, 'listEvents' | 'listEventPages'> &
  Pick<WebhookStore, 'webhookCursor' | 'webhooksFor' | 'addDeliveries'>;

/** Events read at once. */
const BATCH = 500;
/** A batch ends early behind the event that brings it to this many deliveries. */
const MOST_DELIVERIES = 2_000;

/** What one look at the outbox has found. */
export interface OutboxStep {
  readonly deliveries: number;
  /** There may be further events already. */
  readonly isMore: boolean;
  /** Events were removed before they could be read. */
  readonly hasGap: boolean;
}

/**
 * Turns the next events of the outbox into deliveries. Any number of processes may do so at the same time: the cursor
 * moves on in the transaction that adds the deliveries, for one of them only.
 */
export async function readOutbox(store: ReaderStore): Promise<OutboxStep> {
  const after = (await store.webhookCursor()) as EventCursor | null;
  const { items, next, hasGap } = await store.listEvents({ after, limit: BATCH });
  if (items.length === 0) return { deliveries: 0, isMore: false, hasGap };
  const webhooks = await store.webhooksFor(
    [...new Set<AccountId>(items.map(({ accountId }) => accountId))],
    [...new Set<JobId>(items.flatMap(({ jobId }) => jobId ?? []))],
    [...new Set<MonitorId>(items.flatMap((item) => monitorOf(item) ?? []))],
  );
  const deliveries: NewDelivery[] = [];
  let read = 0;
  if (webhooks.length > 0) {
    for (const event of items) {
      read += 1;
      deliveries.push(...(await deliveriesOf(event, receiversOf(event, webhooks), store)));
      if (deliveries.length >= MOST_DELIVERIES) break;
    }
  } else read = items.length;
  const last = items[read - 1]?.cursor ?? next;
  const isOurs = await store.addDeliveries({ after, next: read === items.length ? next : last, deliveries });
  // Where another reader was first, the next look begins where that one has ended.
  return {
    deliveries: deliveries.length,
    isMore: !isOurs || read < items.length || items.length === BATCH,
    hasGap,
  };
}

/** The monitor that the event is about; null for other events. */
function monitorOf({ type, data }: Pick<StoredEvent, 'type' | 'data'>): MonitorId | null {
  const isAbout = type.startsWith('monitor.') || type === 'page.changed';
  return isAbout && typeof data.monitorId === 'string' ? (data.monitorId as MonitorId) : null;
}

/**
 * The webhook of the event's job, else those of its account that were there when it happened. A job with a webhook of its
 * own is told to that one alone, also after that one was disabled. The webhooks of a monitor get its events as well.
 */
export function receiversOf(
  event: Pick<StoredEvent, 'accountId' | 'jobId' | 'at' | 'type' | 'data'>,
  webhooks: readonly StoredWebhook[],
): readonly StoredWebhook[] {
  const { accountId, jobId, at } = event;
  const monitor = monitorOf(event);
  const own = jobId === null ? [] : webhooks.filter((webhook) => webhook.jobId === jobId);
  if (own.length > 0) return own.filter(({ disabledAt }) => disabledAt === null);
  return webhooks.filter(
    (webhook) =>
      webhook.jobId === null &&
      webhook.accountId === accountId &&
      webhook.createdAt <= at &&
      (webhook.monitorId === undefined || webhook.monitorId === monitor),
  );
}

async function deliveriesOf(
  event: StoredEvent,
  receivers: readonly StoredWebhook[],
  store: ReaderStore,
): Promise<NewDelivery[]> {
  if (receivers.length === 0) return [];
  if (event.type !== 'pages.committed') return addressed(event, told(event), receivers);
  const wanted = receivers.filter(({ events }) => PAGE_TYPES.some((type) => matchesAnyEvent(events, type)));
  if (wanted.length === 0 || event.jobId === null) return [];
  const { pages: seqs } = event.data as unknown as PagesEventData;
  const pages = await store.listEventPages(event.jobId, seqs);
  return pages.flatMap(({ seq, fetchedAt, ...page }) => {
    const type = page.errorCode === null ? 'page.done' : 'page.failed';
    const data = { ...page, fetchedAt: isoTime(fetchedAt) };
    return addressed(
      event,
      { id: `${event.id}-${seq}`, type, at: event.at, jobId: event.jobId, data },
      wanted,
    );
  });
}

const PAGE_TYPES = ['page.done', 'page.failed'] as const;

const told = ({ id, type, at, jobId, data }: StoredEvent): DeliveryEvent => ({ id, type, at, jobId, data });

/** Events of one job are sent to a webhook in their order; those without a job wait for no other. */
function addressed(
  { accountId, id }: StoredEvent,
  event: DeliveryEvent,
  receivers: readonly StoredWebhook[],
): NewDelivery[] {
  if (!isWebhookEvent(event.type)) return [];
  return receivers
    .filter(({ events }) => matchesAnyEvent(events, event.type))
    .map((webhook) => ({
      id: newDeliveryId(),
      webhookId: webhook.id,
      accountId,
      lane: event.jobId ?? id,
      event,
      redeliveryOf: null,
    }));
}
