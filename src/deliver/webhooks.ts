import { randomUUID } from 'node:crypto';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { invalidRequest } from '../jobs/invalid-request.ts';
import type { JobWebhook } from '../jobs/webhook-fields.ts';
import type { AccountId, DeliveryId, JobId, WebhookId } from '../model/ids.ts';
import type { ListPage, Store } from '../ports/store.ts';
import type {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  NewDelivery,
  StoredWebhook,
  WebhookQuery,
} from '../ports/webhook-store.ts';
import type { Vault } from '../sessions/vault.ts';
import { newSecret } from './signature.ts';
import { packWebhook, unpackWebhook, type WebhookData } from './webhook-data.ts';
import {
  type RotationRequest,
  readJobTarget,
  readTarget,
  requireSecret,
  type WebhookPatch,
  type WebhookRequest,
} from './webhook-request.ts';

/** Where events are sent, by account. Every method throws NOT_FOUND for webhooks and deliveries of others. */
export interface Webhooks {
  /** `id`: known before where the request may be repeated; a repeated one returns the first, with its secret. */
  create(account: AccountId, request: WebhookRequest, id?: WebhookId): Promise<WithSecret>;
  /** The webhook of a single job, stored before the job is. */
  createForJob(account: AccountId, jobId: JobId, webhook: JobWebhook): Promise<WebhookId>;
  get(account: AccountId, id: string): Promise<StoredWebhook>;
  list(query: WebhookQuery): Promise<ListPage<StoredWebhook>>;
  /**
   * With another receiver, by the origin of its URL or by its format, nothing that the former receiver was trusted with
   * stays: headers are dropped unless given, and there is a new secret, which is told.
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
  /** Null: it has stayed as it was. */
  readonly secret: string | null;
}

export interface WebhooksDeps {
  readonly store: Store;
  readonly vault: Vault | null;
  readonly now: () => number;
  /** Whether there is a server for e-mail. */
  readonly canMail: boolean;
}

const MOST_TRIES = 10;
const MOST_FORMER_SECRETS = 4;

export const webhookIdOfJob = (jobId: JobId): WebhookId => `wh_${jobId}` as WebhookId;

export function createWebhooks({ store, vault, now, canMail }: WebhooksDeps): Webhooks {
  function targetOf(request: Pick<WebhookRequest, 'url' | 'format'>) {
    const target = readTarget(request.url, request.format);
    if (target.format === 'email' && !canMail) {
      const message = 'Needs a server for e-mail: SCRAPIFIE_SMTP_URL and SCRAPIFIE_SMTP_FROM.';
      throw invalidRequest([{ field: 'url', message }]);
    }
    return target;
  }

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
      const { events, headers = {}, secret = newSecret() } = request;
      const data = packWebhook({ url, headers, secrets: [{ secret, until: null }] }, vault, {
        id,
        accountId,
      });
      const webhook = await store.createWebhook({
        id,
        accountId,
        jobId: null,
        format,
        events,
        target: shown,
        data,
      });
      return { webhook, secret: unpackWebhook(webhook, vault).secrets[0]?.secret ?? secret };
    },
    async createForJob(accountId, jobId, { url: given, events, secret, headers = {} }) {
      const { url, shown } = readJobTarget(given);
      requireSecret(secret, 'webhook.secret');
      const id = webhookIdOfJob(jobId);
      const secrets = secret === undefined ? [] : [{ secret, until: null }];
      const data = packWebhook({ url, headers, secrets }, vault, { id, accountId });
      await store.createWebhook({ id, accountId, jobId, format: 'json', events, target: shown, data });
      return id;
    },
    list: (query) => store.listWebhooks(query),
    async change(account, id, patch) {
      requireSecret(patch.secret);
      const fresh = patch.secret ?? newSecret();
      let secret: string | null = null;
      const changed = await update(account, id, (webhook, data) => {
        const isMoved = patch.url !== undefined || patch.format !== undefined;
        const { url, format, shown } = isMoved
          ? targetOf({ url: patch.url ?? data.url, format: patch.format ?? formatFor(patch.url, webhook) })
          : { url: data.url, format: webhook.format, shown: webhook.target };
        if (patch.url === undefined && format !== webhook.format && format === 'json') {
          const message = 'Must be given: the address of a chat is not shown, and that of `json` is.';
          throw invalidRequest([{ field: 'url', message }]);
        }
        const isElsewhere = format !== webhook.format || receiverOf(url) !== receiverOf(data.url);
        if (patch.secret !== undefined && !isElsewhere) {
          const message = 'Only with another origin of the URL or another format; use `rotate`.';
          throw invalidRequest([{ field: 'secret', message }]);
        }
        // The webhook of a job may have been made without one, and is not signed then.
        const isSigned = data.secrets.length > 0 || patch.secret !== undefined;
        secret = isElsewhere && isSigned ? fresh : null;
        return {
          webhook: { ...webhook, events: patch.events ?? webhook.events, format, target: shown },
          data: {
            url,
            headers: patch.headers ?? (isElsewhere ? {} : data.headers),
            secrets: secret === null ? data.secrets : [{ secret, until: null }],
          },
          isEnabled: patch.enabled ?? webhook.disabledAt === null,
        };
      });
      return { webhook: changed, secret };
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

export const newWebhookId = (): WebhookId => `wh_${randomUUID()}` as WebhookId;
export const newDeliveryId = (): DeliveryId => `dl_${randomUUID()}` as DeliveryId;

/** Who gets what is sent: the server behind a URL, or the one address of e-mail. */
function receiverOf(url: string): string {
  const { protocol, origin, href } = new URL(url);
  return protocol === 'mailto:' ? href : origin;
}

/** The format of a webhook stays when its address changes, but for changes from and to e-mail. */
function formatFor(url: string | undefined, webhook: StoredWebhook) {
  const isMail = url?.toLowerCase().startsWith('mailto:') ?? webhook.format === 'email';
  return isMail || webhook.format === 'email' ? undefined : webhook.format;
}
