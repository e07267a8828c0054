import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { defined } from '../../lib/defined.ts';
import { type ApiAnswer, type ApiClient, type ApiRequest, createApiClient } from './api-client.ts';

/** Calls the API of a running server. Throws API_UNREACHABLE when no Scrapifie server answers there. */
export interface ServerClient extends ApiClient {
  /** Origin of the server, such as `http://127.0.0.1:3000`. */
  readonly origin: string;
  /** The status and the body of an answer, errors of the server among them. */
  answer(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<{ status: number; body: unknown }>;
}

export interface ServerClientOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createServerClient({ url, key, signal }: ServerClientOptions): ServerClient {
  const base = url.endsWith('/') ? url : `${url}/`;

  async function request(
    { method, path, headers, body }: ApiRequest,
    own: AbortSignal | undefined = signal,
  ): Promise<Response> {
    try {
      return await fetch(new URL(path.replace(/^\//, ''), base), {
        method,
        headers: { ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
        // A server that leads elsewhere must not get the key and what is sent.
        redirect: 'error',
        ...defined({ body, signal: own }),
      });
    } catch (error) {
      if (own?.aborted) throw new ScrapifieError('CANCELLED', 'The command was interrupted.');
      throw unreachable(base, causeOf(error), error);
    }
  }

  async function* bytesOf(response: Response, what: string): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (signal?.aborted) throw new ScrapifieError('CANCELLED', 'The command was interrupted.');
      throw unreachable(base, `the ${what} broke off: ${causeOf(error)}`, error);
    }
    const promised = response.headers.get('content-length');
    if (what === 'file' && promised !== null && Number(promised) !== bytes) {
      throw unreachable(base, 'the file broke off');
    }
  }

  async function send(asked: ApiRequest): Promise<ApiAnswer> {
    const response = await request(asked);
    if (!response.ok) throw failureOf(await envelopeOf(response), response.status, base);
    return {
      async data() {
        const answer = await envelopeOf(response);
        if (answer?.success === true) return answer.data;
        throw failureOf(answer, response.status, base);
      },
      bytes: (what) => bytesOf(response, what),
    };
  }

  return {
    ...createApiClient(send),
    origin: new URL(base).origin,
    async answer(method, path, body, own) {
      const headers = { accept: 'application/json' };
      const asked =
        body === undefined
          ? { method, path, headers }
          : {
              ...{ method, path, body: JSON.stringify(body) },
              headers: { ...headers, 'content-type': 'application/json' },
            };
      const response = await request(asked, own);
      return { status: response.status, body: await response.json().catch(() => null) };
    },
  };
}

interface Envelope {
  readonly success: boolean;
  readonly data: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
}

const envelopeOf = (response: Response) => response.json().catch(() => null) as Promise<Envelope | null>;

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

function failureOf(answer: Envelope | null, status: number, base: string): ScrapifieError {
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
