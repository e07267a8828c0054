import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryWorld, openDeliveryWorld } from './delivery-world.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const DAY_MS = 86_400_000;
const EVENTS = ['job.*', 'webhook.*'];
let receiver: Receiver;
let world: DeliveryWorld;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(async () => {
  world = await openDeliveryWorld();
  receiver.received.length = 0;
  receiver.behave(() => 200);
});
afterEach(() => world.close());

const create = (path = '/hook', events = EVENTS) =>
  world.webhooks.create(world.account, { url: `${receiver.url}${path}`, events });
const idsOf = () => receiver.received.map(({ message }) => message.id);

/** One event for one webhook; the delivery as it is after the first attempt. */
async function sendOne(path?: string) {
  const created = await create(path);
  await world.tell('job.completed', 'job-1', { status: 'completed' });
  await world.send();
  const [delivery] = await world.deliveries(created.webhook.id);
  if (delivery === undefined) throw new Error('no delivery');
  return { ...created, delivery };
}

describe('a receiver that fails', () => {
  it.each([
    ['times out', 'silence', /TASK_TIMEOUT/],
    ['resets the connection', 'reset', /CONNECTION|NETWORK|RESET|SITE/],
    ['drips', 'drip', /TASK_TIMEOUT/],
    ['answers 500', 500, null],
  ] as const)(
    'is asked again after 2, 4 and 8 seconds when it %s, and gets the same message',
    async (_, how, error) => {
      receiver.behave((_message, earlier) => (earlier < 3 ? how : 204));
      const { delivery, secret } = await sendOne();
      expect(delivery).toMatchObject({ state: 'pending', attempts: 1, nextAttemptAt: world.now() + 2_000 });
      const start = world.now();
      const ended = await world.sendUntilEnd(delivery.id);
      expect(world.now() - start).toBe(14_000);
      expect(ended).toMatchObject({ state: 'delivered', attempts: 4 });
      expect(ended.log.map(({ statusCode }) => statusCode)).toEqual(
        typeof how === 'number' ? [how, how, how, 204] : [null, null, null, 204],
      );
      if (error !== null) expect(ended.log[0]?.error).toMatch(error);
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
      for (const { body, headers } of receiver.received) {
        // The clock of the test is ahead of that of the verifier.
        expect(headers['webhook-id']).toBe(delivery.event.id);
        expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'job.completed' });
      }
    },
  );

  it('gets all events, in their order, when it was down for two days', async () => {
    receiver.behave(() => 503);
    const { webhook, delivery } = await sendOne();
    for (let day = 0; day < 2; day += 1) {
      await world.tell('job.started', 'job-1');
      await world.tell('job.failed', 'job-1');
      await world.sendUntilEnd(delivery.id, DAY_MS);
      world.advance(1);
    }
    expect(new Set(idsOf()).size).toBe(1);
    receiver.received.length = 0;
    receiver.behave(() => 200);
    expect(await world.sendUntilEnd(delivery.id)).toMatchObject({ state: 'delivered' });
    expect(receiver.received.map(({ message }) => message.type)).toEqual([
      'job.completed',
      'job.started',
      'job.failed',
      'job.started',
      'job.failed',
    ]);
    const all = await world.deliveries(webhook.id);
    expect(all.map(({ state }) => state)).toEqual(Array(5).fill('delivered'));
    expect((await world.webhooks.get(world.account, webhook.id)).failingSince).toBeNull();
  });

  it('is disabled with a notice when nothing was delivered for three days', async () => {
    receiver.behave((_message, _earlier, path) => (path === '/notice' ? 200 : 500));
    const notices = await create('/notice', ['webhook.disabled']);
    const { webhook, delivery } = await sendOne('/dead');
    await world.tell('job.started', 'job-1');
    const start = world.now();
    expect(await world.sendUntilEnd(delivery.id)).toMatchObject({
      state: 'failed',
      reason: 'No attempt succeeded within three days.',
    });
    expect(world.now() - start).toBeLessThanOrEqual(3 * DAY_MS);
    expect(world.now() - start).toBeGreaterThan(2.5 * DAY_MS);
    await world.send();
    expect(await world.webhooks.get(world.account, webhook.id)).toMatchObject({ disabledReason: 'failing' });
    const [, second] = await world.deliveries(webhook.id);
    expect(second).toMatchObject({ state: 'failed', attempts: 0, reason: 'The webhook is disabled.' });
    const notice = receiver.received.find(({ path }) => path === '/notice');
    expect(notice?.message).toMatchObject({
      type: 'webhook.disabled',
      data: { webhookId: webhook.id, reason: 'failing' },
    });
    expect((await world.deliveries(notices.webhook.id)).map(({ state }) => state)).toEqual(['delivered']);
    const audit = await world.store.listAudit({ limit: 10 });
    expect(audit.items.map(({ action }) => action)).toContain('webhook.disable');
    expect(world.lines.filter((line) => line.includes('a webhook was disabled'))).toHaveLength(1);

    // Nothing is sent until it is enabled, and then what is new.
    await world.tell('job.completed', 'job-2');
    await world.send();
    await world.webhooks.change(world.account, webhook.id, { enabled: true });
    receiver.behave(() => 200);
    await world.tell('job.completed', 'job-3');
    await world.send();
    expect((await world.deliveries(webhook.id)).at(-1)).toMatchObject({
      state: 'delivered',
      event: { jobId: 'job-3' },
    });
    expect(await world.deliveries(webhook.id)).toHaveLength(3);
  });

  it('is disabled at once when it answers 410', async () => {
    receiver.behave(() => 410);
    const { webhook, delivery } = await sendOne();
    expect(delivery).toMatchObject({ state: 'failed', attempts: 1, reason: 'The receiver answered 410.' });
    expect(await world.webhooks.get(world.account, webhook.id)).toMatchObject({ disabledReason: 'gone' });
    expect(world.outcomes).toEqual(['gone']);
    await world.tell('job.failed', 'job-1');
    await world.send();
    expect(receiver.received).toHaveLength(1);
    await expect(world.webhooks.test(world.account, webhook.id)).rejects.toThrow('disabled');
  });

  it('is not followed to where it leads', async () => {
    const other = await startReceiver();
    receiver.behave(() => ({ location: `${other.url}/private` }));
    const { delivery } = await sendOne();
    expect(delivery).toMatchObject({ state: 'pending' });
    expect(delivery.log[0]).toMatchObject({ statusCode: 301, error: 'Redirects are not followed.' });
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('is not connected to at a private address, unless the operator allows it', async () => {
    const guarded = await openDeliveryWorld({ allowPrivate: false });
    const { webhook } = await guarded.webhooks.create(guarded.account, { url: receiver.url, events: EVENTS });
    const { id } = await guarded.webhooks.test(guarded.account, webhook.id);
    await guarded.send();
    const delivery = await guarded.webhooks.delivery(guarded.account, id);
    expect(delivery).toMatchObject({ state: 'pending', attempts: 1 });
    expect(delivery.log[0]?.error).toMatch(/ADDRESS|PRIVATE|BLOCKED/);
    expect(receiver.received).toEqual([]);
    await guarded.close();
  });

  it('gets no more than a part of a long answer kept', async () => {
    receiver.behave(() => 'flood');
    const { delivery } = await sendOne();
    expect(delivery).toMatchObject({ state: 'delivered' });
    expect(delivery.log[0]?.answer).toHaveLength(2_000);
  });
});

