import type { ConsoleMessage, Page, Request, Response, Route } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { CapturedXhr } from '../../../core/model/render.ts';
import type { BrowserRequest } from '../../engine.ts';
import { EMPTY_BODY, ownBytes } from '../../http/body-buffer.ts';
import { isRedirect } from '../../http/redirects.ts';
import { isPortable } from '../../http/request-headers.ts';
import { isBlocked } from '../page/blocked-requests.ts';
import {
  DocumentProgress,
  hasNoBody,
  lowerCaseNames,
  tooLarge,
  withoutFragment,
} from '../page/main-document.ts';
import { NetworkRecord } from '../page/network-record.ts';
import type { PageLoad } from '../page/page-load.ts';
import type { Evaluate, PageTools, ToolOptions } from '../page/page-tools.ts';

const AWAITED: ReadonlySet<string> = new Set(['xhr', 'fetch', 'script']);

/** By Playwright's own interface, for a browser of which nothing else is known. */
export async function plainTools(options: ToolOptions): Promise<PageTools> {
  const { page, request, guard, isDisguised, limits } = options;
  const document = new PlainDocument(options);
  const network = new PlainNetwork(
    page,
    new NetworkRecord(limits, request.captureXhr === true),
    isDisguised,
    options.load,
  );
  let blocked: Parameters<PageTools['block']>[0] = [];
  /** The origin that is visited only to fill its storage; its requests are answered here. */
  let empty: string | null = null;

  const onRoute = async (route: Route, asked: Request): Promise<void> => {
    try {
      if (empty !== null) {
        await route.fulfill({ contentType: 'text/html', body: '' });
        return;
      }
      const refusal = (await guard?.(asked.url())) ?? null;
      if (refusal !== null || isBlocked(asked.url(), blocked)) {
        if (refusal !== null && document.isMain(asked)) document.onRefused(refusal);
        await route.abort('blockedbyclient');
      } else if (document.isMain(asked)) await document.onRoute(route, asked);
      else await route.continue();
    } catch {
      // The page has navigated or closed meanwhile, which is no error.
    }
  };
  const onRequest = (asked: Request): void => {
    const before = asked.redirectedFrom();
    if (empty === null && before !== null && document.isMain(asked))
      void document.onRedirected(asked, before);
  };
  const onResponse = (response: Response): void => {
    if (empty === null && document.isMain(response.request())) document.onResponse(response);
  };
  listen(page, 'request', onRequest);
  listen(page, 'response', onResponse);
  await page.route(EVERYTHING, onRoute);

  return {
    document: document.progress,
    network: network.record,
    get isTainted() {
      return document.isTainted;
    },
    async block(kinds) {
      blocked = kinds;
    },
    async setLocalStorage(storage) {
      for (const [origin, items] of Object.entries(storage)) {
        empty = origin;
        await page.goto(origin, { timeout: STORAGE_MS });
        await page.evaluate(fillStorage, items);
      }
      empty = null;
      return { arrivedAt: () => {}, end: () => {} };
    },
    canGoBack: async () => false,
    evaluate: evaluateIn(page),
    async readRaw(_answer, maxBytes) {
      const bytes = await document.response?.body().catch(() => null);
      return bytes == null || bytes.length > maxBytes ? null : ownBytes(bytes);
    },
    end() {
      network.end();
      page.off('request', onRequest);
      page.off('response', onResponse);
      page.unroute(EVERYTHING, onRoute).catch(() => {});
    },
  };
}

/** Playwright's types unwrap handles, of which none ever come here. */
const evaluateIn = (page: Page): Evaluate => page.evaluate.bind(page) as Evaluate;

const EVERYTHING = '**/*';
const STORAGE_MS = 10_000;

/** Runs in the page. */
function fillStorage(items: Readonly<Record<string, string>>): void {
  const { localStorage } = globalThis as unknown as {
    readonly localStorage: { clear(): void; setItem(name: string, value: string): void };
  };
  localStorage.clear();
  for (const [name, value] of Object.entries(items)) localStorage.setItem(name, value);
}

/** Throws UNSUPPORTED_OPTION for what cannot be done without Chromium's own protocol. */
export function checkPlain(request: BrowserRequest): void {
  const refuse = (option: string, why: string): never => {
    throw new ScrapifieError('UNSUPPORTED_OPTION', `${option}: ${why}`);
  };
  if (request.pdf === true) refuse('pdf', 'a browser behind a Playwright server makes none');
  if (request.actions?.some(({ type }) => type === 'back') === true) {
    refuse('actions', 'a browser behind a Playwright server does not tell its history, so it cannot go back');
  }
  for (const name of Object.keys(request.headers)) {
    if (isPortable(name, request.crossOriginHeaders)) continue;
    refuse(
      `headers.${name}`,
      'a browser behind a Playwright server would send it to wherever it is redirected; name it in crossOriginHeaders if it may',
    );
  }
}

/** Records the network of one page for one attempt, as far as Playwright's interface reports it. */
class PlainNetwork {
  readonly record: NetworkRecord;
  readonly #load: PageLoad;
  readonly #off: (() => void)[] = [];

