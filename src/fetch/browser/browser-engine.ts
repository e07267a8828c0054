import { isIP } from 'node:net';
import type { Page } from 'patchright-core';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { EngineName } from '../../model/attempt.ts';
import type { ProxyEndpoint } from '../../model/proxy.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import type { BrowserRig } from './browser-rig.ts';
import { type ContextHooks, contextPlanFor } from './context-plan.ts';
import { Deadline } from './deadline.ts';
import { checkHeaders } from './document-gate.ts';
import type { NetworkWatchLimits } from './network-watch.ts';
import { RenderAttempt } from './render-attempt.ts';
import { cancelled, mapNavigationError, shuttingDown } from './render-errors.ts';
import type { RenderProxy, RenderRequest, RenderResponse } from './render-request.ts';

/** An engine that shows pages. `fetch` is `render` for those who know all engines. */
export interface RenderEngine extends Engine {
  /**
   * Throws, as ScrapifieError, only what kept the page from arriving. What went wrong on it afterwards is in
   * `failure`, beside what there was by then.
   */
  render(request: RenderRequest): Promise<RenderResponse>;
}

export interface BrowserEngineHooks extends ContextHooks {
  /** When the page has loaded and before its actions. */
  readonly beforeActions?: (page: Page, request: RenderRequest) => Promise<void>;
}

export interface BrowserEngineOptions {
  /** Closed with the engine. Engines may share one. */
  readonly rig: BrowserRig;
  /** What pages and servers are told unless the request says otherwise. */
  readonly userAgent: string;
  readonly name?: EngineName | undefined;
  /** Report what scripts throw and write as errors. A page can notice that somebody listens. */
  readonly watchesConsole?: boolean | undefined;
  readonly hooks?: BrowserEngineHooks | undefined;
  readonly limits?: Partial<NetworkWatchLimits & { readonly maxRawBytes: number }> | undefined;
}

const LIMITS = {
  maxXhr: 200,
  maxXhrBytes: 1_048_576,
  maxXhrTotalBytes: 8_388_608,
  maxErrors: 50,
  maxRawBytes: 262_144,
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
    const { proxy, render, ...common } = request;
    const { rawBody, extra, failure, ...response } = await this.render({
      ...common,
      ...render,
      ...(proxy === undefined ? {} : { proxy: renderProxyOf(proxy) }),
    });
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

  private async attempt(request: RenderRequest): Promise<RenderResponse> {
    const host = check(request);
    if (this.closing.signal.aborted) throw shuttingDown();
    const { rig, userAgent, hooks = {}, limits, watchesConsole = true } = this.options;
    const plan = contextPlanFor(request, userAgent, hooks);
    const { pool, proxy } = await rig.ready();
    const deadline = new Deadline(request.timeoutMs, host);
    // Whatever the caller gives as reason, from here on it is one of ours.
    const caller = new AbortController();
    const onAbort = () => caller.abort(cancelled(request.signal?.reason));
    if (request.signal?.aborted === true) onAbort();
    request.signal?.addEventListener('abort', onAbort, { once: true });
    const ended = AbortSignal.any([caller.signal, this.closing.signal]);
    const waiting = AbortSignal.any([deadline.signal, ended]);
    try {
      const lease = await pool.acquire(plan, deadline.remainingMs, waiting);
      const attempt = new RenderAttempt({
        request,
        lease,
        proxy,
        deadline,
        ending: AbortSignal.any([lease.lost, ended]),
        watchesConsole,
        limits: { ...LIMITS, ...limits },
        beforeActions: hooks.beforeActions,
      });
      try {
        if (request.mayStart?.() === false) {
          throw new ScrapifieError('CANCELLED', `The request to ${host} came too late`);
        }
        return await attempt.run();
      } catch (error) {
        // A crash is heard of in many ways, of which only one says so.
        if (lease.lost.aborted) throw lease.lost.reason;
        throw error;
      } finally {
        lease.release(attempt.isPageBroken ? 'broken' : 'clean');
      }
    } catch (error) {
      throw mapNavigationError(error, host);
    } finally {
      deadline.end();
      request.signal?.removeEventListener('abort', onAbort);
    }
  }
}

function renderProxyOf({ protocol, host, port, credentials }: ProxyEndpoint): RenderProxy {
  const server = `${protocol}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  return credentials === null
    ? { server }
    : { server, username: credentials.username, password: credentials.password };
}

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
