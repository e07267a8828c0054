import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Agent } from 'undici';
import { urlPart } from '../../lib/url-part.ts';

type HandleRequest = S3Client['config']['requestHandler']['handle'];
type HttpRequest = Parameters<HandleRequest>[0];

/** Carries the requests of the AWS SDK. */
export interface S3Transport {
  readonly handler: S3Client['config']['requestHandler'];
  close(): Promise<void>;
}

export interface S3TransportOptions {
  readonly maxConnections: number;
  /**
   * For a connection to be made, between two pieces of an answer, and for a whole request that names no limit of its
   * own; larger payloads get a second more per megabyte.
   */
  readonly timeoutMs: number;
}

/** The slowest line that still counts as working. */
export const LEAST_BYTES_PER_MS = 1_000;
const IDLE_MS = 4_000;

/**
 * Sends requests of the SDK by undici, which the crawler uses as well. The SDK's own handler has no limit for a whole
 * request, and keeps an idle connection for as long as the server proposes: a connection that the network has
 * forgotten would hold a request up until the system notices.
 */
export function createS3Transport({ maxConnections, timeoutMs }: S3TransportOptions): S3Transport {
  const agent = new Agent({
    connections: maxConnections,
    // The limit of the request covers the wait for headers; one of undici's own would end a long upload meanwhile.
    headersTimeout: 0,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    connect: { timeout: timeoutMs },
  });

  const handle: HandleRequest = async (request, options = {}) => {
    const { requestTimeout = limitOf(request, timeoutMs) } = options as { readonly requestTimeout?: number };
    const stop = new AbortController();
    const end = (limitMs: number) => () =>
      stop.abort(new Error(`no answer within ${Math.round(limitMs)} ms`));
    let timer = setTimeout(end(requestTimeout), requestTimeout);
    try {
      const { statusCode, headers, body } = await agent.request({
        origin: originOf(request),
        path: pathOf(request),
        method: request.method as 'GET',
        headers: request.headers,
        body: request.body ?? null,
        signal: stop.signal,
      });
      const length = Number(headers['content-length'] ?? 0);
      if (length > requestTimeout * LEAST_BYTES_PER_MS) {
        clearTimeout(timer);
        timer = setTimeout(end(length / LEAST_BYTES_PER_MS), length / LEAST_BYTES_PER_MS);
      }
      const bytes = Buffer.from(await body.arrayBuffer());
      return { response: { statusCode, headers: singleValues(headers), body: Readable.from([bytes]) } };
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    handler: {
      metadata: { handlerProtocol: 'http/1.1' },
      handle,
      destroy: () => undefined,
      updateHttpClientConfig: () => undefined,
      httpHandlerConfigs: () => ({}),
    },
    close: () => agent.destroy(),
  };
}

/**
 * Adds an MD5 to every request with a payload, before it is signed, so that the server notices what was damaged on the
 * way. The checksums that the SDK adds by itself are newer than many object stores.
 */
export function addPayloadDigests(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { body, headers } = args.request as HttpRequest;
      if (typeof body === 'string' || body instanceof Uint8Array)
        headers['content-md5'] = hash('md5', body, 'base64');
      return next(args);
    },
    { step: 'build', name: 'payloadDigest' },
  );
}

function limitOf({ body }: Pick<HttpRequest, 'body'>, timeoutMs: number): number {
  const bytes = body instanceof Uint8Array || typeof body === 'string' ? body.length : 0;
  return timeoutMs + bytes / LEAST_BYTES_PER_MS;
}

function originOf({ protocol, hostname, port }: HttpRequest): string {
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
}

/** Encoded in the same way as the SDK encodes what it signs. */
function pathOf({ path, query = {} }: HttpRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((one) => `${encoded(name)}=${encoded(one)}`),
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** `urlPart` leaves characters that a signature does not. */
function encoded(text: string): string {
  return urlPart(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function singleValues(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
