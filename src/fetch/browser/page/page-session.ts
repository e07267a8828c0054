import type { CDPSession, Page } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { RequestGuard } from '../../guard/guarded-lookup.ts';
import type { ProxyLogin } from '../../guard-proxy/guard-proxy.ts';
import { type Body, ownBytes } from '../../http/body-buffer.ts';
import { PageWorld } from './page-world.ts';

/** Decides about each request for a document of a page, and about each response before the page gets it. */
export interface DocumentGate {
  onPaused(event: PausedRequest): Promise<void>;
  /** What a frame of the page is asked for with; undefined for what Chromium has chosen. */
  headersOfFrame(event: PausedRequest): HeaderEntry[] | undefined;
  /** The document may not be asked for. */
  onRefused(refusal: ScrapifieError): void;
}

/** A CDP session of a page with its state, opened once per page. */
export interface PageSession {
  readonly cdp: CDPSession;
  readonly mainFrameId: string;
  readonly world: PageWorld;
  /** Null between uses: navigations are refused then. */
  gate: DocumentGate | null;
  blocked: string;
}

const sessions = new WeakMap<Page, PageSession>();
const FAVICON = '/favicon.ico';
/** For bodies that are read after they arrived. */
const BUFFER_BYTES = 33_554_432;

export async function pageSessionFor(
  page: Page,
  isDisguised: boolean,
  guard: RequestGuard | null,
  proxyLogin: ProxyLogin | null = null,
): Promise<PageSession> {
  const known = sessions.get(page);
  if (known !== undefined) return known;
  const cdp = await page.context().newCDPSession(page);
  const [{ frameTree }] = await Promise.all([
    cdp.send('Page.getFrameTree'),
    cdp.send('Page.enable'),
    cdp.send('Network.enable', { maxTotalBufferSize: BUFFER_BYTES, maxResourceBufferSize: BUFFER_BYTES }),
    cdp.send('Fetch.enable', {
      handleAuthRequests: true,
      patterns: [
        // The driver library pauses every request of a disguised page, so this session pauses documents only. On other
        // pages it pauses all: Chromium asks for passwords only those sessions that have paused the request.
        !isDisguised || guard !== null
          ? { urlPattern: '*', requestStage: 'Request' }
          : { resourceType: 'Document', requestStage: 'Request' },
        { resourceType: 'Document', requestStage: 'Response' },
      ],
    }),
    // A worker of an earlier page must not answer for the server.
    cdp.send('Network.setBypassServiceWorker', { bypass: true }),
    // What is made ready in advance is asked for by no page that could be looked at.
    guard === null ? undefined : cdp.send('Page.setPrerenderingAllowed', { isAllowed: false }),
    cdp.send('Log.enable'),
    // A page can find out that this is on, which an honest browser need not hide.
    isDisguised ? undefined : cdp.send('Runtime.enable'),
  ]);
  const mainFrameId = frameTree.frame.id;
  const world = new PageWorld(cdp, mainFrameId);
  const session: PageSession = { cdp, mainFrameId, world, gate: null, blocked: '' };
  const onPaused = (event: PausedRequest): void => {
    const isDocument = event.resourceType === 'Document';
    const isMain = isDocument && event.frameId === session.mainFrameId;
    const isFrame = isDocument && !isMain && isRequest(event);
    if (isFavicon(event)) refuse(cdp, event.requestId);
    else if (isDocument && !isMain && !isFrame) passAnswerOn(cdp, event);
    else if (!isMain)
      passOn(cdp, event.requestId, changedHeaders(isFrame ? session.gate?.headersOfFrame(event) : undefined));
    else if (session.gate === null) refuse(cdp, event.requestId);
    else session.gate.onPaused(event).catch(() => refuse(cdp, event.requestId));
  };
  const onGuarded = async (event: PausedRequest, check: RequestGuard): Promise<void> => {
    const refusal = isRequest(event) ? await check(event.request.url) : null;
    if (refusal === null) {
      onPaused(event);
      return;
    }
    const isMain = event.resourceType === 'Document' && event.frameId === session.mainFrameId;
    if (isMain) session.gate?.onRefused(refusal);
    refuse(cdp, event.requestId);
  };
  listen(cdp, 'Fetch.requestPaused', (event: PausedRequest) => {
    if (guard === null) onPaused(event);
    else onGuarded(event, guard).catch(() => refuse(cdp, event.requestId));
  });
  /** The request whose proxy login was sent last: a proxy that asks for it twice does not accept it. */
  let loggedIn = '';
  listen(cdp, 'Fetch.authRequired', ({ requestId, authChallenge }: AuthRequired) => {
    // A session that stops a request is asked for the login as well, and its answer is final: the library's session,
    // which knows the login of the context's proxy, is then not asked. Sites get no login; their page is the 401.
    const isProxy = authChallenge.source === 'Proxy' && proxyLogin !== null && loggedIn !== requestId;
    if (isProxy) loggedIn = requestId;
    const authChallengeResponse = isProxy
      ? { response: 'ProvideCredentials' as const, ...proxyLogin }
      : { response: 'CancelAuth' as const };
    cdp.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  sessions.set(page, session);
  return session;
}

/** The icon of a tab, which no page requests. */
function isFavicon({ resourceType, request }: PausedRequest): boolean {
  return resourceType === 'Other' && URL.parse(request.url)?.pathname === FAVICON;
}

function isRequest({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode === undefined && responseErrorReason === undefined;
}

/** Fails when the page has navigated or closed meanwhile, which is no error. */
export function passOn(cdp: CDPSession, requestId: string, change: RequestChange = {}): void {
  cdp.send('Fetch.continueRequest', { requestId, ...change }).catch(() => {});
}

/**
 * Lets the page have the answer to a request for a document, without its speculation rules: they make the browser fetch
 * pages in advance, by requests that no page makes and no guard sees.
 */
export function passAnswerOn(cdp: CDPSession, event: PausedRequest): void {
  const { requestId, responseStatusCode, responseHeaders = [] } = event;
  const kept = responseHeaders.filter(({ name }) => name.toLowerCase() !== 'speculation-rules');
  if (responseStatusCode === undefined || kept.length === responseHeaders.length) passOn(cdp, requestId);
  else {
    const answer = { requestId, responseCode: responseStatusCode, responseHeaders: kept };
    cdp.send('Fetch.continueResponse', answer).catch(() => {});
  }
}

export function refuse(cdp: CDPSession, requestId: string): void {
  cdp.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => {});
}

export function changedHeaders(headers: HeaderEntry[] | undefined): RequestChange {
  return headers === undefined ? {} : { headers };
}

export interface RequestChange {
  readonly method?: string;
  /** The body of the request in Base64. */
  readonly postData?: string;
  headers?: HeaderEntry[];
}

export async function block(session: PageSession, patterns: readonly string[]): Promise<void> {
  const text = patterns.join(' ');
  if (session.blocked === text) return;
  await session.cdp.send('Network.setBlockedURLs', { urls: [...patterns] });
  session.blocked = text;
}

/** The parts that we read of Chromium's messages. */
export interface HeaderEntry {
  name: string;
  value: string;
}

/** What a proxy or a site asks a login for. */
interface AuthRequired {
  readonly requestId: string;
  readonly authChallenge: { readonly source?: 'Server' | 'Proxy' };
}

export interface PausedRequest {
  readonly requestId: string;
  readonly frameId: string;
  readonly resourceType: string;
  readonly networkId?: string;
  readonly redirectedRequestId?: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly responseStatusCode?: number;
  readonly responseErrorReason?: string;
  readonly responseHeaders?: readonly HeaderEntry[];
}

const CHUNK_BYTES = 1_048_576;

/** Reads the body of an answer that is held back, at most to the limit. The answer cannot be passed on afterwards. */
export async function readPausedBody(
  cdp: CDPSession,
  requestId: string,
  maxBytes: number,
  tooLarge: (limit: number) => Error,
): Promise<Body> {
  const { stream: handle } = await cdp.send('Fetch.takeResponseBodyAsStream', { requestId });
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for (let isOver = false; !isOver; ) {
      const { data, eof, base64Encoded } = await cdp.send('IO.read', { handle, size: CHUNK_BYTES });
      const part = Buffer.from(data, base64Encoded === true ? 'base64' : 'utf8');
      length += part.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      parts.push(part);
      isOver = eof;
    }
  } finally {
    cdp.send('IO.close', { handle }).catch(() => {});
  }
  return ownBytes(Buffer.concat(parts));
}