describe('other receivers and jobs', () => {
  it('do not wait for one that fails', async () => {
    receiver.behave((_message, _earlier, path) => (path === '/dead' ? 500 : 200));
    const [dead, living] = [await create('/dead'), await create('/living')];
    for (const job of ['a', 'b', 'c']) await world.tell('job.completed', job);
    await world.send();
    expect((await world.deliveries(living.webhook.id)).map(({ state }) => state)).toEqual(
      Array(3).fill('delivered'),
    );
    expect((await world.deliveries(dead.webhook.id)).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  it('a later event of a job waits for the earlier one; other jobs go on', async () => {
    receiver.behave((message) => (message.type === 'job.started' && message.data.jobId === 'a' ? 500 : 200));
    const { webhook } = await create();
    await world.tell('job.started', 'a');
    await world.tell('job.completed', 'a');
    await world.tell('job.started', 'b');
    await world.tell('job.completed', 'b');
    await world.send();
    const states = (await world.deliveries(webhook.id)).map(({ state, attempts }) => [state, attempts]);
    expect(states).toEqual([
      ['pending', 1],
      ['pending', 0],
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });

  it('a delivery is sent again when that is asked for, with the same id', async () => {
    const { delivery } = await sendOne();
    const again = await world.webhooks.redeliver(world.account, delivery.id);
    await world.send();
    expect(await world.webhooks.delivery(world.account, again.id)).toMatchObject({
      state: 'delivered',
      redeliveryOf: delivery.id,
    });
    expect(idsOf()).toEqual([delivery.event.id, delivery.event.id]);
  });

  it('messages are signed with both secrets while they overlap', async () => {
    const { webhook, secret } = await create();
    const rotated = await world.webhooks.rotate(world.account, webhook.id, { overlapHours: 2 });
    const send = async () => {
      receiver.received.length = 0;
      await world.webhooks.test(world.account, webhook.id);
      await world.send();
      const [{ body = '', headers = {} } = {}] = receiver.received;
      const isSigned = (by: string) => {
        const { 'webhook-id': id = '', 'webhook-timestamp': seconds = '' } = headers;
        const at = new Date(Number(seconds) * 1_000);
        return headers['webhook-signature']?.includes(new Webhook(by).sign(id, at, body)) ?? false;
      };
      return [isSigned(rotated.secret), isSigned(secret)];
    };
    expect(await send()).toEqual([true, true]);
    world.advance(2 * 3_600_000);
    expect(await send()).toEqual([true, false]);
  });

  it('neither secrets nor bodies are in the log', async () => {
    receiver.behave(() => 500);
    const url = `${receiver.url}/hook?token=very-secret-token`;
    const headers = { authorization: 'Bearer very-secret-header' };
    const { webhook, secret } = await world.webhooks.create(world.account, { url, events: EVENTS, headers });
    await world.tell('job.completed', 'job-1', { note: 'very-secret-body' });
    await world.send();
    expect(receiver.received[0]?.headers.authorization).toBe('Bearer very-secret-header');
    const shown = JSON.stringify(await world.deliveries(webhook.id));
    expect(shown).not.toContain('very-secret-header');
    expect(shown).not.toContain(secret);
    expect(world.lines.join('\n')).not.toMatch(/very-secret/);
    const stored = await world.store.getWebhook(world.account, webhook.id);
    expect(Buffer.from(stored?.data ?? []).toString('latin1')).not.toContain('very-secret');
  });
});
