import { setTimeout as delay } from 'node:timers/promises';

export interface FleetClientOptions {
  readonly origin: string;
  readonly apiKey: string;
  /** How long one question is asked again while nobody answers it. */
  readonly patienceMs: number;
}

/** The API as a patient client uses it: what is not answered, or answered with 429 or 5xx, is asked again. */
export interface FleetClient {
  post(path: string, body: unknown, idempotencyKey: string): Promise<unknown>;
  get(path: string): Promise<unknown>;
  /** All lines, from the beginning again when the stream breaks off. */
  lines<T>(path: string, pick: (line: string) => T): Promise<T[]>;
}

const ANSWER_MS = 15_000;
const STREAM_MS = 600_000;
const PAUSE_MS = 500;

export function createFleetClient({ origin, apiKey, patienceMs }: FleetClientOptions): FleetClient {
  const authorization = { authorization: `Bearer ${apiKey}` };

  async function patiently<T>(path: string, ask: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof Refusal || performance.now() > deadline) {
          throw new Error(`${path} was not answered: ${String(error)}`, { cause: error });
        }
        await delay(PAUSE_MS);
      }
    }
  }

  async function send(path: string, init: RequestInit, limitMs: number): Promise<Response> {
    const response = await fetch(origin + path, { ...init, signal: AbortSignal.timeout(limitMs) });
    if (response.ok) return response;
    const text = `${response.status} ${(await response.text()).slice(0, 500)}`;
    throw response.status === 429 || response.status >= 500 ? new Error(text) : new Refusal(text);
  }

  async function dataOf(response: Response): Promise<unknown> {
    return ((await response.json()) as { data: unknown }).data;
  }

  return {
    post: (path, body, idempotencyKey) =>
      patiently(path, async () => {
        const headers = {
          ...authorization,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        };
        return dataOf(await send(path, { method: 'POST', headers, body: JSON.stringify(body) }, ANSWER_MS));
      }),
    get: (path) =>
      patiently(path, async () => dataOf(await send(path, { headers: authorization }, ANSWER_MS))),
    lines: (path, pick) =>
      patiently(path, async () => {
        const headers = { ...authorization, accept: 'application/x-ndjson' };
        const { body } = await send(path, { headers }, STREAM_MS);
        const picked = [];
        if (body !== null) for await (const line of linesOf(body)) picked.push(pick(line));
        return picked;
      }),
  };
}

/** Asking again would be answered the same. */
class Refusal extends Error {}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') throw new Error('The stream ended within a line.');
}
