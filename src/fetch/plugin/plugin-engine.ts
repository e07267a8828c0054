import type { PluginPart } from '../../core/config/plugin-part.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { Deadline, followSignal, orAborted } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import type { PrivateAddresses } from '../guard/address-guard.ts';
import { createTargetGuard } from '../guard/guarded-lookup.ts';
import { bodyLimit, EMPTY_BODY } from '../http/body-buffer.ts';
import { redirectTarget } from '../http/redirects.ts';
import { shuttingDown } from '../render-errors.ts';

/** A way to fetch pages that a plug-in adds. Its traits are those by which all engines are chosen, allowed and refused. */
export interface EnginePlugin {
  /** Within the plug-in; requests and policies name it with the name of the plug-in in front. */
  readonly name: string;
  readonly says: string;
  /** Cost of one page in fetches over plain HTTP: `auto` tries engines in this order. `browser` is 10, `stealth` 20. */
  readonly cost: number;
  readonly runsScripts: boolean;
  /** Appears as a visitor's browser: it then needs the consent `stealth` of the operator on each host. */
  readonly isDisguised: boolean;
  /** `messages`: it sends headers and bodies of the caller's. `proxies`: it goes through `request.proxy`. */
  readonly abilities?: readonly ('messages' | 'proxies')[];
  /** Called once, before the first page. */
  open(context: EngineContext): PluginEngine;
}

export interface EngineContext {
  /** Plain HTTP behind the address guard, as `engine: 'http'` does it. */
  readonly web: Pick<Engine, 'fetch'>;
  /** The honest one of this installation. */
  readonly userAgent: string;
}

export interface PluginEngine {
  /**
   * Makes one attempt, as the contract of `Engine` says: any status is an answer, and errors are thrown. Politeness, robots
   * and retries are decided before. `request.signal` is aborted when the attempt is over.
   */
  fetch(request: FetchRequest): Promise<FetchResponse | EngineAnswer>;
  close?(): Promise<void>;
}

/** The answer of an engine that does not tell more. */
export interface EngineAnswer {
  readonly statusCode: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Where the page ended, after redirects; left out: where it began. */
  readonly finalUrl?: string;
}

export interface PluginEngineOptions extends EngineContext {
  readonly allowPrivate: PrivateAddresses;
}

/** Redirects are seen by their end alone; this is what most are. */
const SOME_REDIRECT = 302;

/**
 * The engine of a plug-in as the rest of the program knows engines: within time and size, behind the check of addresses, and
 * with errors that are ScrapifieErrors. What connects by itself resolves names once more, so that the check does not hold
 * against a name whose address changes in between; what goes through `web` is checked at the connection.
 */
export function createPluginEngine(
  part: PluginPart,
  plugin: EnginePlugin,
  { web, userAgent, allowPrivate }: PluginEngineOptions,
): Engine {
  const guard = createTargetGuard({ allowPrivate });
  const closing = new AbortController();
  let opened: PluginEngine | null = null;

  async function answerOf(request: FetchRequest, url: URL, deadline: Deadline, signal: AbortSignal) {
    await guard(url, request.proxy, signal);
    if (request.mayStart?.() === false) {
      throw new ScrapifieError('CANCELLED', `The request to ${url.host} came too late`);
    }
    const onRedirect: FetchRequest['onRedirect'] = (target, hop) =>
      deadline.hold(() => request.onRedirect(target, hop));
    opened ??= plugin.open({ web, userAgent });
    const answer: unknown = await opened.fetch({ ...request, onRedirect, signal });
    const response = responseOf(answer, request, url);
    if (response.body.byteLength > request.maxBodyBytes) throw bodyLimit(request.maxBodyBytes);
    const isTold = isWhole(answer as FetchResponse | EngineAnswer);
    if (isTold || response.finalUrl === url.href) return response;
    // The engine has followed redirects by itself, so the caller decides about them afterwards.
    if (request.maxRedirects < 1) {
      throw new ScrapifieError('TOO_MANY_REDIRECTS', `${url.host} redirects more than 0 times`);
    }
    await guard(new URL(response.finalUrl), request.proxy, signal);
    return (await onRedirect(response.finalUrl, 1)) === 'follow' ? response : stoppedAt(response, url);
  }

  return {
    name: part,
    async fetch(request) {
      if (closing.signal.aborted) throw shuttingDown();
      const url = new URL(request.url);
      url.hash = '';
      const started = performance.now();
      const deadline = new Deadline(request.timeoutMs, url.host);
      const caller = followSignal(request.signal);
      const signal = AbortSignal.any([deadline.signal, caller.signal, closing.signal]);
      try {
        const response = await orAborted(answerOf(request, url, deadline, signal), signal);
        return { ...response, url: request.url, ms: performance.now() - started };
      } catch (error) {
        if (isScrapifieError(error)) throw error;
        const words = error instanceof Error ? error.message : String(error);
        throw new ScrapifieError('PLUGIN_FAILED', `The engine ${part} threw: ${words}`, { cause: error });
      } finally {
        deadline.end();
        caller.end();
      }
    },
    async close() {
      closing.abort(shuttingDown());
      // What it throws at the end costs nothing any more.
      await Promise.resolve(opened?.close?.()).catch(() => undefined);
    },
  };
}

const isWhole = (answer: FetchResponse | EngineAnswer): answer is FetchResponse => 'redirects' in answer;

/** Throws an error in words for the author of the plug-in when the answer is none. */
function responseOf(answer: unknown, request: FetchRequest, url: URL): FetchResponse {
  if (typeof answer !== 'object' || answer === null) throw new Error('it answered with nothing');
  const given = answer as FetchResponse | EngineAnswer;
  const { statusCode, body } = given;
  if (!Number.isInteger(statusCode) || statusCode < 100 || statusCode > 599) {
    throw new Error('`statusCode` must be a whole number from 100 to 599');
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new Error('`body` must be text or bytes');
  }
  // A copy alone on its memory: it is transferred to a thread, and the plug-in may keep its own.
  const bytes = new Uint8Array(typeof body === 'string' ? new TextEncoder().encode(body) : body);
  if (isWhole(given)) return { ...given, body: bytes };
  const headers = given.headers ?? {};
  const finalUrl = given.finalUrl === undefined ? url : redirectTarget(given.finalUrl, url);
  const isLed = finalUrl.href !== url.href;
  return {
    url: request.url,
    finalUrl: finalUrl.href,
    statusCode,
    headers,
    contentType: headers['content-type'] ?? (typeof body === 'string' ? 'text/html; charset=utf-8' : null),
    body: bytes,
    wireBytes: bytes.byteLength,
    redirects: isLed ? [{ url: url.href, statusCode: SOME_REDIRECT }] : [],
    redirectedTo: null,
    ms: 0,
    httpVersion: '1.1',
  };
}

const stoppedAt = (response: FetchResponse, url: URL): FetchResponse => ({
  ...response,
  finalUrl: url.href,
  statusCode: SOME_REDIRECT,
  headers: { location: response.finalUrl },
  contentType: null,
  body: EMPTY_BODY,
  redirects: [],
  redirectedTo: response.finalUrl,
});
