import type { CDPSession, Page } from 'patchright-core';
import type { ScrapifieError } from '../../../errors/scrapifie-error.ts';
import type { ProxyPass } from '../../guard/guard-proxy.ts';
import type { RequestGuard } from '../../guard/request-guard.ts';
import { PageWorld } from './page-world.ts';
import type { HeaderEntry, PausedRequest } from './protocol.ts';

/** Decides about the documents of a page: each of its requests, and each answer before the page sees it. */
export interface DocumentGate {
  onPaused(event: PausedRequest): Promise<void>;
  /** What a frame of the page is asked for with; undefined for what Chromium has chosen. */
  headersOfFrame(event: PausedRequest): HeaderEntry[] | undefined;
  /** The document may not be asked for. */
  onRefused(refusal: ScrapifieError): void;
}

/** What we need of a page besides Playwright, set up once and kept with it. */
export interface PageKit {
  readonly cdp: CDPSession;
  readonly mainFrameId: string;
  readonly world: PageWorld;
  /** Null between uses: the page then goes nowhere. */
  gate: DocumentGate | null;
  blocked: string;
}

const kits = new WeakMap<Page, PageKit>();
const FAVICON = '/favicon.ico';
/** For bodies that are read after they arrived. */
const BUFFER_BYTES = 33_554_432;

export async function kitOf(
  page: Page,
  watchesConsole: boolean,
  guard: RequestGuard | null,
  proxyLogin: ProxyPass | null = null,
): Promise<PageKit> {
  const known = kits.get(page);
  if (known !== undefined) return known;
  const cdp = await page.context().newCDPSession(page);
  const [{ frameTree }] = await Promise.all([
    cdp.send('Page.getFrameTree'),
    cdp.send('Page.enable'),
    cdp.send('Network.enable', { maxTotalBufferSize: BUFFER_BYTES, maxResourceBufferSize: BUFFER_BYTES }),
    cdp.send('Fetch.enable', {
      handleAuthRequests: true,
      patterns: [
        // Where the library stops at every request, ours are those for documents; else all are, because who has not
        // stopped a request is not asked when it wants a password.
        watchesConsole || guard !== null
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
    watchesConsole ? cdp.send('Runtime.enable') : undefined,
  ]);
  const mainFrameId = frameTree.frame.id;
  const world = new PageWorld(cdp, mainFrameId);
  const kit: PageKit = { cdp, mainFrameId, world, gate: null, blocked: '' };
  const onPaused = (event: PausedRequest): void => {
    const isDocument = event.resourceType === 'Document';
    const isMain = isDocument && event.frameId === kit.mainFrameId;
    const isFrame = isDocument && !isMain && isRequest(event);
    if (isFavicon(event)) refuse(cdp, event.requestId);
    else if (isDocument && !isMain && !isFrame) passAnswerOn(cdp, event);
    else if (!isMain)
      passOn(cdp, event.requestId, changedHeaders(isFrame ? kit.gate?.headersOfFrame(event) : undefined));
    else if (kit.gate === null) refuse(cdp, event.requestId);
    else kit.gate.onPaused(event).catch(() => refuse(cdp, event.requestId));
  };
  const onGuarded = async (event: PausedRequest, check: RequestGuard): Promise<void> => {
    const refusal = isRequest(event) ? await check(event.request.url) : null;
    if (refusal === null) {
      onPaused(event);
      return;
    }
    const isMain = event.resourceType === 'Document' && event.frameId === kit.mainFrameId;
    if (isMain) kit.gate?.onRefused(refusal);
    refuse(cdp, event.requestId);
  };
  cdp.on('Fetch.requestPaused', (event) => {
    if (guard === null) onPaused(event);
    else onGuarded(event, guard).catch(() => refuse(cdp, event.requestId));
  });
  /** The request whose proxy login was sent last: a proxy that asks for it twice does not accept it. */
  let loggedIn = '';
  cdp.on('Fetch.authRequired', ({ requestId, authChallenge }) => {
    // A session that stops a request is asked for the login as well, and its answer is final: the library's session,
    // which knows the login of the context's proxy, is then not asked. Sites get no login; their page is the 401.
    const isProxy = authChallenge.source === 'Proxy' && proxyLogin !== null && loggedIn !== requestId;
    if (isProxy) loggedIn = requestId;
    const authChallengeResponse = isProxy
      ? { response: 'ProvideCredentials' as const, ...proxyLogin }
      : { response: 'CancelAuth' as const };
    cdp.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  kits.set(page, kit);
  return kit;
}

/** What a window would put on its tab; no page asked for it. */
function isFavicon({ resourceType, request }: PausedRequest): boolean {
  return resourceType === 'Other' && URL.parse(request.url)?.pathname === FAVICON;
}

function isRequest({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode === undefined && responseErrorReason === undefined;
}

/** These come too late when the page has gone meanwhile; nobody needs to know. */
export function passOn(cdp: CDPSession, requestId: string, change: RequestChange = {}): void {
  cdp.send('Fetch.continueRequest', { requestId, ...change }).catch(() => {});
}

/**
 * Lets the page have the answer to a request for a document, without the speculation rules that may come with it: what
 * they have the browser fetch in advance is asked for by no page, and nobody wants it.
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
  /** In base64. */
  readonly postData?: string;
  headers?: HeaderEntry[];
}

export async function block(kit: PageKit, patterns: readonly string[]): Promise<void> {
  const text = patterns.join(' ');
  if (kit.blocked === text) return;
  await kit.cdp.send('Network.setBlockedURLs', { urls: [...patterns] });
  kit.blocked = text;
}