  constructor(page: Page, record: NetworkRecord, isDisguised: boolean, load: PageLoad) {
    this.record = record;
    this.#load = load;
    const onRequest = (request: Request) => this.#onRequest(request);
    const onFinished = (request: Request) => this.#onFinished(request);
    const onFailed = (request: Request) => this.record.finish(request);
    const onError = ({ message }: Error) => this.record.report(message);
    const onConsole = (message: ConsoleMessage) => {
      if (message.type() === 'error' || message.type() === 'assert') this.record.report(message.text());
    };
    listen(page, 'request', onRequest);
    listen(page, 'requestfinished', onFinished);
    listen(page, 'requestfailed', onFailed);
    this.#off.push(
      () => page.off('request', onRequest),
      () => page.off('requestfinished', onFinished),
      () => page.off('requestfailed', onFailed),
    );
    if (isDisguised) return;
    listen(page, 'pageerror', onError);
    listen(page, 'console', onConsole);
    this.#off.push(
      () => page.off('pageerror', onError),
      () => page.off('console', onConsole),
    );
  }

  end(): void {
    for (const off of this.#off) off();
    this.record.end();
  }

  #onRequest(request: Request): void {
    if (AWAITED.has(request.resourceType())) this.record.begin(request);
  }

  #onFinished(request: Request): void {
    this.record.finish(request);
    request.sizes().then(
      ({ responseBodySize, responseHeadersSize }) => {
        this.record.wireBytes += Math.max(0, responseBodySize) + Math.max(0, responseHeadersSize);
        // Playwright reports sizes at the end of a response, before decompression.
        this.#load.received(Math.max(0, responseBodySize), false);
      },
      () => {},
    );
    const kind = request.resourceType();
    const isFetch = kind === 'xhr' || kind === 'fetch';
    if (isFetch && this.record.mayCapture()) this.record.capture(this.#capture(request));
  }

  async #capture(request: Request): Promise<CapturedXhr> {
    const response: Response | null = await request.response().catch(() => null);
    const exchange = {
      url: request.url(),
      method: request.method(),
      statusCode: response?.status() ?? 0,
      contentType: response?.headers()['content-type']?.split(';', 1)[0]?.trim() ?? null,
    };
    return this.record.withBody(exchange, response?.body() ?? Promise.resolve(null));
  }
}

/**
 * The page's document as Playwright's interface reports it. A navigation of the page itself is asked about before it
 * begins. A redirect of a server is reported only while the browser follows it: one that must not be followed taints the
 * page, and nothing of it is read.
 */
class PlainDocument {
  readonly progress: DocumentProgress;
  /** The response that `progress.answer` describes. */
  response: Response | null = null;
  isTainted = false;
  readonly #options: ToolOptions;
  #hasStarted = false;

  constructor(options: ToolOptions) {
    this.#options = options;
    this.progress = new DocumentProgress(options);
  }

  isMain(request: Request): boolean {
    return request.isNavigationRequest() && request.frame() === this.#options.page.mainFrame();
  }

  /** The document is about to be requested, not as part of a redirect. */
  async onRoute(route: Route, request: Request): Promise<void> {
    const { request: wanted } = this.#options;
    const target = withoutFragment(request.url());
    this.progress.lastTarget = target;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const { etag, lastModified } = wanted.conditional ?? {};
      await route.continue({
        headers: {
          ...request.headers(),
          'cache-control': 'max-age=0',
          ...(etag == null ? {} : { 'if-none-match': etag }),
          ...(lastModified == null ? {} : { 'if-modified-since': lastModified }),
          ...Object.fromEntries(lowerCaseNames(wanted.headers)),
        },
        ...(wanted.method === 'POST' ? { method: 'POST', postData: wanted.body ?? '' } : {}),
      });
      return;
    }
    try {
      if (await this.progress.depart(target)) {
        await route.continue();
        return;
      }
    } catch (error) {
      this.progress.fail(error);
    }
    await route.abort('aborted');
    this.progress.onArrival();
  }

  /** The browser follows a redirect of a server; the request has already left. */
  async onRedirected(request: Request, before: Request): Promise<void> {
    const { guard } = this.#options;
    const target = withoutFragment(request.url());
    this.progress.lastTarget = target;
    try {
      const refusal = (await guard?.(target)) ?? null;
      if (refusal !== null) throw refusal;
      const response = await before.response();
      const statusCode = response?.status() ?? 302;
      if ((await this.progress.decide(new URL(target), true)) === 'follow') {
        this.progress.redirects.push({ url: before.url(), statusCode });
        return;
      }
      this.isTainted = true;
      const headers = response?.headers() ?? {};
      const answer = { url: withoutFragment(before.url()), statusCode, headers, networkId: null };
      this.progress.end({ answer, body: EMPTY_BODY, redirectedTo: target });
    } catch (error) {
      this.isTainted = true;
      this.progress.fail(error);
    }
  }

  /** The guard refuses the URL of the document. */
  onRefused(refusal: ScrapifieError): void {
    this.progress.fail(refusal);
  }

  onResponse(response: Response): void {
    const [statusCode, headers] = [response.status(), response.headers()];
    if (isRedirect(statusCode) && headers.location !== undefined) return;
    const answer = { url: withoutFragment(response.url()), statusCode, headers, networkId: null };
    const { maxBodyBytes } = this.#options.request;
    this.progress.answer = answer;
    this.response = response;
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes) {
      this.isTainted = true;
      this.progress.fail(tooLarge(maxBodyBytes));
    }
    if (hasNoBody(statusCode)) {
      this.progress.end({ answer, body: EMPTY_BODY, redirectedTo: null });
    }
  }
}
