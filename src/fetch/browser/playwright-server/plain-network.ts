import type { ConsoleMessage, Page, Request, Response } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import type { CapturedXhr } from '../../../core/model/render.ts';
import type { NetworkRecord } from '../page/network-record.ts';
import type { PageLoad } from '../page/page-load.ts';

const AWAITED: ReadonlySet<string> = new Set(['xhr', 'fetch', 'script']);

/** Records the network of one page for one attempt, as far as Playwright's interface reports it. */
export class PlainNetwork {
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
