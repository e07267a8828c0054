import type { CDPSession } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import type { CapturedXhr } from '../../../core/model/render.ts';
import { settlesWithin } from '../../deadline.ts';
import type { PageLoad } from './page-load.ts';
import type { NetworkActivity } from './page-tools.ts';

export interface NetworkLimits {
  readonly maxXhr: number;
  readonly maxXhrBytes: number;
  readonly maxXhrTotalBytes: number;
  readonly maxErrors: number;
}

const MAX_ERROR_CHARS = 500;
const MAX_PENDING = 1_000;
/** For reading one body; a late one must not delay the others. */
const BODY_MS = 1_500;
/** For all of them together, when the page is read. */
const ALL_BODIES_MS = 2_000;

/** What one attempt records of a page's network: bytes, requests under way, captured responses and errors. */
export class NetworkRecord implements NetworkActivity {
  wireBytes = 0;
  protocol = 'http/1.1';
  readonly errors: string[] = [];
  readonly #limits: NetworkLimits;
  readonly #capturesXhr: boolean;
  readonly #awaited = new Set<unknown>();
  readonly #captured: Promise<CapturedXhr>[] = [];
  #capturedBytes = 0;

  constructor(limits: NetworkLimits, capturesXhr: boolean) {
    this.#limits = limits;
    this.#capturesXhr = capturesXhr;
  }

  get pending(): number {
    return this.#awaited.size;
  }

  xhr(): Promise<CapturedXhr[]> {
    return Promise.all(this.#captured);
  }

  /** A script, or a request of a script, is under way; `key` identifies it to `finish`. */
  begin(key: unknown): void {
    if (this.#awaited.size < MAX_PENDING) this.#awaited.add(key);
  }

  finish(key: unknown): void {
    this.#awaited.delete(key);
  }

  /** True while another response may be captured, besides those that are still under way. */
  mayCapture(underWay = 0): boolean {
    return this.#capturesXhr && this.#captured.length + underWay < this.#limits.maxXhr;
  }

  capture(reading: Promise<CapturedXhr>): void {
    this.#captured.push(reading);
  }

  /** Adds the body to a response: null when it cannot be read in time, or exceeds a limit. */
  async withBody(
    exchange: Omit<CapturedXhr, 'body' | 'isTooLarge'>,
    reading: Promise<Uint8Array | null>,
  ): Promise<CapturedXhr> {
    const none: CapturedXhr = { ...exchange, body: null, isTooLarge: false };
    if (!(await settlesWithin(reading, BODY_MS))) return none;
    const body = await reading.catch(() => null);
    if (body === null) return none;
    const { maxXhrBytes, maxXhrTotalBytes } = this.#limits;
    if (body.length > maxXhrBytes || this.#capturedBytes + body.length > maxXhrTotalBytes) {
      return { ...none, isTooLarge: true };
    }
    this.#capturedBytes += body.length;
    return { ...none, body };
  }

  report(error: string): void {
    if (this.errors.length < this.#limits.maxErrors) this.errors.push(error.slice(0, MAX_ERROR_CHARS));
  }

  end(): void {
    this.#awaited.clear();
  }
}

/** What was captured; nothing when it cannot be read in time. */
export async function readXhr(network: NetworkActivity): Promise<readonly CapturedXhr[]> {
  const reading = network.xhr();
  return (await settlesWithin(reading, ALL_BODIES_MS)) ? reading : [];
}

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
  /** Number of bytes after decompression. */
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

/** Records the network of one page for one attempt, from Chromium's events. */
export class NetworkWatch {
  readonly record: NetworkRecord;
  readonly #cdp: CDPSession;
  readonly #mainFrameId: string;
  readonly #load: PageLoad;
  #documentId = '';
  /** Requests of scripts that have not ended and will be captured; bounded by the record. */
  readonly #underWay = new Map<string, Exchange>();
  readonly #off: (() => void)[] = [];

  constructor(cdp: CDPSession, mainFrameId: string, record: NetworkRecord, load: PageLoad) {
    this.#cdp = cdp;
    this.#mainFrameId = mainFrameId;
    this.record = record;
    this.#load = load;

    const onSent = (event: RequestSent) => this.#onSent(event);
    const onReceived = (event: ResponseReceived) => this.#onReceived(event);
    const onData = ({ requestId, dataLength }: DataReceived) =>
      this.#load.received(dataLength, requestId === this.#documentId);
    const onFinished = (event: LoadingFinished) => this.#onFinished(event);
    const onFailed = ({ requestId }: { readonly requestId: string }) => this.record.finish(requestId);
    const onException = ({ exceptionDetails: { text, exception } }: ExceptionThrown) =>
      this.record.report(exception?.description ?? text);
    const onConsole = ({ type, args }: ConsoleCalled) => {
      if (type !== 'error' && type !== 'assert') return;
      this.record.report(args.map(({ value, description }) => description ?? String(value)).join(' '));
    };
    const onLog = ({ entry }: LogEntry) => {
      if (entry.level === 'error') this.record.report(entry.text);
    };
    listen(cdp, 'Network.requestWillBeSent', onSent);
    listen(cdp, 'Network.responseReceived', onReceived);
    listen(cdp, 'Network.dataReceived', onData);
    listen(cdp, 'Network.loadingFinished', onFinished);
    listen(cdp, 'Network.loadingFailed', onFailed);
    listen(cdp, 'Runtime.exceptionThrown', onException);
    listen(cdp, 'Runtime.consoleAPICalled', onConsole);
    listen(cdp, 'Log.entryAdded', onLog);
    this.#off.push(
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

  end(): void {
    for (const off of this.#off) off();
    this.#underWay.clear();
    this.record.end();
  }

  #onSent({ requestId, type, frameId, request, redirectResponse }: RequestSent): void {
    if (type === 'Document' && frameId === this.#mainFrameId) {
      this.#documentId = requestId;
      this.#load.restartDocument();
    }
    this.record.wireBytes += Math.max(0, redirectResponse?.encodedDataLength ?? 0);
    const isFetch = type === 'XHR' || type === 'Fetch';
    if (isFetch || type === 'Script') this.record.begin(requestId);
    if (!isFetch || !this.record.mayCapture(this.#underWay.size)) return;
    this.#underWay.set(requestId, {
      url: request.url,
      method: request.method,
      statusCode: 0,
      contentType: null,
    });
  }

  #onReceived({ requestId, type, frameId, response }: ResponseReceived): void {
    if (type === 'Document' && frameId === this.#mainFrameId)
      this.record.protocol = response.protocol ?? 'http/1.1';
    const exchange = this.#underWay.get(requestId);
    if (exchange === undefined) return;
    exchange.statusCode = response.status;
    exchange.contentType = response.mimeType === '' ? null : response.mimeType;
  }

  #onFinished({ requestId, encodedDataLength }: LoadingFinished): void {
    this.record.wireBytes += Math.max(0, encodedDataLength);
    this.record.finish(requestId);
    const exchange = this.#underWay.get(requestId);
    if (exchange === undefined) return;
    this.#underWay.delete(requestId);
    this.record.capture(this.record.withBody(exchange, this.#readBody(requestId)));
  }

  /** Rejects for a response without a body, and when the page has gone on. */
  async #readBody(requestId: string): Promise<Buffer> {
    const { body, base64Encoded } = await this.#cdp.send('Network.getResponseBody', { requestId });
    return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
  }
}
