import { Pool } from 'undici';
import { z } from 'zod';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { plainRenderWords } from '../../core/model/plain-options.ts';
import type { RenderWish } from '../../core/model/render.ts';
import { jsonWithin } from '../captcha/captcha-api-client.ts';
import { Deadline, followSignal } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import type { PrivateAddresses } from '../guard/address-guard.ts';
import { createTargetGuard, type Resolve, type TargetGuard } from '../guard/guarded-lookup.ts';
import { bodyLimit, EMPTY_BODY } from '../http/body-buffer.ts';
import { redirectTarget } from '../http/redirects.ts';
import { codeOf } from '../network-errors.ts';
import { browserUnavailable, shuttingDown } from '../render-errors.ts';

export interface FirecrawlOptions {
  /** Where `/v2` of the API is, such as `https://api.firecrawl.dev`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Send it to loopback, private and link-local addresses too. */
  readonly allowPrivate: PrivateAddresses;
  readonly resolve?: Resolve | undefined;
}

const answerSchema = z.looseObject({
  success: z.boolean().optional(),
  error: z.string().catch('').optional(),
  code: z.string().catch('').optional(),
  data: z
    .looseObject({
      rawHtml: z.string().nullish(),
      metadata: z
        .looseObject({
          url: z.string().optional().catch(undefined),
          statusCode: z.number().int().min(100).max(999).optional().catch(undefined),
          contentType: z.string().optional().catch(undefined),
        })
        .optional(),
    })
    .nullish(),
});
type Answer = z.output<typeof answerSchema>;

const CONNECT_MS = 10_000;
const BESIDES_BYTES = 1_048_576;
/** JSON may write one byte as six. */
const JSON_FACTOR = 6;
/** Ahead of our own limit, so that the service can still say what went wrong. */
const MARGIN_MS = 500;
const LEAST_MS = 1_000;
/** Redirects are seen by their end alone; this is what most are. */
const SOME_REDIRECT = 302;
const EXTRA = { screenshot: null, pdf: null, xhr: [], consoleErrors: [], actions: [], storage: null };

/**
 * Pages by a Firecrawl-compatible API elsewhere, a service that fetches them from addresses and with browsers of its own. It is
 * told the URL and how long to wait, and nothing that belongs to a caller: no headers, cookies, sessions or proxies.
 * Redirects are followed inside; `onRedirect` is asked afterwards, once, about where the page ended.
 */
export function createFirecrawlEngine(options: FirecrawlOptions): Engine {
  return new FirecrawlEngine(options);
}

