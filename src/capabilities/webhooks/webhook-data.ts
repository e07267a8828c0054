import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { StoredWebhook } from '../../core/ports/webhook-store.ts';
import type { WebhookShape } from '../jobs/request/webhook-fields.ts';
import { isSealed, lockedBy, type Vault, type VaultPlace } from '../sessions/vault.ts';

/** What is secret of a webhook. */
export interface WebhookData {
  readonly url: string;
  /** The newest first; `until` is null for the one that stays. */
  readonly secrets: readonly { readonly secret: string; readonly until: number | null }[];
  readonly headers: Readonly<Record<string, string>>;
  /** The secret of the link by which the owner of an e-mail address confirms it; missing: confirmed, or not needed. */
  readonly confirm?: string;
  /** Messages are written by this one of the shapes that the sender knows; missing: as our own. */
  readonly shape?: WebhookShape;
}

type Place = Pick<StoredWebhook, 'id' | 'accountId'>;

const placeOf = ({ id, accountId }: Place): VaultPlace => ({ kind: 'webhook', accountId, name: id });

/** Sealed; as plain JSON only where the operator allows secrets in the open. */
export function packWebhook(data: WebhookData, vault: Vault | null, webhook: Place): Uint8Array {
  const plain = Buffer.from(JSON.stringify(data));
  return vault === null ? plain : vault.seal(plain, placeOf(webhook));
}

export function unpackWebhook(
  { data, ...webhook }: Place & Pick<StoredWebhook, 'data'>,
  vault: Vault | null,
): WebhookData {
  const place = placeOf(webhook);
  if (isSealed(data) && vault === null) throw lockedBy(data, place, null);
  const plain = isSealed(data) && vault !== null ? vault.open(data, place) : data;
  try {
    return JSON.parse(Buffer.from(plain).toString('utf8')) as WebhookData;
  } catch {
    // Without the cause, which quotes what it could not read.
    throw new ScrapifieError('DATABASE_CORRUPT', `The webhook ${webhook.id} is damaged. Delete it.`);
  }
}

export const validSecrets = ({ secrets }: WebhookData, now: number): string[] =>
  secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret);
