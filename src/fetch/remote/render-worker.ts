import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { Consumer, Queue } from '../../ports/queue.ts';
import type { Engine, ResponseHeaders } from '../engine.ts';
import { fetchBlob } from './fetch-blob.ts';
import { createLentJar } from './lent-jar.ts';
import {
  contentHashOf,
  RENDER_CALLS,
  type RenderAnswer,
  type RenderName,
  type RenderRequest,
  readRenderRequest,
} from './render-message.ts';

export interface RenderWorkerOptions {
  /** Which calls are answered. */
  readonly name: RenderName;
  readonly queue: Pick<Queue, 'answer'>;
  readonly blobs: Pick<Blobs, 'get' | 'put'>;
  /** Does the work, with its address guard. Stays the caller's to close, after the worker has stopped. */
  readonly engine: Engine;
  readonly concurrency: number;
  readonly logger: Logger;
}

/**
 * Renders for owners of hosts until it is stopped. It asks nothing of robots, rates or scope, and goes nowhere but to
 * the URL it was told: a redirect is an answer. The body is a blob before the answer is sent. A render that nobody
 * waits for any more, or whose time is over, is ended with its connections.
 */
export function startRenderWorker(options: RenderWorkerOptions): Promise<Consumer> {
  const { name, queue, blobs, engine, concurrency, logger } = options;

  async function render(request: RenderRequest, signal: AbortSignal): Promise<RenderAnswer> {
    const jar = createLentJar(new URL(request.url), request.cookies);
    const response = await engine.fetch({
      url: request.url,
      method: request.method,
      headers: request.headers,
      cookies: {},
      body: await textOf(request.body, signal),
      timeoutMs: request.timeoutMs,
      maxBodyBytes: request.maxBodyBytes,
      // With none the first redirect would be an error, and no answer to decide about.
      maxRedirects: 1,
      conditional: null,
      onRedirect: async () => 'stop',
      jar,
      signal,
    });
    const { finalUrl, statusCode, headers, contentType, body, wireBytes, ms, httpVersion } = response;
    if (signal.aborted) throw new ScrapifieError('CANCELLED', 'Nobody waits for this page any more');
    return {
      finalUrl,
      statusCode,
      headers: withoutGaps(headers),
      contentType,
      contentHash: body.byteLength === 0 ? null : await keep(body),
      wireBytes,
      ms,
      httpVersion,
      setCookies: jar.told(linesOf(headers)).map(({ url, lines }) => ({ url, lines: [...lines] })),
    };
  }

  async function textOf(body: RenderRequest['body'], signal: AbortSignal): Promise<string | null> {
    if (body === null) return null;
    if ('text' in body) return body.text;
    return Buffer.from(await fetchBlob(blobs, body.contentHash, signal)).toString('utf8');
  }

  async function keep(bytes: Uint8Array): Promise<ContentHash> {
    const hash = contentHashOf(bytes);
    try {
      await blobs.put([{ hash, bytes }]);
    } catch (error) {
      logger.warn({ engine: name, err: error }, 'a rendered page could not be kept');
      throw error;
    }
    return hash;
  }

  return queue.answer(RENDER_CALLS[name], concurrency, async (message, signal) => {
    let request: RenderRequest;
    try {
      request = readRenderRequest(message);
    } catch (error) {
      logger.warn({ engine: name, err: error }, 'a request to render was refused');
      throw error;
    }
    return render(request, signal);
  });
}

function withoutGaps(headers: ResponseHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name] = value;
  return kept;
}

function linesOf({ 'set-cookie': lines = [] }: ResponseHeaders): ReadonlySet<string> {
  return new Set(typeof lines === 'string' ? [lines] : lines);
}
