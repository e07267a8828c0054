import { createHmac, randomBytes } from 'node:crypto';

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
  /** The same in every attempt. */
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
