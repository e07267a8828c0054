import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { StoredWebhook } from '../../core/ports/webhook-store.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import { boundSecrets } from '../sessions/secret-fields.ts';
import type { WebhookData } from './webhook-data.ts';
import type { WebhookPatch } from './webhook-request.ts';
import type { WebhookTargets } from './webhook-targets.ts';

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