class FirecrawlEngine implements Engine {
  readonly name = 'firecrawl';
  readonly #host: string;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pool: Pool;
  readonly #guard: TargetGuard;
  readonly #closing = new AbortController();
  /** Bounded by the callers. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: FirecrawlOptions) {
    const { origin, host, pathname } = new URL(options.url);
    this.#host = host;
    this.#path = `${pathname.replace(/\/+$/, '').replace(/\/v[12]$/, '')}/v2/scrape`;
    this.#headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    };
    // The service sends nothing before the page is there, so the deadline of the attempt is the only time limit.
    this.#pool = new Pool(origin, {
      connections: null,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: CONNECT_MS },
    });
    this.#guard = createTargetGuard(options);
  }

  async fetch(request: FetchRequest): Promise<FetchResponse> {
    const work = this.#attempt(request);
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(shuttingDown());
    await Promise.allSettled(this.#underWay);
    await this.#pool.destroy();
  }

  async #attempt(request: FetchRequest): Promise<FetchResponse> {
    const url = urlOf(request);
    const wanted = bodyFor(request, url);
    if (this.#closing.signal.aborted) throw shuttingDown();
    const startedAt = performance.now();
    const deadline = new Deadline(request.timeoutMs, url.host);
    const caller = followSignal(request.signal);
    const signal = AbortSignal.any([deadline.signal, caller.signal, this.#closing.signal]);
    try {
      await this.#guard(url, undefined, signal);
      if (request.mayStart?.() === false) {
        throw new ScrapifieError('CANCELLED', `The request to ${url.host} came too late`);
      }
      const timeout = Math.max(LEAST_MS, deadline.remainingMs - MARGIN_MS);
      const answer = await this.#ask({ ...wanted, timeout }, signal, request.maxBodyBytes, url.host);
      const finalUrl = redirectTarget(answer.data?.metadata?.url ?? url.href, url);
      if (finalUrl.host !== url.host) await this.#guard(finalUrl, undefined, signal);
      const isLed = finalUrl.href !== url.href;
      if (isLed && request.maxRedirects < 1) {
        throw new ScrapifieError('TOO_MANY_REDIRECTS', `${url.host} redirects more than 0 times`);
      }
      const isStopped = isLed && (await deadline.hold(() => request.onRedirect(finalUrl.href, 1))) === 'stop';
      return {
        url: request.url,
        httpVersion: '1.1',
        ...(isStopped ? redirectOf(url, finalUrl) : pageOf(answer, url, finalUrl, request)),
        ms: performance.now() - startedAt,
      };
    } finally {
      deadline.end();
      caller.end();
    }
  }

  async #ask(body: object, signal: AbortSignal, maxBodyBytes: number, host: string): Promise<Answer> {
    signal.throwIfAborted();
    try {
      const response = await this.#pool.request({
        path: this.#path,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal,
      });
      const { isTooLong, value } = await jsonWithin(
        response.body,
        maxBodyBytes * JSON_FACTOR + BESIDES_BYTES,
      );
      if (isTooLong) throw bodyLimit(maxBodyBytes);
      const parsed = answerSchema.safeParse(value);
      if (!parsed.success) {
        throw firecrawlUnavailable(
          `at ${this.#host} gives no answer that can be read (status ${response.statusCode})`,
        );
      }
      const { success, error = '', code = '' } = parsed.data;
      if (response.statusCode >= 400 || success !== true) {
        throw firecrawlError({ status: response.statusCode, code, error }, host);
      }
      return parsed.data;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isScrapifieError(error)) throw error;
      throw firecrawlUnavailable(`at ${this.#host} is not reached (${codeOf(error) || 'connection failed'})`);
    }
  }
}

type PageAnswer = Omit<FetchResponse, 'url' | 'ms' | 'httpVersion'>;

function pageOf({ data }: Answer, url: URL, finalUrl: URL, { maxBodyBytes }: FetchRequest): PageAnswer {
  const { rawHtml, metadata } = data ?? {};
  if (typeof rawHtml !== 'string') throw firecrawlUnavailable('answers without a page');
  const body = new TextEncoder().encode(rawHtml);
  if (body.byteLength > maxBodyBytes) throw bodyLimit(maxBodyBytes);
  const type = metadata?.contentType?.split(';', 1)[0]?.trim() || 'text/html';
  return {
    finalUrl: finalUrl.href,
    statusCode: metadata?.statusCode ?? 200,
    headers: {},
    // The service returns the page as text, whatever the charset of the original was.
    contentType: `${type}; charset=utf-8`,
    body,
    wireBytes: body.byteLength,
    redirects: finalUrl.href === url.href ? [] : [{ url: url.href, statusCode: SOME_REDIRECT }],
    redirectedTo: null,
    rendered: { rawBody: null, failure: null, extra: EXTRA },
  };
}

const redirectOf = (url: URL, target: URL): PageAnswer => ({
  finalUrl: url.href,
  statusCode: SOME_REDIRECT,
  headers: { location: target.href },
  contentType: null,
  body: EMPTY_BODY,
  wireBytes: 0,
  redirects: [],
  redirectedTo: target.href,
  rendered: { rawBody: null, failure: null, extra: EXTRA },
});

const CODE_OF_FAILURE: Readonly<Record<string, ErrorCode>> = {
  SCRAPE_TIMEOUT: 'TASK_TIMEOUT',
  SCRAPE_DNS_RESOLUTION_ERROR: 'DNS_FAILED',
  SCRAPE_SSL_ERROR: 'TLS_FAILED',
  SCRAPE_SITE_ERROR: 'CONNECT_FAILED',
  SCRAPE_ALL_ENGINES_FAILED: 'BLOCKED',
  SCRAPE_UNSUPPORTED_FILE_ERROR: 'EXTRACTION_FAILED',
};

/** Statuses by which it speaks of itself, and what the operator can do. */
const SENTENCE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'does not understand the request',
  401: 'refuses the key (SCRAPIFIE_FIRECRAWL_KEY)',
  402: 'has no credits left',
  404: 'has no `/v2/scrape`',
  429: 'wants fewer requests',
};

