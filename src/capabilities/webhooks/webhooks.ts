import { randomUUID } from 'node:crypto';
import { isPluginPart } from '../../core/config/plugin-part.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, DeliveryId, JobId, MonitorId, WebhookId } from '../../core/model/ids.ts';
import type { ListPage } from '../../core/ports/store.ts';
import type {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  NewDelivery,
  StoredWebhook,
  WebhookQuery,
} from '../../core/ports/webhook-store.ts';
import type { JobWebhook } from '../jobs/request/webhook-fields.ts';
import type { NotifyRequest } from '../monitors/monitor-request.ts';
import type { Vault } from '../sessions/vault.ts';
import { isConfirmToken } from './mail.ts';
import {
  type RotationRequest,
  readJobTarget,
  requireSecret,
  type WebhookPatch,
  type WebhookRequest,
} from './webhook-request.ts';
import { newSecret, packWebhook, unpackWebhook, type WebhookData } from './webhook-secrets.ts';
import {
  applyPatch,
  createWebhookTargets,
  inField,
  notifyPlaces,
  type WebhookTargetsDeps,
} from './webhook-targets.ts';

/** Where events are sent, by account. Every method throws NOT_FOUND for webhooks and deliveries of others. */
export interface Webhooks {
  /**
   * `id`: known before where the request may be repeated; a repeated one returns the first, with its secret. CONFLICT when
   * the account has as many as it may.
   */
  create(account: AccountId, request: WebhookRequest, id?: WebhookId): Promise<WithSecret>;
  /** Opens the link of a confirmation: the address gets mail from now on. NOT_FOUND for a link that is not valid. */
  confirm(account: string, id: string, token: string): Promise<StoredWebhook>;
  /** The webhook of a single job, stored before the job is. */
  createForJob(account: AccountId, jobId: JobId, webhook: JobWebhook): Promise<WebhookId>;
  /**
   * The webhooks of a single monitor, one for each place that `notify` names, stored before the monitor is. Their ids come
   * from `name`; those that are there already stay.
   */
  createForMonitor(
    account: AccountId,
    monitorId: MonitorId,
    notify: NotifyRequest,
    name: string,
  ): Promise<readonly WebhookId[]>;
  get(account: AccountId, id: string): Promise<StoredWebhook>;
  list(query: WebhookQuery): Promise<ListPage<StoredWebhook>>;
  /**
   * A change to another receiver, by the origin of its URL or by its format, takes nothing along that the former
   * receiver was trusted with: SECRETS_BOUND unless headers that it has are given anew, and there is a new secret, which is told.
   */
  change(account: AccountId, id: string, patch: WebhookPatch): Promise<ChangedWebhook>;
  /**
   * The former secret goes on being valid for a time, and those before it for as long as they have been promised to, so
   * that a rotation whose answer was lost can be repeated. `overlapHours` 0 ends all of them at once.
   */
  rotate(account: AccountId, id: string, request: RotationRequest): Promise<WithSecret>;
  delete(account: AccountId, id: string): Promise<void>;
  /**
   * Sends an event of the type `webhook.test`. CONFLICT when the webhook is disabled. `deliveryId`: known before where
   * the request may be repeated; a repeated one returns the first delivery.
   */
  test(account: AccountId, id: string, deliveryId?: DeliveryId): Promise<DeliveryDetail>;
  deliveries(query: DeliveryQuery): Promise<ListPage<Delivery>>;
  delivery(account: AccountId, id: string): Promise<DeliveryDetail>;
  /** Sends the event of a delivery once more, apart from the order of its job. CONFLICT when the webhook is disabled. */
  redeliver(account: AccountId, id: string, deliveryId?: DeliveryId): Promise<DeliveryDetail>;
}

export interface WithSecret {
  readonly webhook: StoredWebhook;
  readonly secret: string;
}

export interface ChangedWebhook {
  readonly webhook: StoredWebhook;
  /** Null when it has stayed as it was. */
  readonly secret: string | null;
}

export interface WebhooksDeps extends WebhookTargetsDeps {
  readonly vault: Vault | null;
}

const MOST_TRIES = 10;
const MOST_FORMER_SECRETS = 4;
/** Webhooks of one account, without those of single jobs. Requests at the same moment may make a few more. */
const MOST_WEBHOOKS = 100;

/**
 * What the audit log has of a new webhook. The log outlives accounts, so it has no e-mail address and no path, which may be
 * a secret.
 */
