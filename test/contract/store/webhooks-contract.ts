import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AccountId, DeliveryId, JobId, WebhookId } from '../../../src/core/model/ids.ts';
import type { Store } from '../../../src/core/ports/store.ts';
import type {
  AttemptEnd,
  ClaimedLane,
  LaneClaim,
  NewDelivery,
  NewWebhook,
  StoredWebhook,
} from '../../../src/core/ports/webhook-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const STRANGER = 'somebody-else' as AccountId;
const BYTES = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
const LEASE_MS = 30_000;
const CLAIM: LaneClaim = { limit: 10, leaseMs: LEASE_MS, perWebhook: 5, perAccount: 20, after: null };

async function newWebhook(store: TimedStore, changes: Partial<NewWebhook> = {}): Promise<StoredWebhook> {
  return store.at(T0).createWebhook({
    id: `wh_${randomUUID()}` as WebhookId,
    accountId: await store.defaultAccount(),
    jobId: null,
    format: 'json',
    events: ['job.*'],
    target: 'https://receiver.example/',
    data: BYTES,
    ...changes,
  });
}

function newDelivery(webhook: StoredWebhook, lane: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id: `dl_${randomUUID()}` as DeliveryId,
    webhookId: webhook.id,
    accountId: webhook.accountId,
    lane,
    event: { id: randomUUID(), type: 'job.completed', at: T0, jobId: lane as JobId, data: { pages: 3 } },
    redeliveryOf: null,
    ...changes,
  };
}

/** Adds the deliveries behind those that the store has. */
async function add(store: Store, deliveries: readonly NewDelivery[]): Promise<void> {
  const after = await store.webhookCursor();
  expect(await store.addDeliveries({ after, next: `${Number(after ?? 0) + 1}`, deliveries })).toBe(true);
}

const end = ({ delivery }: Pick<ClaimedLane, 'delivery'>, outcome: AttemptEnd['outcome']): AttemptEnd => ({
  deliveryId: delivery.id,
  attempt: delivery.attempts + 1,
  record: { at: T0 + 5, ms: 12, statusCode: 500, error: null, answer: 'no \u0000 luck' },
  request: { target: 'https://receiver.example/', headers: { 'webhook-id': 'a' }, body: '{}', bodyBytes: 2 },
  outcome,
});

async function claimOne(store: Store): Promise<ClaimedLane> {
  const { lanes } = await store.claimLanes({ ...CLAIM, limit: 1 });
  const [lane] = lanes;
  if (lane === undefined) throw new Error('no lane was due');
  return lane;
}

const statesOf = async (store: TimedStore, { id, accountId }: StoredWebhook) =>
  (await store.listDeliveries({ accountId, webhookId: id, limit: 100 })).items
    .map(({ state }) => state)
    .reverse();

