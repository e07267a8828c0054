import type { CDPSession } from 'patchright-core';
import type { CapturedXhr } from '../../../model/render.ts';
import { settlesWithin } from '../../deadline.ts';
import type { PageLoad } from './page-load.ts';

export interface NetworkWatchLimits {
  readonly maxXhr: number;
  readonly maxXhrBytes: number;
  readonly maxXhrTotalBytes: number;
  readonly maxErrors: number;
}

const MOST_ERROR_CHARS = 500;
const MOST_AWAITED = 1_000;
/** For one body to be read; a late one must not cost the others. */
export const BODY_MS = 1_500;

interface Exchange {
  readonly url: string;
  readonly method: string;
  statusCode: number;
  contentType: string | null;
}

interface RequestSent {
  readonly requestId: string;
  readonly type?: string;
  readonly frameId?: string;
  readonly request: { readonly url: string; readonly method: string };
  readonly redirectResponse?: { readonly encodedDataLength: number };
}

interface ResponseReceived {
  readonly requestId: string;
  readonly type: string;
  readonly frameId?: string;
  readonly response: { readonly status: number; readonly mimeType: string; readonly protocol?: string };
}

interface DataReceived {
  readonly requestId: string;
  /** After decompression. */
  readonly dataLength: number;
}

interface LoadingFinished {
  readonly requestId: string;
  readonly encodedDataLength: number;
}

interface ExceptionThrown {
  readonly exceptionDetails: {
    readonly text: string;
    readonly exception?: { readonly description?: string };
  };
}

interface ConsoleCalled {
  readonly type: string;
  readonly args: readonly { readonly value?: unknown; readonly description?: string }[];
}

interface LogEntry {
  readonly entry: { readonly level: string; readonly text: string };
}

/** Listens to one page for one attempt: what it cost, what its scripts fetched and what went wrong on it. */
export class NetworkWatch {
  wireBytes = 0;
  protocol = 'http/1.1';
  readonly errors: string[] = [];
  private readonly cdp: CDPSession;
  private readonly mainFrameId: string;
  private readonly limits: NetworkWatchLimits;
  private readonly load: PageLoad;
  private documentId = '';
  private readonly capturesXhr: boolean;
  /** Scripts and what they fetch, while it is on its way; bounded by what a page may have open. */
  private readonly awaited = new Set<string>();
  /** Fetches of scripts that have not ended; bounded like what is kept of them. */
  private readonly underWay = new Map<string, Exchange>();
  private readonly captured: Promise<CapturedXhr>[] = [];
  private capturedBytes = 0;
  private readonly off: (() => void)[] = [];

  constructor(
    cdp: CDPSession,
    mainFrameId: string,
    capturesXhr: boolean,
    limits: NetworkWatchLimits,
    load: PageLoad,
  ) {
    this.cdp = cdp;
    this.mainFrameId = mainFrameId;
    this.limits = limits;
    this.load = load;
    this.capturesXhr = capturesXhr;

    const onSent = (event: RequestSent) => this.onSent(event);
    const onReceived = (event: ResponseReceived) => this.onReceived(event);
    const onData = ({ requestId, dataLength }: DataReceived) =>
      this.load.received(dataLength, requestId === this.documentId);
    const onFinished = (event: LoadingFinished) => this.onFinished(event);
    const onFailed = ({ requestId }: { readonly requestId: string }) => this.awaited.delete(requestId);
    const onException = ({ exceptionDetails: { text, exception } }: ExceptionThrown) =>
      this.report(exception?.description ?? text);
    const onConsole = ({ type, args }: ConsoleCalled) => {
      if (type !== 'error' && type !== 'assert') return;
      this.report(args.map(({ value, description }) => description ?? String(value)).join(' '));
    };
    const onLog = ({ entry }: LogEntry) => {
      if (entry.level === 'error') this.report(entry.text);
    };
    cdp.on('Network.requestWillBeSent', onSent);
    cdp.on('Network.responseReceived', onReceived);
    cdp.on('Network.dataReceived', onData);
    cdp.on('Network.loadingFinished', onFinished);
    cdp.on('Network.loadingFailed', onFailed);
    cdp.on('Runtime.exceptionThrown', onException);
    cdp.on('Runtime.consoleAPICalled', onConsole);
    cdp.on('Log.entryAdded', onLog);
    this.off.push(
      () => cdp.off('Network.requestWillBeSent', onSent),
      () => cdp.off('Network.responseReceived', onReceived),
      () => cdp.off('Network.dataReceived', onData),
      () => cdp.off('Network.loadingFinished', onFinished),
      () => cdp.off('Network.loadingFailed', onFailed),
      () => cdp.off('Runtime.exceptionThrown', onException),
      () => cdp.off('Runtime.consoleAPICalled', onConsole),
      () => cdp.off('Log.entryAdded', onLog),
    );
  }

