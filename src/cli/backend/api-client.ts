import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { defined } from '../../lib/defined.ts';
import { urlPart } from '../../lib/url-part.ts';

/** Calls the API of a running server. Errors of the server are thrown with their own code, message and details. */
export interface ApiClient {
  /** Origin of the server, such as `http://127.0.0.1:3000`. */
  readonly origin: string;
  /** The `data` of the answer. Throws API_UNREACHABLE when no Scrapifie server answers there. */
  call<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  /** The status and the body of an answer, errors of the server among them. */
  answer(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<{ status: number; body: unknown }>;
  /** The objects of an answer that is streamed, one per line; of a POST where there is a body. */
  stream<T>(path: string, body?: unknown): AsyncGenerator<T>;
  /** The bytes of an answer that is a file. Throws API_UNREACHABLE when it breaks off. */
  download(path: string): AsyncGenerator<Uint8Array>;
  /** The text of a stream of events as it comes, after the event of that id; ends with the connection. */
  listen(path: string, lastEventId: string | null): AsyncGenerator<string>;
  /** The items of a list, over all its pages. */
  list<T>(path: string, limit?: number): AsyncGenerator<T>;
}

export interface ApiClientOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Items of a list that are asked for at once. */
const LIST_STEP = 1_000;

interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export function createApiClient({ url, key, signal }: ApiClientOptions): ApiClient {
  const base = url.endsWith('/') ? url : `${url}/`;

  async function request(
    method: string,
    path: string,
    body: unknown,
    accept: string,
    more: Readonly<Record<string, string>> = {},
    own: AbortSignal | undefined = signal,
  ): Promise<Response> {
    const headers = {
      ...more,
      accept,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    try {
      return await fetch(new URL(path.replace(/^\//, ''), base), {
        method,
        headers,
        // A server that leads elsewhere must not get the key and what is sent.
        redirect: 'error',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...defined({ signal: own }),
      });
    } catch (error) {
      if (own?.aborted) throw new ScrapifieError('CANCELLED', 'The command was interrupted.');
      throw unreachable(base, causeOf(error), error);
    }
  }

  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T> {
    const response = await request(method, path, body, 'application/json', headers);
    const answer = (await response.json().catch(() => null)) as Answer<T> | null;
    if (answer?.success === true) return answer.data;
    throw failureOf(answer, response.status, base);
  }

  return {
    origin: new URL(base).origin,
    call,
    async answer(method, path, body, own) {
      const response = await request(method, path, body, 'application/json', {}, own);
      return { status: response.status, body: await response.json().catch(() => null) };
    },
    async *stream<T>(path: string, body?: unknown): AsyncGenerator<T> {
      const response = await request(body === undefined ? 'GET' : 'POST', path, body, 'application/x-ndjson');
      if (!response.ok || response.body === null) {
        throw failureOf((await response.json().catch(() => null)) as Answer<T> | null, response.status, base);
      }
      let rest = '';
      try {
        for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
          const lines = (rest + text).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) yield JSON.parse(line) as T;
        }
      } catch (error) {
        // Also what the line before the break holds: half a line is no object.
        throw unreachable(base, `the answer broke off: ${causeOf(error)}`, error);
      }
    },
    async *download(path) {
      const response = await request('GET', path, undefined, '*/*');
      if (!response.ok || response.body === null) {
        throw failureOf(
          (await response.json().catch(() => null)) as Answer<unknown> | null,
          response.status,
          base,
        );
      }
      let bytes = 0;
      try {
        for await (const chunk of response.body) {
          bytes += chunk.length;
          yield chunk;
        }
      } catch (error) {
        if (signal?.aborted) throw new ScrapifieError('CANCELLED', 'The command was interrupted.');
        throw unreachable(base, `the file broke off: ${causeOf(error)}`, error);
      }
      const promised = response.headers.get('content-length');
      if (promised !== null && Number(promised) !== bytes) throw unreachable(base, 'the file broke off');
    },
    async *listen(path, lastEventId) {
      const more: Record<string, string> = lastEventId === null ? {} : { 'last-event-id': lastEventId };
      const response = await request('GET', path, undefined, 'text/event-stream', more);
      if (!response.ok || response.body === null) {
        throw failureOf(
          (await response.json().catch(() => null)) as Answer<unknown> | null,
          response.status,
          base,
        );
      }
      try {
        yield* response.body.pipeThrough(new TextDecoderStream());
      } catch (error) {
        if (signal?.aborted) throw new ScrapifieError('CANCELLED', 'The command was interrupted.');
        throw unreachable(base, `the stream broke off: ${causeOf(error)}`, error);
      }
    },
    async *list<T>(path: string, limit = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
      let left = limit;
      let cursor: string | null = null;
      do {
        const mark = path.includes('?') ? '&' : '?';
        const from: string = cursor === null ? '' : `&cursor=${urlPart(cursor)}`;
        const page: ListAnswer<T> = await call(
          'GET',
          `${path}${mark}limit=${Math.min(LIST_STEP, left)}${from}`,
        );
        yield* page.items.slice(0, left);
        left -= page.items.length;
        cursor = page.nextCursor;
      } while (cursor !== null && left > 0);
    },
  };
}

interface Answer<T> {
  readonly success: boolean;
  readonly data: T;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

function failureOf(answer: Answer<unknown> | null, status: number, base: string): ScrapifieError {
  if (answer?.error === undefined)
    return unreachable(base, `it answered ${status}, and not as a Scrapifie server`);
  const { code, message, details } = answer.error;
  // A newer server may know codes that this program does not.
  return new ScrapifieError(
    isCode(code) ? code : 'INTERNAL',
    isCode(code) ? message : `${code}: ${message}`,
    {
      ...defined({ details }),
    },
  );
}

const unreachable = (base: string, why: string, cause?: unknown) =>
  new ScrapifieError('API_UNREACHABLE', `${new URL(base).origin} cannot be used as the API: ${why}.`, {
    cause,
  });

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || cause.name : message;
}