function urlOf(request: Pick<FetchRequest, 'url'>): URL {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new ScrapifieError('INVALID_URL', 'Not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ScrapifieError('INVALID_URL', 'A URL with credentials is not fetched');
  }
  url.hash = '';
  return url;
}

/**
 * What the service is asked for: the document as it is, fetched now and not kept there. What belongs to a caller is never
 * sent to a service of others, and what the service would leave out is refused.
 */
export function bodyFor(request: FetchRequest, url: URL): Readonly<Record<string, unknown>> {
  const { method, headers, cookies, storage, wantsStorage, secrets = [], proxy, render } = request;
  const refused = [
    [method !== 'GET', 'send anything but GET'],
    [Object.keys(headers).length > 0, 'send headers: they belong to the caller'],
    [Object.keys(cookies).length > 0, 'send cookies: they belong to the caller'],
    [storage !== undefined || wantsStorage === true || secrets.length > 0, 'use a session'],
    [proxy !== undefined, 'use a proxy of ours'],
  ] as const;
  for (const [isWanted, what] of refused) if (isWanted) throw firecrawlCannot(what);
  const waitFor = waitOf(render ?? {});
  return {
    url: url.href,
    formats: ['rawHtml'],
    onlyMainContent: false,
    maxAge: 0,
    storeInCache: false,
    ...(waitFor === 0 ? {} : { waitFor }),
  };
}

function waitOf(wish: RenderWish): number {
  const { wait, scroll, actions = [], screenshot, pdf, captureXhr, device } = wish;
  const refused = [
    [wait?.selector !== undefined || wait?.until !== undefined, 'wait for anything but a time'],
    [scroll !== undefined, 'scroll'],
    [actions.length > 0, 'do actions'],
    [screenshot !== undefined, 'take screenshots'],
    [pdf === true, 'make a PDF'],
    [captureXhr === true, 'keep what scripts load'],
    ...plainRenderWords(wish).map((words) => [true, words] as const),
    [device !== undefined, 'show a page on another screen or in another place'],
  ] as const;
  for (const [isWanted, what] of refused) if (isWanted) throw firecrawlCannot(what);
  return wait?.ms ?? 0;
}

/** The service was not reached, or what answers at its address is none. */
const firecrawlUnavailable = (why: string): ScrapifieError => browserUnavailable(`the Firecrawl API ${why}`);

const firecrawlCannot = (what: string): ScrapifieError =>
  new ScrapifieError('UNSUPPORTED_OPTION', `The engine firecrawl cannot ${what}`);

interface FirecrawlFailure {
  readonly status: number;
  readonly code: string;
  readonly error: string;
}

/** What went wrong with a page, or with the service. Its own words are not repeated where they may hold addresses. */
function firecrawlError({ status, code, error }: FirecrawlFailure, host: string): ScrapifieError {
  const known = CODE_OF_FAILURE[code] ?? (status === 408 ? 'TASK_TIMEOUT' : null);
  if (known !== null)
    return new ScrapifieError(known, `The Firecrawl API did not get ${host}: ${plain(error)}`);
  if (status === 403) {
    return new ScrapifieError('BLOCKED', `The Firecrawl API does not fetch ${host}: ${plain(error)}`);
  }
  return firecrawlUnavailable(SENTENCE_OF_STATUS[status] ?? `failed: ${plain(error)}`);
}

function plain(text: string): string {
  const shown = text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/\s+/g, ' ')
    .trim();
  return shown.slice(0, 160) || 'it does not say why';
}
