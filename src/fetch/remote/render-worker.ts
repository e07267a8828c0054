import { randomUUID } from 'node:crypto';
import { SpanKind } from '@opentelemetry/api';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Ask, CallStart, Consumer, Queue } from '../../core/ports/queue.ts';
import {
  endWith,
  type SpanOptions,
  sampledContext,
  serverAttributes,
  startSpan,
} from '../../core/tracing/tracing.ts';
import { defined } from '../../lib/defined.ts';
import type { ByteBudget, HeldBytes } from '../byte-budget.ts';
import type { CookieJar } from '../cookies/cookie-jar.ts';
import {
  type Engine,
  type FetchRequest,
  heldBytesOf,
  type Rendered,
  type ResponseHeaders,
} from '../engine.ts';
import {
  type AdmissionQuestion,
  contentHashOf,
  RENDER_CALLS,
  type RedirectQuestion,
  type RenderAnswer,
  type RenderCall,
  type RenderName,
  type RenderTask,
  readAdmitted,
  readProxy,
  readRenderCall,
  readRenderTask,
  readVerdict,
} from './render-message.ts';
import { packRendered, writePack } from './rendered-pack.ts';
import { fetchBlob, type Parcels } from './sealed-calls.ts';
import { createWorkerJar, plainCookies } from './worker-jar.ts';

export interface RenderWorkerOptions {
  /** Which calls are answered. */
  readonly name: RenderName;
  readonly queue: Pick<Queue, 'answer'>;
  readonly blobs: Pick<Blobs, 'get' | 'put' | 'delete'>;
  /** What travels beside the messages. */
  readonly parcels: Parcels;
  /** Why nothing can be stored at the moment; the site is then not asked for a page that could not be kept. */
  readonly storageRefusal?: () => ScrapifieError | null;
  /** Does the work, with its address guard. Stays the caller's to close, after the worker has stopped. */
  readonly engine: Engine;
  readonly concurrency: number;
  /** What all renders of this process may hold; without one, they are not counted. */
  readonly budget?: ByteBudget | undefined;
  readonly logger: Logger;
}

/** In JSON; a longer head of what was rendered travels as a blob. */
const MOST_HEAD_BYTES = 32_768;

/**
 * Renders for owners of hosts until it is stopped. It asks nothing of robots, rates or scope: before each redirect,
 * be it the server's or the page's own, it asks the owner, and where that cannot be asked the redirect is the answer.
 * It also asks before it opens a page that another worker may have opened for the same call, or opens it later than the
 * owner's admission allows; where the owner cannot be asked, such a call ends with NO_WORKER and nothing is sent.
 * Bytes are stored as blobs before the answer is sent. A render whose caller is gone, or whose time is over, is ended
 * with its connections.
 */
