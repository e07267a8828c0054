import { createHash } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions, Page } from 'patchright-core';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { EngineName } from '../../core/model/attempt.ts';
import type { CaptchaResult, RenderDevice } from '../../core/model/render.ts';
import { defined } from '../../lib/defined.ts';
import type { CookieJar } from '../cookies/cookie-jar.ts';
import { Deadline, followSignal, orAborted } from '../deadline.ts';
import type { BrowserRequest, BrowserResponse, Engine, FetchRequest, FetchResponse } from '../engine.ts';
import { proxyKeyOf } from '../proxy/proxy-url.ts';
import { browserLost, mapNavigationError, shuttingDown } from '../render-errors.ts';
import type { HumanInputSource } from './actions/render-actions.ts';
import type { BrowserRuntime } from './browser-runtime.ts';
import { guardContext } from './page/blocked-requests.ts';
import { cdpTools } from './page/cdp-tools.ts';
import { type ArrangeHeaders, checkHeaders } from './page/main-document.ts';
import { checkPlain, plainTools } from './playwright-server/plain-tools.ts';
import type { PageLease } from './pool/pool-health.ts';
import type { ContextPlan } from './pool/pooled-browser.ts';
import { RenderAttempt, type RenderAttemptLimits } from './render-attempt.ts';

/** An engine that renders pages. `fetch` is `render` behind the interface of all engines. */
export interface RenderEngine extends Engine {
  /**
   * Throws, as ScrapifieError, only the reason why no page arrived. A failure on the page afterwards is in
   * `failure`, beside the result so far.
   */
  render(request: BrowserRequest): Promise<BrowserResponse>;
}

export interface BrowserEngineHooks extends ContextHooks {
  /** Called before the navigation; its error ends the attempt. */
  readonly beforeNavigation?: ((page: Page, request: BrowserRequest) => void) | undefined;
  /** Returns the headers of requests for documents. */
  readonly arrangeHeaders?: ArrangeHeaders | undefined;
  /** Called when the page has loaded, before the steps of the request. Ends with the signal. */
  readonly afterLoad?:
    | ((page: Page, request: BrowserRequest, signal: AbortSignal) => Promise<CaptchaResult | null>)
    | undefined;
  /** Human-like input for actions; without it they run at once. */
  readonly humanInput?: HumanInputSource | undefined;
}

export interface BrowserEngineOptions {
  /** Closed with the engine. Engines may share one. */
  readonly runtime: BrowserRuntime;
  /** The user agent, unless the request has its own. */
  readonly userAgent: string;
  readonly name?: EngineName | undefined;
  /**
   * The browser pretends to be a visitor's. Nothing that a page could notice is switched on: console errors are not
   * reported, and every request passes through the driver. False by default.
   */
  readonly isDisguised?: boolean | undefined;
  readonly hooks?: BrowserEngineHooks | undefined;
  readonly limits?: Partial<RenderAttemptLimits> | undefined;
}

const LIMITS: RenderAttemptLimits = {
  maxXhr: 200,
  maxXhrBytes: 1_048_576,
  maxXhrTotalBytes: 8_388_608,
  maxErrors: 50,
  maxRawBytes: 262_144,
  maxPageBytes: 134_217_728,
};

const DEFAULT_VIEWPORT = { width: 1_280, height: 800 };
const PHONE_VIEWPORT = { width: 412, height: 915 };
const PHONE_PIXEL_RATIO = 2;
const jarIds = new WeakMap<CookieJar, number>();
let jars = 0;

export function createBrowserEngine(options: BrowserEngineOptions): RenderEngine {
  return new BrowserEngine(options);
}

