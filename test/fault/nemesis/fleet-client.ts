import { setTimeout as delay } from 'node:timers/promises';
import type { RefusalRecord } from './history.ts';

export interface FleetClientOptions {
  readonly origin: string;
  readonly apiKey: string;
  /** How long one question is asked again while it gets no answer. */
  readonly patienceMs: number;
  /** Hears of every try that got no answer of use. */
  readonly onRefusal?: (refusal: RefusalRecord) => void;
}

export interface Answered {
  readonly status: number;
  readonly data: unknown;
  readonly code: string | null;
}

export interface Question {
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** Time limit of one attempt; 15 s when left out. */
  readonly limitMs?: number;
}

/**
 * The API as a patient client uses it: what is not answered, answered with 429 or 5xx, or answered from memory while the
 * store is away, is asked again. Every other answer is the answer.
 */
export interface FleetClient {
  ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, question?: Question): Promise<Answered>;
  /** All lines, from the beginning again when the stream breaks off. Null when there is no such list. */
  lines<T>(path: string, pick: (line: string) => T): Promise<T[] | null>;
}

const ANSWER_MS = 15_000;
const STREAM_MS = 600_000;
const PAUSE_MS = 300;
const STALE = 'x-scrapifie-stale';

export function createFleetClient(options: FleetClientOptions): FleetClient {
  const { origin, apiKey, patienceMs, onRefusal = () => undefined } = options;
  const authorization = { authorization: `Bearer ${apiKey}` };

  async function patiently<T>(path: string, ask: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (performance.now() > deadline) {
          throw new Error(`${path} was not answered: ${String(error)}`, { cause: error });
        }
        await delay(PAUSE_MS);
      }
    }
  }

  async function send(path: string, init: RequestInit, limitMs: number): Promise<Response> {
    const { method = 'GET' } = init;
    const asked = { at: Date.now(), what: `${method} ${path.split('?', 1)[0]}` };
    const response = await fetch(origin + path, { ...init, signal: AbortSignal.timeout(limitMs) }).catch(
      (error: Error) => {
        const { cause } = error;
        const told = `${error.message}${cause instanceof Error ? `: ${cause.message}` : ''}`;
        onRefusal({ ...asked, status: null, told, retryAfter: null });
        throw error;
      },
    );
    const { status, headers } = response;
    if (status !== 429 && status < 500 && headers.get(STALE) === null) return response;
    const told = `${status} ${(await response.text()).slice(0, 500)}`;
    onRefusal({ ...asked, status, told, retryAfter: headers.get('retry-after') });
    throw new Error(told);
  }

  return {
    ask: (method, path, { body, idempotencyKey, limitMs = ANSWER_MS } = {}) =>
      patiently(`${method} ${path}`, async () => {
        const headers = {
          ...authorization,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        };
        const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
        const response = await send(path, init, limitMs);
        const answer = (await response.json()) as { data?: unknown; error?: { code?: string } };
        return { status: response.status, data: answer.data ?? null, code: answer.error?.code ?? null };
      }),
    lines: (path, pick) =>
      patiently(path, async () => {
        const headers = { ...authorization, accept: 'application/x-ndjson' };
        const { body, status } = await send(path, { headers }, STREAM_MS);
        if (status === 404) return null;
        if (status !== 200) throw new Error(`${status}`);
        const picked = [];
        if (body !== null) for await (const line of linesOf(body)) picked.push(pick(line));
        return picked;
      }),
  };
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') throw new Error('The stream ended within a line.');
}
