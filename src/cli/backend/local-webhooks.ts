import { parseRequest } from '../../capabilities/jobs/invalid-request.ts';
import type { Vault } from '../../capabilities/sessions/vault.ts';
import {
  changedWebhookView,
  deliveryDetailView,
  deliveryView,
  newWebhookView,
  webhookView,
} from '../../capabilities/views/webhook-view.ts';
import {
  rotationRequestSchema,
  webhookChangeSchema,
  webhookRequestSchema,
} from '../../capabilities/webhooks/webhook-request.ts';
import { auditedWebhook, createWebhooks } from '../../capabilities/webhooks/webhooks.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { AccountId, WebhookId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { type BackendWebhooks, MOST_LISTED } from './backend.ts';

export interface LocalWebhookParts {
  readonly store: Store;
  readonly account: AccountId;
  /** With the key that is there; null: none is. */
  readonly reading: Vault | null;
  /** With a key that is made where there is none. */
  readonly sealing: () => Promise<Vault | null>;
  readonly canMail: boolean;
  readonly audit: (action: AuditAction, target: string, details: object) => Promise<void>;
}

/** Webhooks of the store itself. A server that works on the same store sends what is added here. */
export function createLocalWebhooks(parts: LocalWebhookParts): BackendWebhooks {
  const { store, account, reading, sealing, canMail, audit } = parts;
  // The operator at the data folder allows the addresses that it names.
  const mail = canMail ? { isAllowed: () => true, origin: '' } : null;
  const webhooksWith = (vault: Vault | null) => createWebhooks({ store, vault, now: Date.now, mail });
  const known = webhooksWith(reading);
  return {
    async create(request) {
      const wanted = parseRequest(webhookRequestSchema, request);
      const created = await webhooksWith(await sealing()).create(account, wanted);
      await audit('webhook.create', created.webhook.id, auditedWebhook(created.webhook));
      return newWebhookView(created);
    },
    list: async (limit) => (await known.list({ accountId: account, limit })).items.map(webhookView),
    get: async (id) => webhookView(await known.get(account, id)),
    async change(id, patch) {
      const wanted = parseRequest(webhookChangeSchema, patch);
      const changed = await webhooksWith(await sealing()).change(account, id, wanted);
      await audit('webhook.change', id, { fields: Object.keys(wanted) });
      return changedWebhookView(changed);
    },
    async rotate(id, request) {
      const wanted = parseRequest(rotationRequestSchema, request);
      const rotated = await webhooksWith(await sealing()).rotate(account, id, wanted);
      await audit('webhook.rotate', id, { overlapHours: wanted.overlapHours });
      return newWebhookView(rotated);
    },
    async delete(id) {
      await known.delete(account, id);
      await audit('webhook.delete', id, {});
    },
    test: async (id) => deliveryDetailView(await known.test(account, id)),
    async deliveries(id, { state, event: type, limit }) {
      const query = { accountId: account, webhookId: id as WebhookId, state, type };
      const { items } = await known.deliveries({ ...query, limit: Math.min(limit, MOST_LISTED) });
      return items.map(deliveryView);
    },
    delivery: async (id) => deliveryDetailView(await known.delivery(account, id)),
    async redeliver(id) {
      const delivery = await known.redeliver(account, id);
      await audit('delivery.redeliver', id, { delivery: delivery.id });
      return deliveryDetailView(delivery);
    },
  };
}
