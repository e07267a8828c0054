import { Pool } from 'undici';
import type { z } from 'zod';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { UnsolvedDetails } from '../../core/ports/captcha.ts';
import { abortError } from '../deadline.ts';
import { codeOf } from '../network-errors.ts';

/**
 * `pending`: it is being worked on. `fault`: it may work a moment later. `refused`: it will not. The reason never has
 * anything of the request in it.
 */
export type Reply<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'pending' }
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** An answer that says no. */
type Declined = Extract<Reply<unknown>, { readonly reason: string }>;

export interface CaptchaApiClientOptions {
  /** Where the service is; a path is kept, and a login is sent as basic authentication. */
  readonly url: string;
  /** For one request and its answer. */
  readonly requestMs: number;
}

export interface CaptchaApiRequest {
  /** Below the service's address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The body of a POST; a request without one is a GET. */
  readonly body?: { readonly contentType: string; readonly text: string };
}

/** The most bytes of one answer: solver services answer with a few hundred. */
const MOST_BYTES = 1_048_576;
const CONNECT_MS = 10_000;

/** HTTP client of one solver service, with a time limit for each request. */
export class CaptchaApiClient {
  readonly #base: URL;
  readonly #authorization: Readonly<Record<string, string>>;
  readonly #requestMs: number;
  readonly #pool: Pool;
  readonly #closing = new AbortController();

  constructor({ url, requestMs }: CaptchaApiClientOptions) {
    const base = new URL(url);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    this.#authorization = loginHeader(base);
    this.#base = base;
    this.#requestMs = requestMs;
    this.#pool = new Pool(base.origin, {
      connections: 16,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: Math.min(CONNECT_MS, requestMs) },
    });
  }

  /** Aborted with SHUTTING_DOWN by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The answer as JSON. Throws only when the signal or `close` ends it. */
  async ask(request: CaptchaApiRequest, signal: AbortSignal): Promise<Reply<unknown>> {
    const late = AbortSignal.timeout(this.#requestMs);
    const end = AbortSignal.any([signal, this.#closing.signal]);
    const target = new URL(request.path, this.#base);
    for (const [name, value] of Object.entries(request.query ?? {})) target.searchParams.set(name, value);
    try {
      const { statusCode, body } = await this.#pool.request({
        path: target.pathname + target.search,
        method: request.body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...this.#authorization,
          ...(request.body === undefined ? {} : { 'content-type': request.body.contentType }),
        },
        body: request.body?.text ?? null,
        signal: AbortSignal.any([end, late]),
      });
      return read(statusCode, (await jsonWithin(body, MOST_BYTES)).value);
    } catch (error) {
      if (end.aborted) throw abortError(end.reason);
      if (late.aborted) return { kind: 'fault', reason: `no answer within ${this.#requestMs} ms` };
      return { kind: 'fault', reason: `it was not reached (${codeOf(error) || 'connection failed'})` };
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new ScrapifieError('SHUTTING_DOWN', 'The solver services are being closed'));
    await this.#pool.destroy();
  }
}

function read(statusCode: number, value: unknown): Reply<unknown> {
  if (statusCode === 429 || statusCode >= 500)
    return { kind: 'fault', reason: `it answered with status ${statusCode}` };
  if (typeof value === 'object' && value !== null) return { kind: 'ok', value };
  // A gateway answered, or the address is not that of a solver service.
  const reason = `its answer with status ${statusCode} cannot be read`;
  return { kind: statusCode >= 400 ? 'refused' : 'fault', reason };
}

/** The answer in the shape that the service promises. */
export function shaped<T>(reply: Reply<unknown>, schema: z.ZodType<T>): Reply<T> {
  if (reply.kind !== 'ok') return reply;
  const parsed = schema.safeParse(reply.value);
  if (parsed.success) return { kind: 'ok', value: parsed.data };
  return { kind: 'fault', reason: 'its answer has another shape' };
}

/** `passing` are the codes after which the same may work a moment later. */
export function declined(said: unknown, passing: ReadonlySet<string>, otherwise: string): Declined {
  const code = codeIn(said);
  if (code === null) return { kind: 'refused', reason: otherwise };
  return { kind: passing.has(code) ? 'fault' : 'refused', reason: code };
}

/** What an answer means, where it is one. */
export function whenOk<T, U>(reply: Reply<T>, next: (value: T) => Reply<U>): Reply<U> {
  return reply.kind === 'ok' ? next(reply.value) : reply;
}

/** Reads the JSON answer of a service; `value` is undefined when it is no JSON or too long. */
export async function jsonWithin(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly isTooLong: boolean; readonly value: unknown }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) return { isTooLong: true, value: undefined };
    chunks.push(chunk);
  }
  try {
    return { isTooLong: false, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { isTooLong: false, value: undefined };
  }
}

/** Basic authentication with the login of a URL, for services behind a gateway; none where it has no login. */
export function loginHeader({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

/** Codes after which asking again only angers the service: its owner has to do something first. */
const ACCOUNT_FAULTS: ReadonlySet<string> = new Set([
  'ERROR_WRONG_USER_KEY',
  'ERROR_KEY_DOES_NOT_EXIST',
  'ERROR_ZERO_BALANCE',
  'ERROR_IP_NOT_ALLOWED',
  'ERROR_IP_BLOCKED',
  'ERROR_IP_BANNED',
  'IP_BANNED',
  'ERROR_ACCOUNT_SUSPENDED',
]);

export function unsolved(solver: string, reason: string): ScrapifieError {
  const details: UnsolvedDetails = { solver, reason, isAccountFault: ACCOUNT_FAULTS.has(reason) };
  return new ScrapifieError('CAPTCHA_UNSOLVED', `${solver} did not solve the captcha: ${reason}`, {
    details,
  });
}

/** The details of CAPTCHA_UNSOLVED; null for every other error. */
export function detailsOf(error: unknown): UnsolvedDetails | null {
  if (!isScrapifieError(error) || error.code !== 'CAPTCHA_UNSOLVED') return null;
  return error.details as UnsolvedDetails;
}

/** Services name their errors in capitals. Any other text may be the page of a gateway, or repeat the API key. */
function codeIn(text: unknown): string | null {
  return typeof text === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(text) ? text : null;
}
