import { setTimeout as delay } from 'node:timers/promises';
import { parseEventStream, type StreamEvent } from '../../capabilities/events/stream-frames.ts';
import { ERRORS } from '../../core/errors/registry.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { urlPart } from '../../lib/url-part.ts';

/**
 * Calls the API: that of a running server, or its routes in this process. Errors are thrown with their own code, message and
 * details.
 */
export interface ApiClient {
  /** The `data` of the answer. */
  call<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  /** The objects of an answer that is streamed, one per line; of a POST where there is a body. */
  stream<T>(path: string, body?: unknown): AsyncGenerator<T>;
  /** The bytes of an answer that is a file. Throws API_UNREACHABLE when it breaks off. */
  download(path: string): AsyncGenerator<Uint8Array>;
  /** The text of a stream of events as it comes, after the event of that id; ends with the connection. */
  listen(path: string, lastEventId: string | null): AsyncGenerator<string>;
  /** The items of a list, over all its pages; `step` of them are asked for at once. */
  list<T>(path: string, limit?: number, step?: number): AsyncGenerator<T>;
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Left out: the request has no body. */
  readonly body?: string;
}

/** A success; the sender throws failures. */
export interface ApiAnswer {
  /** The `data` of an envelope. */
  data(): Promise<unknown>;
  /** The bytes as they come. `what` names them when they break off. */
  bytes(what: 'answer' | 'file' | 'stream'): AsyncIterable<Uint8Array>;
}

/** Carries a request to the API and brings its answer. */
export type SendRequest = (request: ApiRequest) => Promise<ApiAnswer>;

/** Items of a list that are asked for at once. */
const LIST_STEP = 1_000;

interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export function createApiClient(send: SendRequest): ApiClient {
  const request = (
    method: string,
    path: string,
    body: unknown,
    accept: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> =>
    body === undefined
      ? send({ method, path, headers: { ...more, accept } })
      : send({
          ...{ method, path, body: JSON.stringify(body) },
          headers: { ...more, accept, 'content-type': 'application/json' },
        });

  const call: ApiClient['call'] = async <T>(...[method, path, body, headers]: CallOf) =>
    (await (await request(method, path, body, 'application/json', headers)).data()) as T;

  return {
    call,
    async *stream<T>(path: string, body?: unknown): AsyncGenerator<T> {
      const method = body === undefined ? 'GET' : 'POST';
      const answer = await request(method, path, body, 'application/x-ndjson');
      let rest = '';
      for await (const text of textOf(answer.bytes('answer'))) {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line) as T;
      }
    },
    async *download(path) {
      yield* (await request('GET', path, undefined, '*/*')).bytes('file');
    },
    async *listen(path, lastEventId) {
      const more: Record<string, string> = lastEventId === null ? {} : { 'last-event-id': lastEventId };
      const answer = await request('GET', path, undefined, 'text/event-stream', more);
      yield* textOf(answer.bytes('stream'));
    },
    async *list<T>(path: string, limit = Number.POSITIVE_INFINITY, step = LIST_STEP): AsyncGenerator<T> {
      let left = limit;
      let cursor: string | null = null;
      do {
        const mark = path.includes('?') ? '&' : '?';
        const from: string = cursor === null ? '' : `&cursor=${urlPart(cursor)}`;
        const page: ListAnswer<T> = await call('GET', `${path}${mark}limit=${Math.min(step, left)}${from}`);
        yield* page.items.slice(0, left);
        left -= page.items.length;
        cursor = page.nextCursor;
      } while (cursor !== null && left > 0);
    },
  };
}

type CallOf = Parameters<ApiClient['call']>;

async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
}

const RETRY_MS = 1_000;
/** Tries in a row without an event before the server counts as gone. */
const MOST_TRIES = 60;

/** The events of a stream until its end. A connection that breaks is made again, after the last event that came. */
export async function* followEvents(
  client: Pick<ApiClient, 'listen'>,
  path: string,
): AsyncGenerator<StreamEvent> {
  let last: string | null = null;
  let hasBegun = false;
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const event of parseEventStream(client.listen(path, last))) {
        if (event.id !== null) last = event.id;
        hasBegun = true;
        tries = 0;
        yield event;
        if (event.type === 'end') return;
      }
    } catch (error) {
      const mayPass =
        isScrapifieError(error) && (error.code === 'API_UNREACHABLE' || ERRORS[error.code].retry === 'later');
      // A command that never reached the server says so at once.
      if (!hasBegun || !mayPass || tries >= MOST_TRIES) throw error;
    }
    await delay(RETRY_MS);
  }
}
