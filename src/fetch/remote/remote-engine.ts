import { guarded } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { CallClock, type CallOptions, type Queue } from '../../core/ports/queue.ts';
import { activeTraceparent } from '../../core/tracing/tracing.ts';
import { defined } from '../../lib/defined.ts';
import { type CookieJar, createCookieJar } from '../cookies/cookie-jar.ts';
import { abortError, tookTooLong } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse, Rendered } from '../engine.ts';
import { type Body, bodyLimit, EMPTY_BODY } from '../http/body-buffer.ts';
import { RedirectChain } from '../http/redirects.ts';
import type { HeaderList } from '../http/request-headers.ts';
import { browserLost } from '../render-errors.ts';
import { RedirectAnswers } from './redirect-answers.ts';
import {
  RENDER_CALLS,
  type RenderAnswer,
  type RenderCall,
  type RenderName,
  type RenderTask,
  readRenderAnswer,
  writeProxy,
} from './render-message.ts';
import { readHeadAlone, readPack } from './rendered-pack.ts';
import { fetchBlob, MOST_REQUEST_BYTES, type Parcels } from './sealed-calls.ts';
import { cookiesOfSite, splitCookies } from './worker-jar.ts';

interface RemoteEngineOptions {
  readonly name: RenderName;
  readonly queue: Pick<Queue, 'call' | 'countAnswerers'>;
  /** Where workers put bodies: a place that they and this process both see. */
  readonly blobs: Pick<Blobs, 'get' | 'delete'>;
  /** What travels beside the messages. */
  readonly parcels: Parcels;
  /** Monotonic milliseconds; the process's clock unless newCookies. */
  readonly now?: () => number;
  /** Time that a worker has, after that of the attempt, to read what the page shows by then; none unless newCookies. */
  readonly lastReadingMs?: number;
  /** How long a call may wait for a worker, besides the time of the attempt; missing: it waits within that time. */
  readonly startWithinMs?: number;
}

/**
 * An engine in other processes, asked through the queue: one call per site on the way. Everything about redirects and
 * cookies is decided here; a worker asks before it goes anywhere, and has the cookies of one site.
 *
 * Also throws NO_WORKER without a render worker, BROWSER_LOST when the last one went away with the page, BROWSERS_BUSY when
 * none is free in time, QUEUE_UNAVAILABLE and BLOBS_UNAVAILABLE. When a worker dies,
 * or Redis loses the call, another one makes the request again, a POST as well, after `admission.again` has admitted
 * it, and asks about its redirects again. A call that waited for a worker for longer than its admission is valid is
 * admitted again too.
 */
export interface RemoteEngine extends Engine {
  readonly name: RenderName;
  /** How many processes render; while there are none, `fetch` ends with NO_WORKER. */
  countWorkers(): Promise<number>;
}

interface Hop {
  readonly answer: RenderAnswer;
  readonly body: Body;
  readonly rendered: Rendered | undefined;
}

/** The worker's engine adds its own. */
const NO_DEFAULTS: HeaderList = [];