export function startRenderWorker(options: RenderWorkerOptions): Promise<Consumer> {
  const { name, queue, blobs, parcels, engine, concurrency, budget, logger } = options;

  /** Begins when there is room, and gives the bytes back when they are blobs. */
  async function admitted(
    request: RenderCall,
    signal: AbortSignal,
    ask: Ask | null,
    start: CallStart,
  ): Promise<RenderAnswer> {
    const askedAt = performance.now();
    await budget?.admission(signal);
    const waitedMs = start.waitedMs + performance.now() - askedAt;
    const held = budget?.open();
    try {
      return await render(request, signal, ask, { ...start, waitedMs }, held);
    } finally {
      held?.close();
    }
  }

  async function render(
    request: RenderCall,
    signal: AbortSignal,
    ask: Ask | null,
    start: CallStart,
    held: HeldBytes | undefined,
  ): Promise<RenderAnswer> {
    const begunAt = performance.now();
    const task = await taskOf(request.task, signal);
    const url = new URL(request.url);
    const jar = createWorkerJar(task.jar ?? plainCookies(url, request.cookies));
    const body = await textOf(request.body, signal);
    const waitedMs = start.waitedMs + performance.now() - begunAt;
    if (start.isRepeated || isOver(request.admission, waitedMs)) await admitAgain(request, ask);
    if (signal.aborted)
      throw new ScrapifieError('CANCELLED', 'The caller does not wait for this page any more');
    const response = await engine.fetch({
      url: request.url,
      method: request.method,
      headers: request.headers,
      crossOriginHeaders: request.crossOriginHeaders,
      cookies: givenCookies(request, jar, url),
      body,
      timeoutMs: request.timeoutMs,
      maxBodyBytes: request.maxBodyBytes,
      ...redirectsOf(request, ask),
      conditional: null,
      jar,
      proxy: request.proxy === undefined ? undefined : readProxy(request.proxy),
      identity: request.identity,
      key: request.key,
      render: task.render,
      storage: task.storage,
      wantsStorage: request.wantsStorage,
      maySolve: request.maySolve,
      secrets: request.secrets,
      held,
      runsAlone: request.runsAlone,
      signal,
    });
    held?.take(Math.max(0, heldBytesOf(response) - held.bytes));
    const { finalUrl, statusCode, headers, contentType, wireBytes, ms, httpVersion } = response;
    if (signal.aborted)
      throw new ScrapifieError('CANCELLED', 'The caller does not wait for this page any more');
    const rendered =
      response.rendered === undefined
        ? undefined
        : await renderedOf(response.rendered, request.parcels, signal);
    return {
      finalUrl,
      statusCode,
      headers: withoutGaps(headers),
      contentType,
      contentHash: response.body.byteLength === 0 ? null : await keep(response.body),
      wireBytes,
      ms,
      httpVersion,
      setCookies: jar.newCookies(linesOf(headers)).map(({ url, lines }) => ({ url, lines: [...lines] })),
      redirects: [...response.redirects],
      redirectedTo: response.redirectedTo,
      ...defined({ rendered }),
    };
  }

  async function textOf(body: RenderCall['body'], signal: AbortSignal): Promise<string | null> {
    if (body === null) return null;
    if ('text' in body) return body.text;
    if ('parcel' in body) return Buffer.from(await parcels.receive(body.parcel, signal)).toString('utf8');
    return Buffer.from(await fetchBlob(blobs, body.contentHash, signal)).toString('utf8');
  }

  async function taskOf(task: RenderCall['task'], signal: AbortSignal): Promise<RenderTask> {
    if (task === undefined) return {};
    if ('inline' in task) return task.inline;
    if ('parcel' in task) return readRenderTask(await parcels.receive(task.parcel, signal));
    return readRenderTask(await fetchBlob(blobs, task.contentHash, signal));
  }

  async function renderedOf(
    rendered: Rendered,
    kind: RenderCall['parcels'],
    signal: AbortSignal,
  ): Promise<RenderAnswer['rendered']> {
    const pack = packRendered(rendered);
    const isSmall =
      pack.parts.length === 0 && Buffer.byteLength(JSON.stringify(pack.head)) <= MOST_HEAD_BYTES;
    if (isSmall) return { head: pack.head };
    if (kind !== undefined) {
      const parcel = await stored(parcels.send(writePack(pack, randomUUID()), kind === 'sealed'));
      // Its receiver has gone away.
      if (signal.aborted) parcels.drop(parcel);
      return { parcel };
    }
    const contentHash = await keep(writePack(pack, randomUUID()));
    // The caller will not fetch it, and it may hold secrets of its owner.
    if (signal.aborted) await blobs.delete([contentHash]);
    return { contentHash };
  }

  async function keep(bytes: Uint8Array): Promise<ContentHash> {
    const hash = contentHashOf(bytes);
    await stored(blobs.put([{ hash, bytes }]));
    return hash;
  }

  async function stored<T>(storing: Promise<T>): Promise<T> {
    try {
      return await storing;
    } catch (error) {
      logger.warn({ engine: name, err: error }, 'a rendered page could not be kept');
      throw error;
    }
  }

  return queue.answer(RENDER_CALLS[name], concurrency, async (message, signal, ask, start) => {
    let request: RenderCall;
    try {
      request = readRenderCall(message);
    } catch (error) {
      logger.warn({ engine: name, err: error }, 'a request to render was refused');
      throw error;
    }
    const full = options.storageRefusal?.() ?? null;
    if (full !== null) throw full;
    const parent = sampledContext(request.traceParent);
    const span = parent === null ? null : startSpan('render', spanOptions(name, request, start), parent);
    if (span === null) return admitted(request, signal, ask, start);
    return endWith(span, () => admitted(request, signal, ask, start));
  });
}

function spanOptions(engine: RenderName, { method, url }: RenderCall, start: CallStart): SpanOptions {
  const attributes = {
    'http.request.method': method,
    'scrapifie.engine': engine,
    'scrapifie.render.waited_ms': Math.round(start.waitedMs),
    'scrapifie.render.repeated': start.isRepeated,
    ...serverAttributes(url),
  };
  return { kind: SpanKind.SERVER, attributes };
}

function isOver(admission: RenderCall['admission'], waitedMs: number): boolean {
  return admission !== undefined && admission.validMs !== null && waitedMs > admission.validMs;
}

/** Resolves when the owner's gate has admitted one more request; rejects with its reason when the gate refuses. */
async function admitAgain({ admission }: RenderCall, ask: Ask | null): Promise<void> {
  if (ask === null || admission === undefined) {
    throw new ScrapifieError('NO_WORKER', 'A call that was begun before cannot be admitted again.', {
      details: { isBegun: true },
    });
  }
  const question: AdmissionQuestion = { again: true };
  readAdmitted(await ask(question));
}

/** The cookies for this URL that are not in the jar. */
function givenCookies({ cookies }: RenderCall, jar: CookieJar, url: URL): Record<string, string> {
  const kept = new Set(jar.cookiesFor(url, Date.now()).map(([name, value]) => `${name}=${value}`));
  return Object.fromEntries(cookies.filter(([name, value]) => !kept.has(`${name}=${value}`)));
}

function redirectsOf(
  { maxRedirects }: RenderCall,
  ask: Ask | null,
): Pick<FetchRequest, 'maxRedirects' | 'onRedirect'> {
  // A limit of none would make the first redirect be an error, and no answer to decide about.
  if (ask === null || maxRedirects === undefined) return { maxRedirects: 1, onRedirect: async () => 'stop' };
  return {
    maxRedirects,
    async onRedirect(target, hop) {
      const question: RedirectQuestion = { target, hop };
      return readVerdict(await ask(question)).isFollowed ? 'follow' : 'stop';
    },
  };
}

function withoutGaps(headers: ResponseHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name] = value;
  return kept;
}

function linesOf({ 'set-cookie': lines = [] }: ResponseHeaders): ReadonlySet<string> {
  return new Set(typeof lines === 'string' ? [lines] : lines);
}