  /** Requests of the page's scripts, and for scripts, that have not been answered. */
  get pending(): number {
    return this.awaited.size;
  }

  /** What was captured, the bodies that are still being read included. */
  xhr(): Promise<CapturedXhr[]> {
    return Promise.all(this.captured);
  }

  end(): void {
    for (const off of this.off) off();
    this.underWay.clear();
    this.awaited.clear();
  }

  private onSent({ requestId, type, frameId, request, redirectResponse }: RequestSent): void {
    if (type === 'Document' && frameId === this.mainFrameId) {
      this.documentId = requestId;
      this.load.restartDocument();
    }
    this.wireBytes += Math.max(0, redirectResponse?.encodedDataLength ?? 0);
    const isFetch = type === 'XHR' || type === 'Fetch';
    if ((isFetch || type === 'Script') && this.awaited.size < MOST_AWAITED) this.awaited.add(requestId);
    if (!this.capturesXhr || !isFetch) return;
    if (this.underWay.size + this.captured.length >= this.limits.maxXhr) return;
    this.underWay.set(requestId, {
      url: request.url,
      method: request.method,
      statusCode: 0,
      contentType: null,
    });
  }

  private onReceived({ requestId, type, frameId, response }: ResponseReceived): void {
    if (type === 'Document' && frameId === this.mainFrameId) this.protocol = response.protocol ?? 'http/1.1';
    const exchange = this.underWay.get(requestId);
    if (exchange === undefined) return;
    exchange.statusCode = response.status;
    exchange.contentType = response.mimeType === '' ? null : response.mimeType;
  }

  private onFinished({ requestId, encodedDataLength }: LoadingFinished): void {
    this.wireBytes += Math.max(0, encodedDataLength);
    this.awaited.delete(requestId);
    const exchange = this.underWay.get(requestId);
    if (exchange === undefined) return;
    this.underWay.delete(requestId);
    this.captured.push(this.capture(requestId, exchange));
  }

  private async capture(requestId: string, exchange: Exchange): Promise<CapturedXhr> {
    const none = { ...exchange, body: null, isTooLarge: false };
    let body: Buffer;
    try {
      const asked = this.cdp.send('Network.getResponseBody', { requestId });
      if (!(await settlesWithin(asked, BODY_MS))) return none;
      const answer = await asked;
      body = Buffer.from(answer.body, answer.base64Encoded ? 'base64' : 'utf8');
    } catch {
      return none; // It had none, or the page has gone on.
    }
    const { maxXhrBytes, maxXhrTotalBytes } = this.limits;
    if (body.length > maxXhrBytes || this.capturedBytes + body.length > maxXhrTotalBytes) {
      return { ...none, isTooLarge: true };
    }
    this.capturedBytes += body.length;
    return { ...exchange, body, isTooLarge: false };
  }

  private report(text: string): void {
    if (this.errors.length < this.limits.maxErrors) this.errors.push(text.slice(0, MOST_ERROR_CHARS));
  }
}
