import { Pool } from 'undici';
import type { z } from 'zod';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { codeOf } from '../http/error-map.ts';
import { jsonWithin, loginHeader } from './solver-answer.ts';
import { codeIn, ended } from './unsolved.ts';

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

export interface LineOptions {
  /** Where the service is; a path is kept, and a login is sent as basic authentication. */
  readonly url: string;
  /** For one question and its answer. */
  readonly requestMs: number;
}

export interface Question {
  /** Below the service's address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Without one it is a GET. */
  readonly body?: { readonly contentType: string; readonly text: string };
}

/** Answers are short. */
const MOST_BYTES = 1_048_576;
const CONNECT_MS = 10_000;

/** Questions to one solver service, one at a time each with its time limit. */
export class SolverLine {
  readonly #base: URL;
  readonly #authorization: Readonly<Record<string, string>>;
  readonly #requestMs: number;
  readonly #pool: Pool;
  readonly #closing = new AbortController();

  constructor({ url, requestMs }: LineOptions) {
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
  async ask(question: Question, signal: AbortSignal): Promise<Reply<unknown>> {
    const late = AbortSignal.timeout(this.#requestMs);
    const end = AbortSignal.any([signal, this.#closing.signal]);
    const target = new URL(question.path, this.#base);
    for (const [name, value] of Object.entries(question.query ?? {})) target.searchParams.set(name, value);
    try {
      const { statusCode, body } = await this.#pool.request({
        path: target.pathname + target.search,
        method: question.body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...this.#authorization,
          ...(question.body === undefined ? {} : { 'content-type': question.body.contentType }),
        },
        body: question.body?.text ?? null,
        signal: AbortSignal.any([end, late]),
      });
      return read(statusCode, (await jsonWithin(body, MOST_BYTES)).value);
    } catch (error) {
      if (end.aborted) throw ended(end.reason);
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
  // Somebody in between answered, or the address is not that of such a service.
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
