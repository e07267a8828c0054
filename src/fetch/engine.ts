import type { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { EngineName } from '../core/model/attempt.ts';
import type { Identity } from '../core/model/identity.ts';
import type { ProxyEndpoint } from '../core/model/proxy.ts';
import type { BrowserStorage, RenderExtra, RenderWish } from '../core/model/render.ts';
import type { HeldBytes } from './byte-budget.ts';
import type { CookieJar } from './cookies/cookie-jar.ts';

/**
 * Makes one attempt at one URL. An engine knows nothing of robots, rates, retries or jobs: its caller has
 * decided that the request may be made now, and limits how many run at once.
 *
 * Any status code is an answer, 404 and 503 too. Only what kept an answer from arriving whole and within the
 * limits is thrown, always as a ScrapifieError; nothing of a response that was cut off is returned.
 */
export interface Engine {
  readonly name: EngineName;
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** Ends attempts under way with SHUTTING_DOWN and closes every connection. */
  close(): Promise<void>;
}

export interface FetchRequest {
  /** Absolute http or https URL without credentials. A fragment is not sent. */
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'HEAD';
  /** Added to the engine's own headers, or in their place; names in any case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Names, in lower case, of `headers` that also go to other origins than that of `url`, where redirects lead. Without
   * being named, only those go there that tell no secret (`isPortable`).
   */
  readonly crossOriginHeaders?: readonly string[] | undefined;
  /** Sent besides those of the jar, in place of ones with the same name; to the origin of `url` alone. */
  readonly cookies: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** For the whole attempt with its redirects, without the time that `onRedirect` and `admission.again` take. */
  readonly timeoutMs: number;
  /** Largest body after decompression. */
  readonly maxBodyBytes: number;
  /** A longer body is cut there instead of refused, and the rest is not read. Only for the plain HTTP engine. */
  readonly isCutAtLimit?: boolean | undefined;
  /** 0: the first redirect is one too many. */
  readonly maxRedirects: number;
  /** Asks for the page only if it changed; the answer may then be 304 with an empty body. */
  readonly conditional: Validators | null;
  /**
   * Asked before each redirect is followed, the first being hop 1: `stop` returns the redirect itself. What it
   * throws ends the attempt.
   */
  readonly onRedirect: (target: string, hop: number) => Promise<'follow' | 'stop'>;
  /** Sends its cookies and keeps those that responses set. Without one, cookies last for the attempt. */
  readonly jar?: CookieJar | undefined;
  /** The proxy; without one, connections are direct. */
  readonly proxy?: ProxyEndpoint | undefined;
  /** The browser identity to present; without one, the crawler's own user agent. */
  readonly identity?: Identity | undefined;
  /**
   * Whose request this is. Pages of one key may see each other's cookies, storage and cache in a browser; pages of
   * different keys never do. Without one, the key is the page's origin.
   */
  readonly key?: string | undefined;
  /** Only for engines that render pages. */
  readonly render?: RenderWish | undefined;
  /** Local storage of a session, put in place before the page's own scripts run. Only for engines that show pages. */
  readonly storage?: BrowserStorage | undefined;
  /** Return cookies and local storage as they are at the end. Only for engines that show pages. */
  readonly wantsStorage?: boolean | undefined;
  /** A captcha on the page may be sent to the solver service. */
  readonly maySolve?: boolean | undefined;
  /**
   * The URL was under way when a browser, or the process that drives it, was lost: it is shown beside no other page.
   * Only for engines that show pages.
   */
  readonly runsAlone?: boolean | undefined;
  /** Values of stored credentials that the response must not show; see `withholdSecrets`. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * Asked right before each request is written to its connection, which may be long after `fetch` was called: false
   * ends the attempt with CANCELLED and nothing is sent.
   */
  readonly mayStart?: (() => boolean) | undefined;
  /**
   * Counts the bytes that the engine holds for this attempt; reading pauses when it says so. What a returned response
   * holds stays counted: the caller closes the account when it has let go of the response.
   */
  readonly held?: HeldBytes | undefined;
  /**
   * For engines in other processes, where a request may wait for a worker, and may be made again by another worker.
   * Without it a request leaves whenever a worker is free, and one that a worker has begun before ends with NO_WORKER.
   */
  readonly admission?: Admission | undefined;
  /** Ends the attempt with its reason where that is a ScrapifieError, else with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The permission of the host's gate to send the request. */
export interface Admission {
  /** How long after `fetch` was called the request may leave with it; Infinity: at any time. */
  readonly validMs: number;
  /**
   * Resolves when the gate has admitted one more request, which is then valid as long. Asked before a request leaves
   * too late, and before it is sent a second time. What it throws ends the attempt.
   */
  again(): Promise<void>;
}

export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface FetchResponse {
  /** The URL as it was requested. */
  readonly url: string;
  /** Where the answer came from, without fragment. */
  readonly finalUrl: string;
  readonly statusCode: number;
  /** Names in lower case. */
  readonly headers: ResponseHeaders;
  readonly contentType: string | null;
  /** Decompressed, and alone on its ArrayBuffer: it may be transferred to a thread. Empty for a redirect. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Body bytes received, before decompression and over all redirects. */
  readonly wireBytes: number;
  /** The redirects that were followed, in order, each with the status that caused it. */
  readonly redirects: readonly Redirect[];
  /** Where the redirect leads that `onRedirect` did not want followed; else null. */
  readonly redirectedTo: string | null;
  readonly ms: number;
  readonly httpVersion: '1.1' | '2';
  /** Only of engines that show pages. */
  readonly rendered?: Rendered | undefined;
  /** The body is that of a stored page; engines never say so. */
  readonly stored?: StoredMark | undefined;
}

/** Why a stored body stands for the page: it is young enough, or the host said that it has not changed. */
export interface StoredMark {
  readonly reason: 'cache' | 'not-modified';
  readonly storedAt: number;
}

/** What a response holds in memory, its headers aside. */
export function heldBytesOf({ body, rendered }: FetchResponse): number {
  if (rendered === undefined) return body.byteLength;
  const { rawBody, extra } = rendered;
  const { screenshot, failurePicture, pdf, xhr } = extra;
  const parts = [
    body,
    rawBody,
    screenshot?.bytes,
    failurePicture?.bytes,
    pdf,
    ...xhr.map((each) => each.body),
  ];
  return parts.reduce((sum, bytes) => sum + (bytes?.byteLength ?? 0), 0);
}

/** What there is of a page beyond its document. */
export interface Rendered {
  /** As the server sent the page, where that was HTML and small; else null. */
  readonly rawBody: Uint8Array<ArrayBuffer> | null;
  readonly extra: RenderExtra;
  /**
   * What kept the page from being rendered as asked, though it had arrived: a selector that never came, an action
   * that failed. The message names the step; everything else here is what there was by then.
   */
  readonly failure: ScrapifieError | null;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface Redirect {
  /** The URL that answered with a redirect. */
  readonly url: string;
  readonly statusCode: number;
}

/**
 * A request to render a page. What it leaves out costs nothing: no screenshot is taken and no answer of the page's
 * scripts is kept unless it is asked for.
 */
export interface BrowserRequest extends Omit<FetchRequest, 'render'>, RenderWish {
  /** For the part until `wait.until`; 30 s by default, and never more than `timeoutMs`. */
  readonly navigationTimeoutMs?: number | undefined;
  readonly userAgent?: string | undefined;
}

/** See Rendered: the same without a level between. */
export interface BrowserResponse extends Omit<FetchResponse, 'rendered'>, Rendered {}
