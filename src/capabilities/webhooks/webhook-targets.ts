import { randomUUID } from 'node:crypto';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { DeliveryId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import type { StoredWebhook, WebhookFormat } from '../../core/ports/webhook-store.ts';
import { type FieldProblem, invalidRequest } from '../jobs/request/invalid-request.ts';
import type { NotifyRequest } from '../monitors/monitor-request.ts';
import { boundSecrets } from '../sessions/secret-fields.ts';
import type { Deliverers } from './deliverer.ts';
import {
  CONFIRM_EVENT,
  countConfirmation,
  type MailRules,
  newConfirmToken,
  requireConfirmable,
} from './mail.ts';
import {
  mailAddressOf,
  readTarget,
  type WebhookPatch,
  type WebhookRequest,
  type WebhookTarget,
} from './webhook-request.ts';
import type { WebhookData } from './webhook-secrets.ts';

export interface WebhookTargetsDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Which e-mail addresses may be used; null where there is no server for e-mail. */
  readonly mail: MailRules | null;
  /** Channels of plug-ins; left out where they are not known, because another process sends. */
  readonly deliverers?: Deliverers | undefined;
}

/** Where webhooks may send to, and asking the owner of an e-mail address. */
type WebhookTargets = ReturnType<typeof createWebhookTargets>;

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

/** A place that `notify` of a monitor names, in the form of a webhook. */
export interface NotifyPlace {
  readonly field: string;
  readonly format: WebhookFormat;
  readonly url: string;
  readonly secret?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const CHATS = ['slack', 'discord', 'teams', 'ntfy'] as const;

export function notifyPlaces(notify: NotifyRequest): NotifyPlace[] {
  const { webhook, email } = notify;
  const chats = CHATS.flatMap((format): NotifyPlace[] => {
    const url = notify[format];
    return url === undefined ? [] : [{ field: `notify.${format}`, format, url }];
  });
  return [
    ...(webhook === undefined ? [] : [{ field: 'notify.webhook.url', format: 'json' as const, ...webhook }]),
    ...(email === undefined
      ? []
      : [{ field: 'notify.email', format: 'email' as const, url: `mailto:${email}` }]),
    ...chats,
  ];
}

/** Problems of an address are those of the field that has it. */
export function inField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isScrapifieError(error) || !Array.isArray(error.details)) throw error;
    const [problem] = error.details as FieldProblem[];
    throw invalidRequest([{ field, message: problem?.message ?? error.message }]);
  }
}

export interface PatchedWebhook {
  readonly webhook: StoredWebhook;
  readonly data: WebhookData;
  readonly isEnabled: boolean;
  /** The secret that the webhook has from now on; null: it has stayed as it was. */
  readonly secret: string | null;
  /** The owner of the new address has to be asked. */
  readonly isUnconfirmed: boolean;
}

/**
 * What a change makes of a webhook. Another receiver gets neither the secret nor the headers that were meant for the former
 * one. Throws INVALID_REQUEST and CONFLICT.
 */
export function applyPatch(
  webhook: StoredWebhook,
  data: WebhookData,
  patch: WebhookPatch,
  {
    fresh,
    targetOf,
    confirmationOf,
  }: Pick<WebhookTargets, 'targetOf' | 'confirmationOf'> & {
    /** The secret for another receiver. */
    readonly fresh: string;
  },
): PatchedWebhook {
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
  if (isElsewhere && patch.headers === undefined && Object.keys(data.headers).length > 0) {
    throw boundSecrets(['headers'], ['the new receiver'], 'headers');
  }
  const confirm = isElsewhere ? confirmationOf({ url, format }) : data.confirm;
  if (patch.enabled === true && confirm !== undefined && !isElsewhere) {
    const message = 'The address is not confirmed: open the link in the mail; `test` sends it again.';
    throw new ScrapifieError('CONFLICT', message);
  }
  // The webhook of a job may have been made without one, and is not signed then.
  const isSigned = data.secrets.length > 0 || patch.secret !== undefined;
  const secret = isElsewhere && isSigned ? fresh : null;
  const isUnconfirmed = confirm !== undefined && isElsewhere;
  return {
    webhook: { ...webhook, events: patch.events ?? webhook.events, format, target: shown },
    data: {
      url,
      headers: patch.headers ?? data.headers,
      secrets: secret === null ? data.secrets : [{ secret, until: null }],
      ...(confirm && { confirm }),
    },
    isEnabled: patch.enabled ?? (isUnconfirmed || webhook.disabledAt === null),
    secret,
    isUnconfirmed,
  };
}

/** The receiver of the messages: the server behind a URL, or the one address of e-mail. */
function receiverOf(url: string): string {
  const { protocol, origin, href } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? origin : href;
}

/** The format of a webhook stays when its address changes, but for changes from and to e-mail. */
function formatFor(url: string | undefined, webhook: StoredWebhook) {
  const isMail = url?.toLowerCase().startsWith('mailto:') ?? webhook.format === 'email';
  return isMail || webhook.format === 'email' ? undefined : webhook.format;
}
