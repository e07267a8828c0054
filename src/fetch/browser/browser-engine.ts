import type { BrowserContext, Page } from 'patchright-core';
import type { ErrorCode } from '../../errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { EngineName } from '../../model/attempt.ts';
import type { PuzzleResult } from '../../model/render.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import type { ActionManner } from './actions/render-actions.ts';
import type { BrowserRuntime } from './browser-runtime.ts';
import { closeUnguardedWays } from './close-unguarded-ways.ts';
import { type ContextHooks, contextPlanFor } from './context-plan.ts';
import { Deadline, orAborted } from './deadline.ts';
import { cdpTools } from './page/cdp-tools.ts';
import { type ArrangeHeaders, checkHeaders } from './page/document-gate.ts';
import { checkPlain, plainTools } from './playwright-server/plain-tools.ts';
import type { PageLease } from './pool/page-lease.ts';
import { RenderAttempt, type RenderAttemptLimits } from './render-attempt.ts';
import { browserLost, cancelled, mapNavigationError, shuttingDown } from './render-errors.ts';
import type { RenderRequest, RenderResponse } from './render-request.ts';

/** An engine that shows pages. `fetch` is `render` for those who know all engines. */
export interface RenderEngine extends Engine {
  /**
   * Throws, as ScrapifieError, only what kept the page from arriving. What went wrong on it afterwards is in
   * `failure`, beside what there was by then.
   */
  render(request: RenderRequest): Promise<RenderResponse>;
}

export interface BrowserEngineHooks extends ContextHooks {
  /** Before a page is led to its URL; what it throws ends the attempt. */
  readonly beforeNavigation?: ((page: Page, request: RenderRequest) => void) | undefined;
  /** What the requests for documents are sent with. */
  readonly arrangeHeaders?: ArrangeHeaders | undefined;
  /** When the page has loaded, before anything is waited for or done on it. Ends with the signal. */
  readonly afterLoad?:
    | ((page: Page, request: RenderRequest, signal: AbortSignal) => Promise<PuzzleResult | null>)
    | undefined;
  /** How actions are done: at once, unless told. */
  readonly manner?: ActionManner | undefined;
}

export interface BrowserEngineOptions {
  /** Closed with the engine. Engines may share one. */
  readonly rig: BrowserRuntime;
  /** What pages and servers are told unless the request says otherwise. */
  readonly userAgent: string;
  readonly name?: EngineName | undefined;
  /** Report what scripts throw and write as errors. A page can notice that somebody listens. */
  readonly watchesConsole?: boolean | undefined;
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

export function createBrowserEngine(options: BrowserEngineOptions): RenderEngine {
  return new BrowserEngine(options);
}

class BrowserEngine implements RenderEngine {
  readonly name: EngineName;
  private readonly options: BrowserEngineOptions;
  private readonly closing = new AbortController();
  /** Bounded by whoever calls. */
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(options: BrowserEngineOptions) {
    this.options = options;
    this.name = options.name ?? 'browser';
  }

  async fetch(request: FetchRequest): Promise<FetchResponse> {
    const { render, ...common } = request;
    const { rawBody, extra, failure, ...response } = await this.render({ ...common, ...render });
    return { ...response, rendered: { rawBody, extra, failure } };
  }

  async render(request: RenderRequest): Promise<RenderResponse> {
    const work = this.attempt(request);
    this.underWay.add(work);
    try {
      return await work;
    } finally {
      this.underWay.delete(work);
    }
  }

  async close(): Promise<void> {
    this.closing.abort(shuttingDown());
    await Promise.allSettled(this.underWay);
    await this.options.rig.close();
  }

  /** What the attempt has failed with: the loss of the whole browser, where that is behind it. */
  private async blame(error: unknown, lease: PageLease, ended: AbortSignal): Promise<unknown> {
    // A crash is heard of in many ways, of which only one says so.
    const told = () => (lease.lost.aborted ? (lease.lost.reason as unknown) : error);
    const first = told();
    if (!isScrapifieError(first) || !DOUBTFUL.has(first.code) || ended.aborted) return first;
    const isAlive = await orAborted(lease.isBrowserAlive(), ended).catch(() => true);
    const known = told();
    if (isAlive || (isScrapifieError(known) && known.code === 'BROWSER_LOST')) return known;
    return browserLost('it ended unexpectedly', known);
  }

  private async attempt(request: RenderRequest): Promise<RenderResponse> {
    const host = check(request);
    if (this.closing.signal.aborted) throw shuttingDown();
    const { rig, userAgent, hooks = {}, limits, watchesConsole = true } = this.options;
    const plan = contextPlanFor(request, userAgent, hooks);
    const isPlain = rig.kind === 'playwright';
    if (isPlain) checkPlain(request);
    const { pool, proxy, guard, checkProxy } = await rig.ready();
    const deadline = new Deadline(request.timeoutMs, host);
    // Whatever the caller gives as reason, from here on it is one of ours.
    const caller = new AbortController();
    const onAbort = () => caller.abort(cancelled(request.signal?.reason));
    if (request.signal?.aborted === true) onAbort();
    request.signal?.addEventListener('abort', onAbort, { once: true });
    const ended = AbortSignal.any([caller.signal, this.closing.signal]);
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
              await closeUnguardedWays(context, guard);
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
        watchesConsole,
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
        const failure = await this.blame(error, lease, ended);
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
      request.signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** After these the browser is not to be trusted any more. */
const LOSSES: ReadonlySet<ErrorCode> = new Set(['BROWSER_CRASHED', 'BROWSER_LOST']);
/** These may be the site's doing or the browser's. */
const DOUBTFUL: ReadonlySet<ErrorCode> = new Set(['BROWSER_CRASHED', 'BROWSER_LOST', 'TASK_TIMEOUT']);

/** Throws what can be known to be wrong before a browser is asked. Returns the host. */
function check(request: RenderRequest): string {
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
