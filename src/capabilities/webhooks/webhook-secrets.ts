import { createHmac, randomBytes } from 'node:crypto';
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

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** Behind `whsec_` stands a key in base64; any other secret is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX)
    ? Buffer.from(secret.slice(PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Why a secret cannot be used; null when it can. */
export function secretProblem(secret: string): string | null {
  if (!secret.startsWith(PREFIX)) {
    return secret.length >= 16 ? null : 'Must have 16 characters or more.';
  }
  const isKey = BASE64.test(secret.slice(PREFIX.length));
  const { length } = keyOf(secret);
  return isKey && length >= 24 && length <= 64
    ? null
    : 'Behind `whsec_` must stand 24 to 64 bytes in base64.';
}

export interface SignedMessage {
  /** Equal in every attempt to send the message. */
  readonly id: string;
  /** When this attempt is made. */
  readonly at: number;
  readonly body: string;
  /** The newest first; empty: the message is not signed. */
  readonly secrets: readonly string[];
}

/**
 * The headers of Standard Webhooks, with one signature for each secret, and `x-webhook-signature`: the hex HMAC-SHA256 of
 * the body alone, by the text of the newest secret.
 */
export function signatureHeaders({ id, at, body, secrets }: SignedMessage): Record<string, string> {
  const seconds = String(Math.floor(at / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': seconds };
  const [newest] = secrets;
  if (newest === undefined) return headers;
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`);
    return `v1,${hmac.digest('base64')}`;
  });
  return {
    ...headers,
    'webhook-signature': signatures.join(' '),
    'x-webhook-signature': createHmac('sha256', newest).update(body).digest('hex'),
  };
}
