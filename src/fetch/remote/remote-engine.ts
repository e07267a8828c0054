import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { Blobs } from '../../ports/blobs.ts';
import { MAX_CALL_BYTES } from '../../ports/call-message.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import { type Body, bodyLimit, EMPTY_BODY } from '../http/body-sink.ts';
import { createCookieJar } from '../http/cookie-jar.ts';
import { isRedirect } from '../http/redirect.ts';
import type { HeaderList } from '../http/request-headers.ts';
import { Trail } from '../http/trail.ts';
import { fetchBlob } from './fetch-blob.ts';
import {
  contentHashOf,
  RENDER_CALLS,
  type RenderAnswer,
  type RenderName,
  type RenderRequest,
  readRenderAnswer,
} from './render-message.ts';
import { splitCookies } from './split-cookies.ts';

export interface RemoteEngineOptions {
  readonly name: RenderName;
  readonly queue: Pick<Queue, 'call' | 'countAnswerers'>;
  /** Where workers put bodies: a place that they and this process both see. */
  readonly blobs: Pick<Blobs, 'get' | 'put'>;
  /** Monotonic milliseconds; the process's clock unless told. */
  readonly now?: () => number;
}

/**
 * An engine in other processes, asked through the queue: one call per request to the site. Everything about
 * redirects and cookies is decided here, so that a worker knows one URL at a time and nothing else.
 *
 * Beyond what engines throw: NO_WORKER when nobody renders, QUEUE_UNAVAILABLE, BLOBS_UNAVAILABLE. When a worker dies
 * another one makes the request again, a POST as well.
 */
export interface RemoteEngine extends Engine {
  readonly name: RenderName;
  /** How many processes render; while there are none, `fetch` ends with NO_WORKER. */
  countWorkers(): Promise<number>;
}

interface Hop {
  readonly answer: RenderAnswer;
  readonly body: Body;
}

/** Renders are made in the order in which hosts allow them. */
const RANK = 0;
/** In JSON; a longer body of a request travels as a blob. */
const MOST_INLINE_BYTES = 32_768;
/** The worker's engine adds its own. */
const NO_DEFAULTS: HeaderList = [];

export function createRemoteEngine(options: RemoteEngineOptions): RemoteEngine {
  const { name, queue, blobs, now = () => performance.now() } = options;
  const callName = RENDER_CALLS[name];
  /** Owned by the hops under way. */
  const running = new Set<AbortController>();
  let isClosed = false;

  /** One request to the site, ended by the deadline, the request's signal or `close`. */
  async function send(trail: Trail, request: FetchRequest, deadline: number): Promise<Hop> {
    if (isClosed) throw closed(name);
    const { signal } = request;
    if (signal?.aborted === true) throw abortReason(signal.reason);
    const leftMs = Math.max(1, deadline - now());
    const ending = new AbortController();
    const late = setTimeout(() => ending.abort(tookTooLong(trail.url, request.timeoutMs)), leftMs);
    const onAbort = () => ending.abort(abortReason(signal?.reason));
    signal?.addEventListener('abort', onAbort, { once: true });
    running.add(ending);
    // Listens first, so that the reason is told and not what the queue makes of it.
    const ended = new Promise<never>((_, reject) => {
      ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true });
    });
    try {
      return await Promise.race([ended, ask(trail, request, leftMs, ending.signal)]);
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
      running.delete(ending);
    }
  }

  async function ask(
    trail: Trail,
    { maxBodyBytes, mayStart }: FetchRequest,
    leftMs: number,
    signal: AbortSignal,
  ): Promise<Hop> {
    const { url, method } = trail;
    const [headers, cookies] = splitCookies(trail.headersNow(Date.now()));
    const timeoutMs = Math.ceil(leftMs);
    const body = await sendable(trail.body);
    const message: RenderRequest = { url: url.href, method, headers, cookies, body, timeoutMs, maxBodyBytes };
    if (sizeOf(message) > MAX_CALL_BYTES) throw tooMuch();
    if (mayStart?.() === false) {
      throw new ScrapifieError('CANCELLED', `The request to ${url.host} came too late`);
    }
    const answer = readRenderAnswer(await queue.call(callName, message, { rank: RANK, timeoutMs, signal }));
    const { contentHash } = answer;
    if (contentHash === null) return { answer, body: EMPTY_BODY };
    const bytes = await fetchBlob(blobs, contentHash, signal);
    if (bytes.byteLength > maxBodyBytes) throw bodyLimit(maxBodyBytes);
    return { answer, body: bytes };
  }

  async function sendable(text: string | null): Promise<RenderRequest['body']> {
    if (text === null) return null;
    if (sizeOf(text) <= MOST_INLINE_BYTES) return { text };
    const bytes = Buffer.from(text);
    const contentHash = contentHashOf(bytes);
    await blobs.put([{ hash: contentHash, bytes }]);
    return { contentHash };
  }

  return {
    name,
    countWorkers: () => queue.countAnswerers(callName),

    async fetch(request): Promise<FetchResponse> {
      const jar = request.jar ?? createCookieJar();
      const trail = new Trail({ ...request, jar }, NO_DEFAULTS);
      let deadline = now() + request.timeoutMs;
      let wireBytes = 0;
      let ms = 0;

      for (;;) {
        const { answer, body } = await send(trail, request, deadline);
        const { statusCode, headers, finalUrl, contentType, httpVersion } = answer;
        wireBytes += answer.wireBytes;
        // Without the wait for a worker, which says nothing about the site.
        ms += answer.ms;
        trail.received(statusCode, headers, Date.now());
        for (const { url, lines } of answer.setCookies) keepCookies(url, lines);

        let redirectedTo: string | null = null;
        if (isRedirect(statusCode)) {
          const target = trail.next(statusCode, headers, Date.now());
          const askedAt = now();
          const decision = await request.onRedirect(target.href, trail.redirects.length + 1);
          deadline += now() - askedAt;
          if (decision === 'follow') {
            trail.follow(statusCode, target);
            continue;
          }
          redirectedTo = target.href;
        }
        const { redirects } = trail;
        const place = { url: request.url, finalUrl, redirects, redirectedTo };
        return { ...place, statusCode, headers, contentType, body, wireBytes, ms, httpVersion };
      }

      function keepCookies(text: string, lines: readonly string[]): void {
        const url = URL.parse(text);
        if (url !== null) jar.store(url, lines, Date.now());
      }
    },

    async close() {
      isClosed = true;
      for (const ending of running) ending.abort(closed(name));
    },
  };
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function closed(name: RenderName): ScrapifieError {
  return new ScrapifieError('SHUTTING_DOWN', `The ${name} engine is closed`);
}

function tooMuch(): ScrapifieError {
  return new ScrapifieError(
    'UNSUPPORTED_OPTION',
    `URL, headers and cookies of a render take at most ${MAX_CALL_BYTES} bytes`,
  );
}

function tookTooLong(url: URL, timeoutMs: number): ScrapifieError {
  return new ScrapifieError('TASK_TIMEOUT', `${url.host} took longer than ${timeoutMs} ms`);
}

function abortReason(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'The request was cancelled', { cause: reason });
}
