import { SignatureError } from './errors.ts';

export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface VerifyOptions {
  /** How far the time of the message may be from now, in both directions. */
  readonly toleranceSeconds?: number;
  /** The current time in epoch milliseconds. */
  readonly now?: number;
}

type Headers = globalThis.Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook and returns its event. `body` is the body as it came, before any parsing. Throws SignatureError
 * when the message is not signed by one of the secrets, or when its time is too far from now.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures)
    throw new SignatureError('The headers of a signed webhook are missing.');
  const seconds = Number(timestamp);
  if (!Number.isInteger(seconds)) throw new SignatureError('webhook-timestamp is no time.');
  if (Math.abs(now / 1_000 - seconds) > toleranceSeconds)
    throw new SignatureError('The message is too old or too new.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const message = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const given = signatures.split(' ').filter((each) => each.startsWith('v1,'));
  for (const each of typeof secret === 'string' ? [secret] : secret) {
    const key = await crypto.subtle.importKey('raw', keyOf(each), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ]);
    for (const signature of given) {
      const bytes = bytesOf(signature.slice(3));
      if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, message))) {
        return JSON.parse(text) as WebhookEvent;
      }
    }
  }
  throw new SignatureError('No signature fits.');
}

function headerOf(headers: Headers, name: string): string | undefined {
  if (headers instanceof globalThis.Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

/** Behind `whsec_` stands a key in base64; any other secret is the key itself. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = secret.startsWith('whsec_') ? bytesOf(secret.slice(6)) : new TextEncoder().encode(secret);
  if (bytes === null) throw new SignatureError('The secret is not in base64.');
  return bytes;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
