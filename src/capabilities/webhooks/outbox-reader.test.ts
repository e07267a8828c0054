import { describe, expect, it } from 'vitest';
import {
  EVENTS,
  type EventName,
  type EventType,
  isEventPattern,
  WEBHOOK_EVENTS,
} from '../../core/model/event-types.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { EventCursor, StoredEvent } from '../../core/ports/event-store.ts';
import type { NewDelivery, StoredWebhook } from '../../core/ports/webhook-store.ts';
import { readOutbox } from './outbox-reader.ts';

const ACCOUNT = 'default' as AccountId;
const JOB = 'job' as JobId;

/** What webhooks with these patterns get of one event of the type. */
async function deliveredOf(type: EventType, events: readonly string[]): Promise<readonly string[]> {
  const event: StoredEvent = {
    id: 'evt_1',
    cursor: '1-0-1' as EventCursor,
    at: 2,
    type,
    accountId: ACCOUNT,
    jobId: JOB,
    data: { pages: [1, 2] },
  };
  const webhook = { jobId: null, accountId: ACCOUNT, createdAt: 1, events, disabledAt: null };
  const pages = [
    { seq: 1, errorCode: null, fetchedAt: 1 },
    { seq: 2, errorCode: 'TIMEOUT', fetchedAt: 1 },
  ];
  const delivered: NewDelivery[] = [];
  await readOutbox({
    webhookCursor: async () => null,
    listEvents: async () => ({ items: [event], next: event.cursor, hasGap: false }),
    webhooksFor: async () => [webhook as unknown as StoredWebhook],
    listEventPages: async () => pages as never,
    addDeliveries: async ({ deliveries }) => {
      delivered.push(...deliveries);
      return true;
    },
  });
  return delivered.map((each) => each.event.type);
}

const stored = (Object.keys(EVENTS) as EventName[]).filter(
  (type): type is EventType => !('isMade' in EVENTS[type]),
);

describe('an event that a store writes', () => {
  it.each(stored)(
    '%s is delivered where the registry says so, to its name, its family and *',
    async (type) => {
      const isTold = (WEBHOOK_EVENTS as readonly string[]).includes(type);
      const told = type === 'pages.committed' ? ['page.done', 'page.failed'] : isTold ? [type] : [];
      expect(await deliveredOf(type, ['*'])).toEqual(told);
      expect(isEventPattern(type)).toBe(isTold);
      if (!isTold) return;
      expect(await deliveredOf(type, [type])).toEqual(told);
      expect(await deliveredOf(type, [`${type.split('.')[0]}.*`])).toEqual(told);
    },
  );

  it.each(['monitor.change', 'export.*d', 'job.created', 'pages.*', 'nothing'])(
    '%s is no pattern: it could never match',
    (pattern) => expect(isEventPattern(pattern)).toBe(false),
  );
});