export function createRemoteEngine(options: RemoteEngineOptions): RemoteEngine {
  const { name, queue, blobs, parcels, now = () => performance.now(), lastReadingMs = 0 } = options;
  const { startWithinMs } = options;
  const calls = createRenderCalls({ name, queue, parcels });
  /** Owned by the hops under way. */
  const running = new Set<AbortController>();
  let isClosed = false;

  /** One call, ended by the time that is left, the request's signal or `close`. */
  async function send(
    chain: RedirectChain,
    request: RequestWithJar,
    answers: RedirectAnswers,
    leftMs: number,
  ): Promise<Hop> {
    if (isClosed) throw closed(name);
    const { signal } = request;
    if (signal?.aborted === true) throw abortError(signal.reason);
    const ending = new AbortController();
    const late = () => ending.abort(tookTooLong(chain.url.host, request.timeoutMs));
    const clock = new CallClock(leftMs + lastReadingMs + (startWithinMs ?? 0), late);
    const onAbort = guarded(() => ending.abort(abortError(signal?.reason)));
    signal?.addEventListener('abort', onAbort, { once: true });
    running.add(ending);
    // Listens first, so that the reason is newCookies and not what the queue makes of it.
    const ended = new Promise<never>((_, reject) => {
      ending.signal.addEventListener(
        'abort',
        guarded(() => reject(ending.signal.reason)),
        { once: true },
      );
    });
    const onQuestion = (question: unknown) => clock.hold(() => answers.answer(question));
    const admission = async () => {
      if (answers.admittedForMs < 0) await clock.hold(() => answers.admitAgain());
      return answers.admission;
    };
    const how = { timeoutMs: leftMs, startWithinMs, signal: ending.signal, onQuestion, admission };
    const asking = calls.ask(chain, request, how);
    try {
      return await Promise.race([ended, asking.then((answer) => collect(answer, request, ending.signal))]);
    } catch (error) {
      throw lostIfBegun(answers.refusal === null ? error : answers.refusal.reason);
    } finally {
      clock.end();
      signal?.removeEventListener('abort', onAbort);
      running.delete(ending);
    }
  }

  async function collect(
    answer: RenderAnswer,
    { maxBodyBytes }: FetchRequest,
    signal: AbortSignal,
  ): Promise<Hop> {
    const { contentHash } = answer;
    const [body, rendered] = await Promise.all([
      contentHash === null ? EMPTY_BODY : fetchBlob(blobs, contentHash, signal),
      renderedOf(answer.rendered, signal),
    ]);
    if (body.byteLength > maxBodyBytes) throw bodyLimit(maxBodyBytes);
    return { answer, body, rendered };
  }

  /** A pack is for us alone, and there is no more to do with it once it is read. */
  async function renderedOf(
    rendered: RenderAnswer['rendered'],
    signal: AbortSignal,
  ): Promise<Rendered | undefined> {
    if (rendered === undefined) return undefined;
    if ('parcel' in rendered) {
      try {
        return readPack(await parcels.receive(rendered.parcel, signal));
      } finally {
        parcels.drop(rendered.parcel);
      }
    }
    if (!('contentHash' in rendered)) return readHeadAlone(rendered.head);
    const { contentHash } = rendered;
    try {
      return readPack(await fetchBlob(blobs, contentHash, signal));
    } finally {
      blobs.delete([contentHash]).catch(() => undefined);
    }
  }

  return {
    name,
    countWorkers: () => queue.countAnswerers(RENDER_CALLS[name]),

    async fetch(given): Promise<FetchResponse> {
      const jar = given.jar ?? createCookieJar();
      const request: RequestWithJar = { ...given, jar };
      const chain = new RedirectChain(request, NO_DEFAULTS);
      const answers = new RedirectAnswers({ chain, request, now });
      const startedAt = now();
      let wireBytes = 0;
      let ms = 0;

      for (;;) {
        const leftMs = Math.max(1, startedAt + request.timeoutMs + answers.heldMs - now());
        const { answer, body, rendered } = await send(chain, request, answers, leftMs);
        const { statusCode, headers, finalUrl, contentType, httpVersion } = answer;
        wireBytes += answer.wireBytes;
        // Without the wait for a worker, which says nothing about the site.
        ms += answer.ms;
        answers.walk(answer);
        chain.received(statusCode, headers, Date.now());
        for (const { url, lines } of answer.setCookies) keepCookies(url, lines);

        const next = await answers.nextStep(answer);
        if (next?.isTaken === true) {
          chain.follow(statusCode, next.target);
          continue;
        }
        const { redirects } = chain;
        const place = { url: request.url, finalUrl, redirects, redirectedTo: next?.target.href ?? null };
        return { ...place, statusCode, headers, contentType, body, wireBytes, ms, httpVersion, rendered };
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

/**
 * A worker that went away while it showed the page is a lost browser: the page may be the cause, so it cannot be shown
 * again without end, as pages are that no worker has begun.
 */
function lostIfBegun(error: unknown): unknown {
  if (!isScrapifieError(error) || error.code !== 'NO_WORKER') return error;
  const { isBegun } = (error.details ?? {}) as { readonly isBegun?: unknown };
  return isBegun === true ? browserLost('its worker went away.', error) : error;
}

function closed(name: RenderName): ScrapifieError {
  return new ScrapifieError('SHUTTING_DOWN', `The ${name} engine is closed`);
}

interface RenderCallsOptions {
  readonly name: RenderName;
  readonly queue: Pick<Queue, 'call'>;
  readonly parcels: Parcels;
}

interface RequestWithJar extends FetchRequest {
  readonly jar: CookieJar;
}

interface RenderCallOptions extends Omit<CallOptions, 'rank'> {
  /** Asked when the message is ready: until when the call may be begun, after a new admission where that is needed. */
  readonly admission: () => Promise<RenderCall['admission']>;
}

/** Writes render calls as messages, with large parts as parcels. */
interface RenderCalls {
  ask(chain: RedirectChain, request: RequestWithJar, how: RenderCallOptions): Promise<RenderAnswer>;
}

/** Renders are made in the order in which hosts allow them. */
const RANK = 0;
const ADMISSION_BYTES = 64;
/** The longest call that is sent as a message, in bytes of JSON; longer ones are sent as parcels. */
const MOST_INLINE_BYTES = 32_768;

function createRenderCalls({ name, queue, parcels }: RenderCallsOptions): RenderCalls {
  const send = async (text: string) => ({ parcel: await parcels.send(Buffer.from(text), parcels.canSeal) });

  async function sentBody(text: string | null): Promise<RenderCall['body']> {
    if (text === null) return null;
    return sizeOf(text) <= MOST_INLINE_BYTES ? { text } : send(text);
  }

  async function sentTask(inline: RenderTask): Promise<RenderCall['task']> {
    if (sizeOf(inline) <= MOST_INLINE_BYTES) return { inline };
    return send(JSON.stringify(inline));
  }

  return {
    async ask(chain, request, { admission: admissionNow, ...how }) {
      const { url, method } = chain;
      const { maxBodyBytes, proxy, identity, key, wantsStorage, maySolve, mayStart, runsAlone } = request;
      const { secrets, crossOriginHeaders: also = [] } = request;
      const [headers, cookies] = splitCookies(chain.headersNow(Date.now()));
      const traceParent = activeTraceparent();
      const timeoutMs = Math.ceil(how.timeoutMs);
      const { render, storage, jar } = request;
      const [body, task] = await Promise.all([
        sentBody(chain.body),
        sentTask({ render, storage, jar: cookiesOfSite(jar, url, Date.now()) }),
      ]);
      const sent = [body, task].flatMap((each) =>
        each !== null && each !== undefined && 'parcel' in each ? [each.parcel] : [],
      );
      const options = withoutGaps({
        proxy: proxy === undefined ? undefined : writeProxy(proxy),
        identity,
        key,
        task,
        wantsStorage,
        maySolve,
        secrets: secrets === undefined ? undefined : [...secrets],
      });
      const unadmitted: RenderCall = {
        ...{ url: url.href, method, headers, cookies, body, timeoutMs, maxBodyBytes },
        maxRedirects: Math.max(0, request.maxRedirects - chain.redirects.length),
        ...options,
        parcels: parcels.canSeal ? 'sealed' : 'plain',
        needs: [...Object.keys(options), ...(sent.length > 0 ? ['parcels'] : [])],
        ...(runsAlone === true ? { runsAlone } : {}),
        ...(also.length > 0 ? { crossOriginHeaders: [...also] } : {}),
        ...defined({ traceParent }),
      };
      try {
        if (sizeOf(unadmitted) > MOST_REQUEST_BYTES - ADMISSION_BYTES) throw tooMuch();
        // After the parcels are stored, which may take as long as the store likes.
        const admission = await admissionNow();
        const message = admission === undefined ? unadmitted : { ...unadmitted, admission };
        if (mayStart?.() === false) {
          throw new ScrapifieError('CANCELLED', `The request to ${url.host} came too late`);
        }
        // The worker holds itself to the time in the message; here the wait for a free worker comes on top.
        const limitMs = timeoutMs + (how.startWithinMs ?? 0);
        return readRenderAnswer(
          await queue.call(RENDER_CALLS[name], message, { ...how, timeoutMs: limitMs, rank: RANK }),
        );
      } finally {
        for (const parcel of sent) parcels.drop(parcel);
      }
    },
  };
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function withoutGaps<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function tooMuch(): ScrapifieError {
  return new ScrapifieError(
    'UNSUPPORTED_OPTION',
    `URL, headers and cookies of a render take at most ${MOST_REQUEST_BYTES - ADMISSION_BYTES} bytes`,
  );
}
