import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newDeliveryId } from '../../src/capabilities/webhooks/webhooks.ts';
import type { JobId } from '../../src/core/model/ids.ts';
import type { JobOptions } from '../../src/core/model/job.ts';
import type { WebhookFormat } from '../../src/core/ports/webhook-store.ts';
import { newTask, OPTIONS } from '../contract/store/fixtures.ts';
import { type DeliveryWorld, openDeliveryWorld } from './delivery-world.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const JOB = '01980000-0000-7000-8000-000000000001' as JobId;
const URL_OF_PAGE = 'https://a.test/inbox';
const SESSION: JobOptions['page'] = { ...OPTIONS.page, session: 'mail' };
const PAGE = {
  taskId: 1,
  url: URL_OF_PAGE,
  finalUrl: 'https://a.test/inbox/of-jane',
  statusCode: 200,
  title: 'Inbox of jane',
  fetchedAt: '2026-01-01T00:00:00.000Z',
  duplicateOf: 'https://a.test/also-of-jane',
  errorCode: null,
  errorMessage: 'Not found by jane',
};
let receiver: Receiver;
let world: DeliveryWorld;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(async () => {
  world = await openDeliveryWorld();
  receiver.received.length = 0;
});
afterEach(() => world.close());

/** The message about a page of a job with these options; null: of a job that is gone. */
async function messageFor(options: JobOptions | null, format: WebhookFormat = 'json') {
  const { store, account: accountId } = world;
  if (options !== null) {
    const job = { id: JOB, accountId, options, seeds: [URL_OF_PAGE], createdAt: world.now() };
    await store.createJob({ ...job, kind: 'crawl' }, [newTask(URL_OF_PAGE)]);
  }
  const url = `${receiver.url}/hook`;
  const { webhook } = await world.webhooks.create(accountId, { url, events: ['page.*'], format });
  const event = { id: 'event-1', type: 'page.done', at: world.now(), jobId: JOB, data: PAGE };
  const delivery = { id: newDeliveryId(), webhookId: webhook.id, accountId, lane: JOB, event };
  const { next } = await store.listEvents({ after: null, limit: 100 });
  const after = await store.webhookCursor();
  await store.addDeliveries({ after, next, deliveries: [{ ...delivery, redeliveryOf: null }] });
  await world.send();
  const [sent] = receiver.received;
  return { body: String(sent?.body), data: sent?.message.data };
}

describe('a page that stored credentials gave access to', () => {
  it('is told without its title or anything else that the site sent', async () => {
    const { body, data } = await messageFor({ ...OPTIONS, credentials: 'read', page: SESSION });
    expect(data).toMatchObject({ jobId: JOB, url: URL_OF_PAGE, statusCode: 200, pageOmitted: 'credentials' });
    expect(body).not.toContain('jane');
  });

  it('is told so in chats, too', async () => {
    const { body } = await messageFor({ ...OPTIONS, credentials: 'read', page: SESSION }, 'slack');
    expect(body).toContain(URL_OF_PAGE);
    expect(body).not.toContain('jane');
  });

  it('is told so when its job is gone and nobody knows', async () => {
    const { body, data } = await messageFor(null);
    expect(data).toMatchObject({ url: URL_OF_PAGE, pageOmitted: 'deleted' });
    expect(body).not.toContain('jane');
  });
});

it('tells the title of other pages', async () => {
  const { data } = await messageFor({ ...OPTIONS, credentials: 'use', page: SESSION });
  expect(data).toMatchObject({ title: PAGE.title, finalUrl: PAGE.finalUrl });
});
