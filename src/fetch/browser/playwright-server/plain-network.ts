import type { ConsoleMessage, Page, Request, Response } from 'patchright-core';
import type { CapturedXhr } from '../../../model/render.ts';
import { settlesWithin } from '../../deadline.ts';
import { BODY_MS, type NetworkWatchLimits } from '../page/network-watch.ts';
import type { PageLoad } from '../page/page-load.ts';
import type { NetworkActivity } from '../page/page-tools.ts';

const MOST_ERROR_CHARS = 500;
const MOST_AWAITED = 1_000;
const AWAITED: ReadonlySet<string> = new Set(['xhr', 'fetch', 'script']);

/** What a page costs, fetches and complains about, as far as Playwright's interface tells. */
export class PlainNetwork implements NetworkActivity {
  wireBytes = 0;
  readonly protocol = 'http/1.1';
  readonly errors: string[] = [];
  private readonly limits: NetworkWatchLimits;
  private readonly load: PageLoad;
  private readonly capturesXhr: boolean;
  private readonly awaited = new Set<Request>();
  private readonly captured: Promise<CapturedXhr>[] = [];
  private capturedBytes = 0;
  private readonly off: (() => void)[] = [];

  constructor(
    page: Page,
    capturesXhr: boolean,
    isDisguised: boolean,
    limits: NetworkWatchLimits,
    load: PageLoad,
  ) {
    this.limits = limits;
    this.load = load;
    this.capturesXhr = capturesXhr;
    const onRequest = (request: Request) => this.onRequest(request);
    const onFinished = (request: Request) => this.onFinished(request);
    const onFailed = (request: Request) => this.awaited.delete(request);
    const onError = ({ message }: Error) => this.report(message);
    const onConsole = (message: ConsoleMessage) => {
      if (message.type() === 'error' || message.type() === 'assert') this.report(message.text());
    };
    page.on('request', onRequest);
    page.on('requestfinished', onFinished);
    page.on('requestfailed', onFailed);
    this.off.push(
      () => page.off('request', onRequest),
      () => page.off('requestfinished', onFinished),
      () => page.off('requestfailed', onFailed),
    );
    if (isDisguised) return;
    page.on('pageerror', onError);
    page.on('console', onConsole);
    this.off.push(
      () => page.off('pageerror', onError),
      () => page.off('console', onConsole),
    );
  }

  get pending(): number {
    return this.awaited.size;
  }

  xhr(): Promise<CapturedXhr[]> {
    return Promise.all(this.captured);
  }

  end(): void {
    for (const off of this.off) off();
    this.awaited.clear();
  }

  private onRequest(request: Request): void {
    if (AWAITED.has(request.resourceType()) && this.awaited.size < MOST_AWAITED) this.awaited.add(request);
  }

  private onFinished(request: Request): void {
    this.awaited.delete(request);
    request.sizes().then(
      ({ responseBodySize, responseHeadersSize }) => {
        this.wireBytes += Math.max(0, responseBodySize) + Math.max(0, responseHeadersSize);
        // Only what has ended is known here, and before decompression.
        this.load.received(Math.max(0, responseBodySize), false);
      },
      () => {},
    );
    const kind = request.resourceType();
    if (!this.capturesXhr || (kind !== 'xhr' && kind !== 'fetch')) return;
    if (this.captured.length < this.limits.maxXhr) this.captured.push(this.capture(request));
  }

  private async capture(request: Request): Promise<CapturedXhr> {
    const response: Response | null = await request.response().catch(() => null);
    const none: CapturedXhr = {
      url: request.url(),
      method: request.method(),
      statusCode: response?.status() ?? 0,
      contentType: response?.headers()['content-type']?.split(';', 1)[0]?.trim() ?? null,
      body: null,
      isTooLarge: false,
    };
    const reading = response?.body().catch(() => null) ?? null;
    if (reading === null || !(await settlesWithin(reading, BODY_MS))) return none;
    const body = await reading;
    if (body === null) return none;
    const { maxXhrBytes, maxXhrTotalBytes } = this.limits;
    if (body.length > maxXhrBytes || this.capturedBytes + body.length > maxXhrTotalBytes) {
      return { ...none, isTooLarge: true };
    }
    this.capturedBytes += body.length;
    return { ...none, body };
  }

  private report(text: string): void {
    if (this.errors.length < this.limits.maxErrors) this.errors.push(text.slice(0, MOST_ERROR_CHARS));
  }
}
