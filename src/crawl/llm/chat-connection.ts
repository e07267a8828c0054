import { isIP } from 'node:net';
import { Pool } from 'undici';
import { z } from 'zod';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type AddressClass, classifyAddress } from '../../fetch/guard/address-guard.ts';
import { createGuardedLookup } from '../../fetch/guard/guarded-lookup.ts';

/**
 * `faulty`: it may work a moment later. `refused`: it will not, the same way. Reasons never have anything of the request
 * in them, nor the server's own words, which may repeat the key or the page.
 */
export type ChatReply =
  | { readonly kind: 'ok'; readonly value: unknown }
  | {
      readonly kind: 'faulty';
      readonly reason: string;
      readonly waitMs: number | null;
      readonly isLimit: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly status: number; readonly error: ChatError };

/** What the server says is wrong, for decisions only. */
export interface ChatError {
  readonly code: string | null;
  readonly param: string | null;
  readonly message: string;
}

export interface ChatConnectionOptions {
  /** Where the interface begins: `https://host/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; null where the server wants none. */
  readonly apiKey: string | null;
  readonly connections: number;
  readonly maxAnswerBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const CONNECT_MS = 10_000;
/** The operator chose the server, so it may be in a network of theirs; these it can be only by mistake or deceit. */
const SAFE: ReadonlySet<AddressClass> = new Set(['public', 'loopback', 'private', 'shared']);
/** Where the key and the pages may travel unencrypted. */
const NEAR: ReadonlySet<AddressClass> = new Set(['loopback', 'private']);

const errorSchema = z.object({
  error: z.union([
    z.string().transform((message) => ({ message, code: null, param: null })),
    z.object({
      message: z.string().catch(''),
      code: z
        .union([z.string(), z.number().transform(String)])
        .nullish()
        .catch(null),
      param: z.string().nullish().catch(null),
    }),
  ]),
});
const NO_ERROR: ChatError = { code: null, param: null, message: '' };

/** One server that speaks OpenAI's protocol. */
export class ChatConnection {
  readonly #path: string;
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #maxAnswerBytes: number;
  readonly #now: () => number;
  readonly #closing = new AbortController();

  /** Throws INVALID_SETTINGS for an address that must not be used. */
  constructor({ baseUrl, apiKey, connections, maxAnswerBytes, now }: ChatConnectionOptions) {
    const base = usableUrl(baseUrl);
    const allowed = base.protocol === 'https:' ? SAFE : NEAR;
    this.#path = `${base.pathname.replace(/\/+$/, '')}/chat/completions${base.search}`;
    this.#headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    };
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#now = now;
    this.#pool = new Pool(base.origin, {
      connections,
      // The signal of the call is the only clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: CONNECT_MS,
        lookup: createGuardedLookup({ isAllowed: (address) => allowed.has(classifyAddress(address)) }),
      },
    });
  }

  /** Aborted with SHUTTING_DOWN by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Throws only when the signal ends it, with an error that says nothing. */
  async ask(body: unknown, signal: AbortSignal): Promise<ChatReply> {
    try {
      const response = await this.#pool.request({
        path: this.#path,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal,
      });
      const { statusCode, headers } = response;
      const text = await textOf(response.body, this.#maxAnswerBytes);
      if (text === null) return refused(statusCode, `its answer has more than ${this.#maxAnswerBytes} bytes`);
      return this.#read(statusCode, headers, text);
    } catch (error) {
      if (signal.aborted) throw new Error('The question was ended.');
      if (isScrapifieError(error)) {
        return refused(
          0,
          'its address is none that may be used this way (http is for private networks only)',
        );
      }
      return { kind: 'faulty', reason: 'it was not reached', waitMs: null, isLimit: false };
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new ScrapifieError('SHUTTING_DOWN', 'The language model is being closed'));
    await this.#pool.destroy();
  }

  #read(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    text: string,
  ): ChatReply {
    const value = parsed(text);
    if (status >= 200 && status < 300) {
      if (typeof value === 'object' && value !== null) return { kind: 'ok', value };
      return { kind: 'faulty', reason: 'its answer cannot be read', waitMs: null, isLimit: false };
    }
    const told = errorSchema.safeParse(value);
    const error: ChatError = told.success
      ? {
          message: told.data.error.message,
          code: told.data.error.code ?? null,
          param: told.data.error.param ?? null,
        }
      : NO_ERROR;
    const code = error.code !== null && /^[a-z][a-z_]{2,63}$/.test(error.code) ? `, ${error.code}` : '';
    const reason = `it answered with status ${status}${code}`;
    const isSpent = error.code === 'insufficient_quota' || error.code === 'billing_hard_limit_reached';
    if ((status === 429 && !isSpent) || status === 408 || status === 409 || status >= 500) {
      return { kind: 'faulty', reason, waitMs: retryAfterMs(headers, this.#now()), isLimit: status === 429 };
    }
    return { kind: 'refused', reason, status, error };
  }
}

function usableUrl(baseUrl: string): URL {
  const url = URL.parse(baseUrl);
  const wrong = (why: string): ScrapifieError =>
    new ScrapifieError('INVALID_SETTINGS', `The address of the language model ${why}.`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong('must be an http or https URL');
  if (url.username !== '' || url.password !== '')
    throw wrong('must not hold a login; the key is a setting of its own');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) {
    const kind = classifyAddress(host);
    if (!SAFE.has(kind)) throw wrong(`is a ${kind} address`);
    if (url.protocol === 'http:' && !NEAR.has(kind)) throw wrong('must be https outside of private networks');
  }
  return url;
}

function refused(status: number, reason: string): ChatReply {
  return { kind: 'refused', reason, status, error: NO_ERROR };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Null when it is longer than allowed. */
async function textOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number | null {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const written = headers['retry-after'];
  if (typeof written !== 'string' || written === '') return null;
  const seconds = Number(written);
  if (Number.isFinite(seconds)) return seconds < 0 ? null : seconds * 1_000;
  const at = Date.parse(written);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
