import { randomUUID } from 'node:crypto';
import type { DeliveryId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import type { StoredWebhook } from '../../core/ports/webhook-store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import type { Deliverers } from './deliverer.ts';
import {
  CONFIRM_EVENT,
  countConfirmation,
  type MailRules,
  newConfirmToken,
  requireConfirmable,
} from './mail-addresses.ts';
import type { WebhookData } from './webhook-data.ts';
import { mailAddressOf, readTarget, type WebhookRequest, type WebhookTarget } from './webhook-request.ts';

export interface WebhookTargetsDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Which e-mail addresses may be used; null where there is no server for e-mail. */
  readonly mail: MailRules | null;
  /** Channels of plug-ins; left out where they are not known, because another process sends. */
  readonly deliverers?: Deliverers | undefined;
}

/** Where webhooks may send to, and asking the owner of an e-mail address. */
export type WebhookTargets = ReturnType<typeof createWebhookTargets>;

export function createWebhookTargets({ store, now, mail, deliverers }: WebhookTargetsDeps) {
  function targetOf(request: Pick<WebhookRequest, 'url' | 'format'>) {
    const target = readTarget(request.url, request.format, deliverers);
    if (target.format === 'email' && mail === null) {
      const message = 'Needs a server for e-mail: SCRAPIFIE_SMTP_URL and SCRAPIFIE_SMTP_FROM.';
      throw invalidRequest([{ field: 'url', message }]);
    }
    return target;
  }

  /** The token of a new e-mail target that has to be confirmed; undefined for all others. */
  function confirmationOf({ url, format }: Pick<WebhookTarget, 'url' | 'format'>): string | undefined {
    if (mail === null || format !== 'email' || mail.isAllowed(mailAddressOf(url))) return undefined;
    requireConfirmable(mail);
    return newConfirmToken();
  }

  /** Sends the link. The webhook shows as disabled until it is opened. */
  async function askToConfirm(webhook: StoredWebhook, data: WebhookData, id: DeliveryId): Promise<void> {
    const { accountId: account } = webhook;
    if ((await store.getDelivery(account, id)) !== null) return;
    const address = mailAddressOf(data.url);
    await countConfirmation(store, { account, webhook: webhook.id, address, delivery: id }, now());
    const event = { id: randomUUID(), type: CONFIRM_EVENT, at: now(), jobId: null, data: {} };
    const delivery = { id, webhookId: webhook.id, accountId: account, lane: event.id, event };
    await store.disableWebhook(webhook.id, 'unconfirmed');
    await store.addDelivery({ ...delivery, redeliveryOf: null });
  }

  return { targetOf, confirmationOf, askToConfirm };
}