class BrowserEngine implements RenderEngine {
  readonly name: EngineName;
  readonly #options: BrowserEngineOptions;
  readonly #closing = new AbortController();
  /** Bounded by the callers. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: BrowserEngineOptions) {
    this.#options = options;
    this.name = options.name ?? 'browser';
  }

  async fetch(request: FetchRequest): Promise<FetchResponse> {
    const { render, ...common } = request;
    const { rawBody, extra, failure, ...response } = await this.render({ ...common, ...render });
    return { ...response, rendered: { rawBody, extra, failure } };
  }

  async render(request: BrowserRequest): Promise<BrowserResponse> {
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
    await this.#options.runtime.close();
  }

  /** The error of the attempt: BROWSER_LOST when the whole browser was lost. */
  async #blame(error: unknown, lease: PageLease, ended: AbortSignal): Promise<unknown> {
    // A crash causes many errors, of which only one names it.
    const told = () => (lease.lost.aborted ? (lease.lost.reason as unknown) : error);
    const first = told();
    if (!isScrapifieError(first) || !DOUBTFUL.has(first.code) || ended.aborted) return first;
    const isAlive = await orAborted(lease.isBrowserAlive(), ended).catch(() => true);
    const known = told();
    if (isAlive || (isScrapifieError(known) && known.code === 'BROWSER_LOST')) return known;
    return browserLost('it ended unexpectedly', known);
  }

  async #attempt(request: BrowserRequest): Promise<BrowserResponse> {
    const host = check(request);
    if (this.#closing.signal.aborted) throw shuttingDown();
    const { runtime, userAgent, hooks = {}, limits, isDisguised = false } = this.#options;
    const plan = contextPlanFor(request, userAgent, hooks);
    const isPlain = runtime.kind === 'playwright';
    if (isPlain) checkPlain(request);
    const { pool, proxy, guard, checkProxy } = await runtime.ready();
    const deadline = new Deadline(request.timeoutMs, host);
    const caller = followSignal(request.signal);
    const ended = AbortSignal.any([caller.signal, this.#closing.signal]);
    const waiting = AbortSignal.any([deadline.signal, ended]);
    try {
      const upstream =
        plan.upstream === null || checkProxy === null
          ? plan.upstream
          : await orAborted(checkProxy(plan.upstream), waiting);
      const prepare =
        guard === null
          ? plan.prepare
          : async (context: BrowserContext) => {
              await guardContext(context, guard);
              await plan.prepare?.(context);
            };
      const lease = await pool.acquire({ ...plan, upstream, prepare }, deadline.remainingMs, waiting);
      const attempt = new RenderAttempt({
        request,
        lease,
        proxy,
        deadline,
        ending: AbortSignal.any([lease.lost, ended]),
        openTools: isPlain ? plainTools : cdpTools,
        guard,
        isDisguised,
        limits: { ...LIMITS, ...limits },
        hooks,
      });
      let isLost = false;
      try {
        if (request.mayStart?.() === false) {
          throw new ScrapifieError('CANCELLED', `The request to ${host} came too late`);
        }
        return await attempt.run();
      } catch (error) {
        const failure = await this.#blame(error, lease, ended);
        // A page whose process ended says nothing about the browser, and a browser that is gone is known to the pool.
        isLost = !lease.lost.aborted && isScrapifieError(failure) && LOSSES.has(failure.code);
        throw failure;
      } finally {
        lease.release(isLost ? 'lost' : attempt.isPageBroken ? 'broken' : 'clean');
      }
    } catch (error) {
      throw mapNavigationError(error, host);
    } finally {
      deadline.end();
      caller.end();
    }
  }
}

/** Errors after which the browser is replaced. */
const LOSSES: ReadonlySet<ErrorCode> = new Set(['BROWSER_CRASHED', 'BROWSER_LOST']);
/** These may be caused by the site or by the browser. */
const DOUBTFUL: ReadonlySet<ErrorCode> = new Set(['BROWSER_CRASHED', 'BROWSER_LOST', 'TASK_TIMEOUT']);

/** Throws for requests that are wrong by themselves. Returns the host. */
function check(request: BrowserRequest): string {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new ScrapifieError('INVALID_URL', 'Not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ScrapifieError('INVALID_URL', 'A URL with credentials is not fetched');
  }
  if (request.method === 'HEAD') {
    throw new ScrapifieError('UNSUPPORTED_OPTION', 'A browser shows pages and cannot ask for the head alone');
  }
  checkHeaders(request.headers);
  return url.host;
}

/** What an engine of another kind changes about contexts. */
interface ContextHooks {
  /** Options over the plain ones. They must follow from the request, and `identity` must tell them apart. */
  readonly contextFor?: (request: BrowserRequest) => {
    readonly identity: string;
    readonly options: BrowserContextOptions;
    /** The options are complete: the plain ones are not meant for this browser. */
    readonly isWhole?: boolean;
  };
  /** Before the first page of a context is opened. */
  readonly prepareContext?: (context: BrowserContext, request: BrowserRequest) => Promise<void>;
}

/** Jars have no name of their own, and pages with different ones must not share cookies. */
function idOf(jar: CookieJar | undefined): number {
  if (jar === undefined) return 0;
  const known = jarIds.get(jar);
  if (known !== undefined) return known;
  jars += 1;
  jarIds.set(jar, jars);
  return jars;
}

/** Which context a request's page belongs into, and how that is made. */
export function contextPlanFor(request: BrowserRequest, userAgent: string, hooks: ContextHooks): ContextPlan {
  const { device = {}, proxy, cookies } = request;
  const changed = hooks.contextFor?.(request);
  const own = request.userAgent ?? userAgent;
  const agent = device.isMobile === true ? `${own} Mobile` : own;
  const plain: BrowserContextOptions = { userAgent: agent, ...deviceOptionsOf(device) };
  const options = changed?.isWhole === true ? changed.options : { ...plain, ...changed?.options };
  // Cookies of the request last for the attempt: only requests with the very same ones may see them. A caller that
  // names a key says whose cookies belong together, whichever jar they come from.
  const parts = [
    request.key ?? [new URL(request.url).origin, idOf(request.jar)],
    changed?.identity ?? '',
    device,
    agent,
    proxy === undefined ? '' : proxyKeyOf(proxy),
    cookies,
  ];
  const prepare = hooks.prepareContext;
  return {
    // Hashed because it holds secrets and outlives the request.
    identity: createHash('sha256').update(JSON.stringify(parts)).digest('base64url'),
    options,
    upstream: proxy ?? null,
    isWatched: (changed?.identity ?? '') !== '',
    ...(prepare === undefined ? {} : { prepare: (context) => prepare(context, request) }),
  };
}

function deviceOptionsOf(device: RenderDevice): BrowserContextOptions {
  const { isMobile = false, geolocation, locale, timezone } = device;
  const viewport = device.viewport ?? (isMobile ? PHONE_VIEWPORT : DEFAULT_VIEWPORT);
  return {
    viewport,
    ...(isMobile ? { isMobile, hasTouch: true, deviceScaleFactor: PHONE_PIXEL_RATIO, screen: viewport } : {}),
    ...(geolocation === undefined ? {} : { geolocation: exactly(geolocation), permissions: ['geolocation'] }),
    ...defined({ locale, timezoneId: timezone }),
  };
}

const exactly = ({ accuracy = 10, latitude, longitude }: NonNullable<RenderDevice['geolocation']>) => ({
  latitude,
  longitude,
  accuracy,
});