/** Webhooks, and the deliveries of events to them. */
export function webhooksContract(holds: Claim<TimedStore>): void {
  holds('keeps a webhook as it was given, and the first of one id', async (store, opened) => {
    const given = await newWebhook(store);
    expect(given).toMatchObject({
      createdAt: T0,
      disabledAt: null,
      failingSince: null,
      version: 1,
      jobId: null,
    });
    const again = await newWebhook(store, { id: given.id, target: 'https://other.example/' });
    expect(again.target).toBe(given.target);
    expect(await store.getWebhook(STRANGER, given.id)).toBeNull();
    expect(await store.deleteWebhook(STRANGER, given.id)).toBe(false);
    const change = { ...given, isEnabled: true };
    expect(await store.updateWebhook(STRANGER, change)).toBe(false);
    await afterKill(opened, async (next) => {
      const read = await next.getWebhook(given.accountId, given.id);
      expect(read).toMatchObject({ target: given.target, events: ['job.*'], format: 'json' });
      expect([...(read?.data ?? [])]).toEqual([...BYTES]);
    });
  });

  holds('lists webhooks newest first, without those of single jobs', async (store) => {
    const made = [await newWebhook(store), await newWebhook(store), await newWebhook(store)];
    await newWebhook(store, { jobId: randomUUID() as JobId });
    const accountId = await store.defaultAccount();
    const first = await store.listWebhooks({ accountId, limit: 2 });
    const rest = await store.listWebhooks({ accountId, limit: 2, cursor: first.nextCursor ?? undefined });
    const ids = [...first.items, ...rest.items].map(({ id }) => id);
    expect(ids).toEqual(made.map(({ id }) => id).reverse());
    expect((await store.listWebhooks({ accountId: STRANGER, limit: 2 })).items).toEqual([]);
  });

  holds('changes a webhook for the writer that knew its last version', async (store) => {
    const webhook = await newWebhook(store);
    const { accountId } = webhook;
    const change = { ...webhook, events: ['*'], isEnabled: false };
    expect(await store.at(T0 + 9).updateWebhook(accountId, change)).toBe(true);
    expect(await store.at(T0 + 9).updateWebhook(accountId, change)).toBe(false);
    const disabled = await store.getWebhook(accountId, webhook.id);
    expect(disabled).toMatchObject({ events: ['*'], disabledAt: T0 + 9, disabledReason: 'user', version: 2 });
    expect(await store.disableWebhook(webhook.id, 'gone')).toBe(false);
    expect(await store.updateWebhook(accountId, { ...change, version: 2, isEnabled: true })).toBe(true);
    expect(await store.getWebhook(accountId, webhook.id)).toMatchObject({
      disabledAt: null,
      disabledReason: null,
    });
    expect(await store.at(T0 + 20).disableWebhook(webhook.id, 'gone')).toBe(true);
    expect(await store.getWebhook(accountId, webhook.id)).toMatchObject({
      disabledAt: T0 + 20,
      disabledReason: 'gone',
    });
  });

  holds('finds the enabled webhooks of accounts, and those of jobs, disabled ones too', async (store) => {
    const jobId = randomUUID() as JobId;
    const [ofAccount, ofJob, disabled] = [
      await newWebhook(store),
      await newWebhook(store, { jobId }),
      await newWebhook(store),
    ];
    await store.disableWebhook(disabled.id, 'user');
    const ids = async (accounts: AccountId[], jobs: JobId[]) =>
      (await store.webhooksFor(accounts, jobs)).map(({ id }) => id).sort();
    expect(await ids([ofAccount.accountId], [])).toEqual([ofAccount.id]);
    expect(await ids([STRANGER], [jobId])).toEqual([ofJob.id]);
    expect(await ids([ofAccount.accountId], [jobId])).toEqual([ofAccount.id, ofJob.id].sort());
    expect(await ids([], [])).toEqual([]);
    await store.disableWebhook(ofJob.id, 'gone');
    expect(await ids([], [jobId])).toEqual([ofJob.id]);
  });

  holds('moves the cursor on together with the deliveries, for one reader', async (store, opened) => {
    const webhook = await newWebhook(store);
    expect(await store.webhookCursor()).toBeNull();
    const deliveries = [newDelivery(webhook, 'a')];
    const first = { after: null, next: '7', deliveries };
    expect(await store.addDeliveries(first)).toBe(true);
    expect(await store.addDeliveries(first)).toBe(false);
    expect(
      await store.addDeliveries({ after: '6', next: '8', deliveries: [newDelivery(webhook, 'a')] }),
    ).toBe(false);
    const racing = [1, 2, 3].map((n) =>
      store.addDeliveries({ after: '7', next: `${n}7`, deliveries: [newDelivery(webhook, `${n}`)] }),
    );
    expect((await Promise.all(racing)).filter(Boolean)).toHaveLength(1);
    expect(await statesOf(store, webhook)).toEqual(['pending', 'pending']);
    await afterKill(opened, async (next) => expect(await next.webhookCursor()).toMatch(/^[123]7$/));
  });

  holds('has one delivery of an event and a webhook, besides those that are asked for', async (store) => {
    const [webhook, other] = [await newWebhook(store), await newWebhook(store)];
    const delivery = newDelivery(webhook, 'a');
    const again = { ...delivery, id: randomUUID() as DeliveryId };
    await add(store.at(T0), [delivery, again, { ...again, webhookId: other.id }]);
    expect(await statesOf(store, webhook)).toEqual(['pending']);
    expect(await statesOf(store, other)).toEqual(['pending']);
    expect(await store.addDelivery(again)).toBe(false);
    const asked = { ...again, id: randomUUID() as DeliveryId, lane: 'again', redeliveryOf: delivery.id };
    expect(await store.addDelivery(asked)).toBe(true);
    expect(await statesOf(store, webhook)).toEqual(['pending', 'pending']);
  });

  holds('leaves out deliveries to webhooks that are gone or disabled', async (store) => {
    const [gone, disabled, there] = [
      await newWebhook(store),
      await newWebhook(store),
      await newWebhook(store),
    ];
    await store.deleteWebhook(gone.accountId, gone.id);
    await store.disableWebhook(disabled.id, 'failing');
    await add(
      store.at(T0),
      [gone, disabled, there].map((webhook) => newDelivery(webhook, 'a')),
    );
    expect(await statesOf(store, disabled)).toEqual([]);
    expect(await statesOf(store, there)).toEqual(['pending']);
    expect(await store.addDelivery(newDelivery(gone, 'b'))).toBe(false);
  });

  holds('takes the link of a confirmation for a webhook that is not confirmed', async (store) => {
    const unconfirmed = await newWebhook(store);
    await store.disableWebhook(unconfirmed.id, 'unconfirmed');
    expect(await store.addDelivery(newDelivery(unconfirmed, 'a'))).toBe(true);
    const unwanted = await newWebhook(store);
    await store.disableWebhook(unwanted.id, 'user');
    expect(await store.addDelivery(newDelivery(unwanted, 'a'))).toBe(false);
  });

  holds('gives the deliveries of a lane in their order, one at a time', async (store) => {
    const webhook = await newWebhook(store);
    const [first, second, other] = [
      newDelivery(webhook, 'a'),
      newDelivery(webhook, 'a'),
      newDelivery(webhook, 'b'),
    ];
    await add(store.at(T0), [first, second, other]);
    const { lanes } = await store.at(T0).claimLanes(CLAIM);
    expect(lanes.map(({ delivery }) => delivery.id).sort()).toEqual([first.id, other.id].sort());
    expect((await store.at(T0).claimLanes(CLAIM)).lanes).toEqual([]);
    const lane = lanes.find(({ delivery }) => delivery.id === first.id) as ClaimedLane;
    const beside = lanes.find(({ delivery }) => delivery.id === other.id) as ClaimedLane;
    await store.at(T0).finishAttempt(beside.lease, end(beside, { state: 'delivered' }), LEASE_MS);
    expect(lane.webhook).toMatchObject({ id: webhook.id });
    expect(lane.delivery.event).toEqual(first.event);

    const retried = end(lane, { state: 'pending', retryInMs: 2_000 });
    expect(await store.at(T0).finishAttempt(lane.lease, retried, LEASE_MS)).toEqual({
      isKept: true,
      next: null,
    });
    expect((await store.at(T0 + 1_999).claimLanes(CLAIM)).lanes).toEqual([]);
    const again = await claimOne(store.at(T0 + 2_000));
    expect(again.delivery).toMatchObject({ id: first.id, attempts: 1, firstAttemptAt: T0 + 5 });

    const done = end(again, { state: 'delivered' });
    const finished = await store.at(T0 + 2_001).finishAttempt(again.lease, done, LEASE_MS);
    expect(finished).toMatchObject({ isKept: true, next: { id: second.id } });
    // The lease goes on.
    expect((await store.at(T0 + 2_001).claimLanes(CLAIM)).lanes).toEqual([]);
    const failed = end(
      { delivery: { ...again.delivery, ...finished.next } },
      { state: 'failed', reason: 'no' },
    );
    expect(await store.finishAttempt(again.lease, { ...failed, attempt: 1 }, LEASE_MS)).toEqual({
      isKept: true,
      next: null,
    });
    expect(await statesOf(store, webhook)).toEqual(['delivered', 'failed', 'delivered']);
  });

  holds('keeps what was sent and answered', async (store, opened) => {
    const webhook = await newWebhook(store);
    const delivery = newDelivery(webhook, 'a');
    await add(store.at(T0), [delivery]);
    const before = await store.getDelivery(webhook.accountId, delivery.id);
    expect(before).toMatchObject({ state: 'pending', nextAttemptAt: T0, request: null, log: [] });
    const lane = await claimOne(store.at(T0));
    const retried = end(lane, { state: 'pending', retryInMs: 4_000 });
    await store.at(T0).finishAttempt(lane.lease, retried, LEASE_MS);
    const again = await claimOne(store.at(T0 + 4_000));
    await store.at(T0 + 4_000).finishAttempt(again.lease, end(again, { state: 'delivered' }), LEASE_MS);
    expect(await store.getDelivery(STRANGER, delivery.id)).toBeNull();
    await afterKill(opened, async (next) => {
      const read = await next.getDelivery(webhook.accountId, delivery.id);
      expect(read).toMatchObject({
        state: 'delivered',
        attempts: 2,
        endedAt: T0 + 4_000,
        nextAttemptAt: null,
      });
      expect(read?.log).toHaveLength(2);
      expect(read?.log[0]).toMatchObject({ at: T0 + 5, ms: 12, statusCode: 500 });
      expect(read?.request).toEqual(retried.request);
    });
  });

  holds('stores nothing under a lease that was lost, so that a stored success is final', async (store) => {
    const webhook = await newWebhook(store);
    await add(store.at(T0), [newDelivery(webhook, 'a')]);
    const late = await claimOne(store.at(T0));
    const next = await claimOne(store.at(T0 + LEASE_MS));
    expect(next.delivery.id).toBe(late.delivery.id);
    const done = end(late, { state: 'delivered' });
    expect(await store.finishAttempt(late.lease, done, LEASE_MS)).toEqual({ isKept: false, next: null });
    expect(await statesOf(store, webhook)).toEqual(['pending']);
    await store.finishAttempt(next.lease, done, LEASE_MS);
    const wrong = end(late, { state: 'pending', retryInMs: 1 });
    expect((await store.finishAttempt(late.lease, wrong, LEASE_MS)).isKept).toBe(false);
    expect((await store.finishAttempt(next.lease, wrong, LEASE_MS)).isKept).toBe(false);
    await store.releaseLane(late.lease);
    expect(await statesOf(store, webhook)).toEqual(['delivered']);
    expect((await store.at(T0 + 9 * LEASE_MS).claimLanes(CLAIM)).lanes).toEqual([]);
  });

  holds('adds to a lane whose last delivery ends at the same time', async (store) => {
    const webhook = await newWebhook(store);
    await add(store.at(T0), [newDelivery(webhook, 'a')]);
    for (let round = 0; round < 10; round += 1) {
      const lane = await claimOne(store.at(T0 + round * LEASE_MS));
      const [finished] = await Promise.all([
        store.plain.finishAttempt(lane.lease, end(lane, { state: 'delivered' }), LEASE_MS),
        store.plain.addDelivery(newDelivery(webhook, 'a')),
      ]);
      if (finished.next !== null) await store.plain.releaseLane(lane.lease);
    }
    expect((await statesOf(store, webhook)).filter((state) => state === 'pending')).toHaveLength(1);
    expect((await store.at(T0 + 99 * LEASE_MS).claimLanes(CLAIM)).lanes).toHaveLength(1);
  });

  holds('bounds the lanes of one webhook and of one account, and goes round all webhooks', async (store) => {
    const webhooks = [await newWebhook(store), await newWebhook(store), await newWebhook(store)];
    const deliveries = webhooks.flatMap((webhook) =>
      Array.from({ length: 4 }, (_, lane) => newDelivery(webhook, `${lane}`)),
    );
    await add(store.at(T0), deliveries);
    const countOf = (lanes: readonly ClaimedLane[]) =>
      webhooks.map(({ id }) => lanes.filter(({ lease }) => lease.webhookId === id).length);
    const limits = { ...CLAIM, perWebhook: 2, perAccount: 5 };
    const { lanes, next } = await store.at(T0).claimLanes(limits);
    expect(countOf(lanes).sort()).toEqual([1, 2, 2]);
    expect(next).toBeNull();
    expect((await store.at(T0).claimLanes(limits)).lanes).toEqual([]);
    const [one] = lanes;
    if (one !== undefined) await store.at(T0).releaseLane(one.lease);
    expect((await store.at(T0).claimLanes(limits)).lanes).toHaveLength(1);

    // Two at a time, each call where the last one ended: no webhook is left out.
    const later = T0 + 2 * LEASE_MS;
    const seen = new Set<string>();
    let after: WebhookId | null = null;
    for (let call = 0; call < 4; call += 1) {
      const step: { lanes: readonly ClaimedLane[]; next: WebhookId | null } = await store
        .at(later)
        .claimLanes({ ...CLAIM, perWebhook: 2, limit: 2, after });
      for (const { lease } of step.lanes) seen.add(lease.webhookId);
      after = step.next;
    }
    expect(seen.size).toBe(3);
  });

  holds('leases one lane of a webhook that fails, until an attempt succeeds', async (store) => {
    const webhook = await newWebhook(store);
    await add(
      store.at(T0),
      ['a', 'b', 'c'].map((lane) => newDelivery(webhook, lane)),
    );
    const lane = await claimOne(store.at(T0));
    await store.at(T0).finishAttempt(lane.lease, end(lane, { state: 'pending', retryInMs: 9_000 }), LEASE_MS);
    const [trial, ...more] = (await store.at(T0).claimLanes(CLAIM)).lanes;
    expect(more).toEqual([]);
    if (trial === undefined) throw new Error('no lane was due');
    expect((await store.at(T0).claimLanes(CLAIM)).lanes).toEqual([]);
    await store.at(T0).finishAttempt(trial.lease, end(trial, { state: 'delivered' }), LEASE_MS);
    expect((await store.at(T0 + 9_000).claimLanes(CLAIM)).lanes).toHaveLength(2);
  });

  holds('ends what is open in a lane that is given up', async (store) => {
    const webhook = await newWebhook(store);
    await add(store.at(T0), [
      newDelivery(webhook, 'a'),
      newDelivery(webhook, 'a'),
      newDelivery(webhook, 'a'),
    ]);
    const lane = await claimOne(store.at(T0));
    await store.at(T0).abandonLane(lane.lease, 'disabled', 2);
    expect(await statesOf(store, webhook)).toEqual(['failed', 'failed', 'pending']);
    const rest = await claimOne(store.at(T0));
    await store.at(T0).abandonLane(rest.lease, 'disabled', 2);
    expect(await statesOf(store, webhook)).toEqual(['failed', 'failed', 'failed']);
    expect((await store.at(T0).claimLanes(CLAIM)).lanes).toEqual([]);
  });

  holds('remembers since when a webhook fails, until an attempt succeeds', async (store) => {
    const webhook = await newWebhook(store);
    const failingSince = async () => (await store.getWebhook(webhook.accountId, webhook.id))?.failingSince;
    await add(store.at(T0), [newDelivery(webhook, 'a')]);
    for (const time of [T0, T0 + 10]) {
      const lane = await claimOne(store.at(time));
      await store.at(time).finishAttempt(lane.lease, end(lane, { state: 'pending', retryInMs: 5 }), LEASE_MS);
      expect(await failingSince()).toBe(T0 + 5);
    }
    const lane = await claimOne(store.at(T0 + 20));
    await store.finishAttempt(lane.lease, end(lane, { state: 'delivered' }), LEASE_MS);
    expect(await failingSince()).toBeNull();
  });

  holds('knows how many deliveries wait, and how long the oldest has', async (store) => {
    expect(await store.deliveryBacklog()).toEqual({ pending: 0, oldestMs: 0 });
    const webhook = await newWebhook(store);
    await add(store.at(T0), [newDelivery(webhook, 'a'), newDelivery(webhook, 'a')]);
    await add(store.at(T0 + 5_000), [newDelivery(webhook, 'b')]);
    expect(await store.at(T0 + 9_000).deliveryBacklog()).toEqual({ pending: 3, oldestMs: 9_000 });
    const lane = await claimOne(store.at(T0 + 9_000));
    await store.finishAttempt(lane.lease, end(lane, { state: 'delivered' }), LEASE_MS);
    expect(await store.at(T0 + 9_000).deliveryBacklog()).toMatchObject({ pending: 2 });
  });

  holds('lists deliveries newest first, by state and type', async (store) => {
    const webhook = await newWebhook(store);
    const other = { id: 'e', type: 'page.done', at: T0, jobId: null, data: {} };
    const given = [
      newDelivery(webhook, 'a'),
      newDelivery(webhook, 'b', { event: other }),
      newDelivery(webhook, 'c'),
    ];
    await add(store.at(T0), given);
    const lane = await claimOne(store.at(T0));
    await store.finishAttempt(lane.lease, end(lane, { state: 'delivered' }), LEASE_MS);
    const query = { accountId: webhook.accountId, webhookId: webhook.id, limit: 2 };
    const first = await store.listDeliveries(query);
    const rest = await store.listDeliveries({ ...query, cursor: first.nextCursor ?? undefined });
    const ids = [...first.items, ...rest.items].map(({ id }) => id);
    expect(ids).toEqual(given.map(({ id }) => id).reverse());
    const typed = await store.listDeliveries({ ...query, type: 'page.done' });
    expect(typed.items.map(({ id }) => id)).toEqual([given[1]?.id]);
    expect((await store.listDeliveries({ ...query, state: 'delivered' })).items).toHaveLength(1);
    expect((await store.listDeliveries({ ...query, accountId: STRANGER })).items).toEqual([]);
  });

  holds('gives the data of webhooks to a change of the vault key', async (store) => {
    const open = await newWebhook(store, { data: Buffer.from('{}') });
    expect(await store.hasSealed()).toBe(false);
    const sealed = await newWebhook(store, { data: Uint8Array.of(2, 0, 254) });
    expect(await store.hasSealed()).toBe(true);
    const { items } = await store.listSecrets({ kind: 'webhook', limit: 10 });
    expect(items.map(({ name, data }) => [name, ...data])).toEqual([
      [open.id, 123, 125],
      [sealed.id, 2, 0, 254],
    ]);
    const [record] = items;
    if (record === undefined) throw new Error('There is one.');
    expect(await store.replaceSecret(record, Uint8Array.of(2, 7))).toBe(true);
    expect(await store.replaceSecret(record, Uint8Array.of(2, 8))).toBe(false);
    expect([...((await store.getWebhook(open.accountId, open.id))?.data ?? [])]).toEqual([2, 7]);
  });

  holds('deletes a webhook with its deliveries, and old deliveries alone', async (store) => {
    const jobId = randomUUID() as JobId;
    const [webhook, ofJob] = [await newWebhook(store), await newWebhook(store, { jobId })];
    await add(store.at(T0), [newDelivery(webhook, 'a'), newDelivery(webhook, 'b'), newDelivery(ofJob, 'a')]);
    for (let count = 0; count < 2; count += 1) {
      const lane = await claimOne(store.at(T0));
      await store.at(T0).finishAttempt(lane.lease, end(lane, { state: 'delivered' }), LEASE_MS);
    }
    expect(await store.at(T0).sweepDeliveries(T0, 10)).toBe(0);
    expect(await store.at(T0).sweepDeliveries(T0 + 1, 10)).toBeGreaterThanOrEqual(2);
    const open = await store.at(T0).claimLanes(CLAIM);
    expect(open.lanes).toHaveLength(1);
    expect(await store.deleteWebhook(webhook.accountId, webhook.id)).toBe(true);
    await store.deleteWebhook(ofJob.accountId, ofJob.id);
    for (const { lease, delivery } of open.lanes) {
      const finished = await store.finishAttempt(lease, end({ delivery }, { state: 'delivered' }), LEASE_MS);
      expect(finished.isKept).toBe(false);
      expect(await store.getDelivery(delivery.accountId, delivery.id)).toBeNull();
    }
  });
}