export const auditedWebhook = ({ format, events, target }: StoredWebhook) => ({
  format,
  events,
  ...(format === 'email' || isPluginPart(format) ? {} : { origin: new URL(target).origin }),
});

export const webhookIdOfJob = (jobId: JobId): WebhookId => `wh_${jobId}` as WebhookId;

export function createWebhooks({ store, vault, now, mail, deliverers }: WebhooksDeps): Webhooks {
  const targets = createWebhookTargets({ store, now, mail, deliverers });
  const { targetOf, confirmationOf, askToConfirm } = targets;

  async function get(account: AccountId, id: string): Promise<StoredWebhook> {
    const webhook = await store.getWebhook(account, id as WebhookId);
    if (webhook === null) throw new ScrapifieError('NOT_FOUND', `There is no webhook ${id.slice(0, 100)}.`);
    return webhook;
  }

  /** Reads, changes and stores; begins anew when another writer was first. */
  async function update(
    account: AccountId,
    id: string,
    change: (
      webhook: StoredWebhook,
      data: WebhookData,
    ) => { webhook: StoredWebhook; data: WebhookData; isEnabled: boolean },
  ): Promise<StoredWebhook> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const current = await get(account, id);
      const { webhook, data, isEnabled } = change(current, unpackWebhook(current, vault));
      const packed = packWebhook(data, vault, current);
      if (await store.updateWebhook(account, { ...webhook, data: packed, isEnabled }))
        return get(account, id);
    }
    throw new ScrapifieError('CONFLICT', 'Other requests keep changing the webhook; try again.');
  }

  async function requireRoom(accountId: AccountId, id: WebhookId): Promise<void> {
    const { items } = await store.listWebhooks({ accountId, limit: MOST_WEBHOOKS });
    if (items.length < MOST_WEBHOOKS || (await store.getWebhook(accountId, id)) !== null) return;
    const message = `The account has ${MOST_WEBHOOKS} webhooks, which is the most; delete one first.`;
    throw new ScrapifieError('CONFLICT', message);
  }

  async function send(webhook: StoredWebhook, delivery: NewDelivery): Promise<DeliveryDetail> {
    const first = await store.getDelivery(webhook.accountId, delivery.id);
    if (first !== null) return first;
    if (webhook.disabledAt !== null || !(await store.addDelivery(delivery))) {
      throw new ScrapifieError('CONFLICT', 'The webhook is disabled; enable it first.');
    }
    return getDelivery(webhook.accountId, delivery.id);
  }

  async function getDelivery(account: AccountId, id: string): Promise<DeliveryDetail> {
    const delivery = await store.getDelivery(account, id as DeliveryId);
    if (delivery === null) throw new ScrapifieError('NOT_FOUND', `There is no delivery ${id.slice(0, 100)}.`);
    return delivery;
  }

  return {
    get,
    async create(accountId, request, id = newWebhookId()) {
      requireSecret(request.secret);
      const { url, format, shown } = targetOf(request);
      await requireRoom(accountId, id);
      const { events, headers = {}, secret = newSecret() } = request;
      const confirm = confirmationOf({ url, format });
      const fresh = { url, headers, secrets: [{ secret, until: null }], ...(confirm && { confirm }) };
      const data = packWebhook(fresh, vault, { id, accountId });
      const webhook = await store.createWebhook({
        id,
        accountId,
        jobId: null,
        format,
        events,
        target: shown,
        data,
      });
      const stored = unpackWebhook(webhook, vault);
      if (stored.confirm !== undefined) await askToConfirm(webhook, stored, confirmationId(id));
      return { webhook: await get(accountId, id), secret: stored.secrets[0]?.secret ?? secret };
    },
    async confirm(account, id, token) {
      const webhook = await store.getWebhook(account as AccountId, id as WebhookId);
      const expected = webhook === null ? undefined : unpackWebhook(webhook, vault).confirm;
      if (webhook === null || expected === undefined || !isConfirmToken(token, expected)) {
        throw new ScrapifieError('NOT_FOUND', 'The link is not valid any more. Ask for another one.');
      }
      return update(webhook.accountId, id, (current, { confirm, ...data }) => ({
        webhook: current,
        // Another address may have been given meanwhile: its link is another one.
        data: confirm === expected ? data : { ...data, ...(confirm && { confirm }) },
        isEnabled: confirm === expected,
      }));
    },
    async createForJob(accountId, jobId, { url: given, events, secret, headers = {}, shape }) {
      const { url, shown } = readJobTarget(given);
      requireSecret(secret, 'webhook.secret');
      const id = webhookIdOfJob(jobId);
      const secrets = secret === undefined ? [] : [{ secret, until: null }];
      const fresh = { url, headers, secrets, ...(shape && { shape }) };
      const data = packWebhook(fresh, vault, { id, accountId });
      await store.createWebhook({ id, accountId, jobId, format: 'json', events, target: shown, data });
      return id;
    },
    async createForMonitor(accountId, monitorId, notify, name) {
      const places = notifyPlaces(notify).map(({ field, format, url: given, secret, headers = {} }) => {
        requireSecret(secret, 'notify.webhook.secret');
        const { url, format: read, shown } = inField(field, () => targetOf({ url: given, format }));
        const confirm = confirmationOf({ url, format: read });
        const secrets = secret === undefined ? [] : [{ secret, until: null }];
        return { format: read, shown, fresh: { url, headers, secrets, ...(confirm && { confirm }) } };
      });
      const ids: WebhookId[] = [];
      for (const { format, shown, fresh } of places) {
        const id = `wh_${name}-${format}` as WebhookId;
        const data = packWebhook(fresh, vault, { id, accountId });
        const { events } = notify;
        const webhook = await store.createWebhook({
          id,
          accountId,
          jobId: null,
          monitorId,
          format,
          events,
          target: shown,
          data,
        });
        const kept = unpackWebhook(webhook, vault);
        if (kept.confirm !== undefined) await askToConfirm(webhook, kept, confirmationId(id));
        ids.push(id);
      }
      return ids;
    },
    list: (query) => store.listWebhooks(query),
    async change(account, id, patch) {
      requireSecret(patch.secret);
      const fresh = patch.secret ?? newSecret();
      let secret: string | null = null;
      let unconfirmed: WebhookData | null = null;
      const changed = await update(account, id, (webhook, data) => {
        const applied = applyPatch(webhook, data, patch, { ...targets, fresh });
        secret = applied.secret;
        unconfirmed = applied.isUnconfirmed ? applied.data : null;
        return applied;
      });
      if (unconfirmed === null) return { webhook: changed, secret };
      await askToConfirm(changed, unconfirmed, newDeliveryId());
      return { webhook: await get(account, id), secret };
    },
    async rotate(account, id, { secret = newSecret(), overlapHours }) {
      requireSecret(secret);
      const webhook = await update(account, id, (current, data) => {
        const until = now() + overlapHours * 3_600_000;
        const former = data.secrets
          .map((each) => ({ ...each, until: each.until ?? until }))
          .filter((each) => each.until > now())
          .slice(0, MOST_FORMER_SECRETS);
        const secrets = [{ secret, until: null }, ...(overlapHours === 0 ? [] : former)];
        return { webhook: current, data: { ...data, secrets }, isEnabled: current.disabledAt === null };
      });
      return { webhook, secret };
    },
    async delete(account, id) {
      await get(account, id);
      await store.deleteWebhook(account, id as WebhookId);
    },
    async test(account, id, deliveryId = newDeliveryId()) {
      const webhook = await get(account, id);
      const stored = unpackWebhook(webhook, vault);
      if (stored.confirm !== undefined) {
        await askToConfirm(webhook, stored, deliveryId);
        return getDelivery(account, deliveryId);
      }
      const eventId = randomUUID();
      const data = { message: 'A test of this webhook.' };
      return send(webhook, {
        id: deliveryId,
        webhookId: webhook.id,
        accountId: account,
        lane: eventId,
        event: { id: eventId, type: 'webhook.test', at: now(), jobId: null, data },
        redeliveryOf: null,
      });
    },
    async deliveries(query) {
      await get(query.accountId, query.webhookId);
      return store.listDeliveries(query);
    },
    delivery: getDelivery,
    async redeliver(account, id, again = newDeliveryId()) {
      const first = await getDelivery(account, id);
      const { webhookId, event } = first;
      const webhook = await get(account, webhookId);
      return send(webhook, {
        id: again,
        webhookId,
        accountId: account,
        lane: again,
        event,
        redeliveryOf: first.id,
      });
    },
  };
}

/**
 * The id of the message that asks an address to confirm, the same however often the request that makes the webhook is
 * repeated.
 */
const confirmationId = (id: WebhookId): DeliveryId => `dl_confirm_${id}` as DeliveryId;

export const newWebhookId = (): WebhookId => `wh_${randomUUID()}` as WebhookId;
export const newDeliveryId = (): DeliveryId => `dl_${randomUUID()}` as DeliveryId;
