import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { CallOptions, Queue } from '../../core/ports/queue.ts';
import { activeTraceparent } from '../../core/tracing/tracing.ts';
import { defined } from '../../lib/defined.ts';
import type { CookieJar } from '../cookies/cookie-jar.ts';
import type { FetchRequest } from '../engine.ts';
import type { RedirectChain } from '../http/redirects.ts';
import type { Parcels } from './parcels.ts';
import {
  RENDER_CALLS,
  type RenderAnswer,
  type RenderCall,
  type RenderName,
  type RenderTask,
  readRenderAnswer,
} from './render-message.ts';
import { writeProxy } from './render-schemas.ts';
import { MOST_REQUEST_BYTES } from './sealed-calls.ts';
import { cookiesOfSite, splitCookies } from './worker-jar.ts';

export interface RenderCallsOptions {
  readonly name: RenderName;
  readonly queue: Pick<Queue, 'call'>;
  readonly parcels: Parcels;
}

export interface RequestWithJar extends FetchRequest {
  readonly jar: CookieJar;
}

export interface RenderCallOptions extends Omit<CallOptions, 'rank'> {
  /** Asked when the message is ready: until when the call may be begun, after a new admission where that is needed. */
  readonly admission: () => Promise<RenderCall['admission']>;
}

/** Writes render calls as messages, with large parts as parcels. */
export interface RenderCalls {
  ask(chain: RedirectChain, request: RequestWithJar, how: RenderCallOptions): Promise<RenderAnswer>;
}

/** Renders are made in the order in which hosts allow them. */
const RANK = 0;
const ADMISSION_BYTES = 64;
/** The longest call that is sent as a message, in bytes of JSON; longer ones are sent as parcels. */
const MOST_INLINE_BYTES = 32_768;

export function createRenderCalls({ name, queue, parcels }: RenderCallsOptions): RenderCalls {
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
