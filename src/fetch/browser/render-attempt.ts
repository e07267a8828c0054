import { setTimeout as pause } from 'node:timers/promises';
import type { Frame, Page } from 'patchright-core';
import { listen } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ActionResult, CaptchaResult, Picture } from '../../core/model/render.ts';
import { Deadline, orAborted, settlesWithin, tookTooLong } from '../deadline.ts';
import type { BrowserRequest, BrowserResponse } from '../engine.ts';
import type { RequestGuard } from '../guard/guarded-lookup.ts';
import type { GuardProxy } from '../guard-proxy/guard-proxy.ts';
import { type Body, EMPTY_BODY } from '../http/body-buffer.ts';
import { browserLost, mapNavigationError, plainMessage, stepFailed, stepTimedOut } from '../render-errors.ts';
import { takeFailurePicture } from './actions/failure-picture.ts';
import {
  DEFAULT_STEP_MS,
  nameOfAction,
  runAction,
  runStep,
  scrollDown,
  takePicture,
  waitFor,
} from './actions/render-actions.ts';
import type { BrowserEngineHooks } from './browser-engine.ts';
import {
  answerWithoutBody,
  type DocumentResponse,
  type DocumentWithoutPage,
  isHtml,
  mediaTypeIn,
  urlOfDocument,
} from './page/main-document.ts';
import { type NetworkLimits, readXhr } from './page/network-record.ts';
import { PageLoad, waitUntilSettled } from './page/page-load.ts';
import { putCookies, readStorage, type SentCookies } from './page/page-storage.ts';
import type { DocumentWatch, PageTools, StorageFill, ToolOptions } from './page/page-tools.ts';
import { readDom } from './page/page-world.ts';
import type { PageLease } from './pool/pool-health.ts';

export interface RenderAttemptLimits extends NetworkLimits {
  readonly maxRawBytes: number;
  /** Limit of a page with all its resources; never less than the limit of the document. */
  readonly maxPageBytes: number;
}

export interface AttemptOptions {
  readonly request: BrowserRequest;
  readonly lease: PageLease;
  readonly proxy: GuardProxy;
  readonly deadline: Deadline;
  /** Aborts the attempt for every reason but the deadline: the caller, the engine, a crash. */
  readonly ending: AbortSignal;
  readonly openTools: (options: ToolOptions) => Promise<PageTools>;
  readonly guard: RequestGuard | null;
  readonly isDisguised: boolean;
  readonly limits: RenderAttemptLimits;
  readonly hooks: BrowserEngineHooks;
}

const DEFAULT_NAVIGATION_MS = 30_000;
/** Time of the attempt that a step leaves unused. */
const STEP_RESERVE_MS = 2_000;
/** For reading the page after the time limit. */
const LAST_READ_MS = 3_000;
const PAPER_MARGIN = { top: '10mm', right: '10mm', bottom: '10mm', left: '10mm' };
/** For a page to finish loading after a navigation of it was stopped. */
const STOPPED_MS = 500;
/** Navigations of the page while it is read. */
const MOST_DEPARTURES = 4;

/** The response and the serialized document; null for a rendered response that is no HTML. */
interface PageReading {
  readonly answer: DocumentResponse;
  readonly dom: Body | null;
  readonly url: string;
}

/** Renders one page: opens it, runs the steps of the request and reads the result. */
export class RenderAttempt {
  /** The page may hang or be on any URL, and must not be used again. */
  isPageBroken = false;
  readonly #options: AttemptOptions;
  readonly #page: Page;
  readonly #startedAt = performance.now();
  /** Aborts the attempt when the page loads too much. */
  readonly #overrun = new AbortController();
  readonly #ending: AbortSignal;
  readonly #signal: AbortSignal;
  #navigation: Deadline | null = null;
  #failure: ScrapifieError | null = null;
  readonly #actions: ActionResult[] = [];
  #picture: Picture | null = null;
  #failurePicture: Picture | null = null;
  #pdf: Uint8Array | null = null;
  #captcha: CaptchaResult | null | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#page = options.lease.page;
    this.#ending = AbortSignal.any([options.ending, this.#overrun.signal]);
    this.#signal = AbortSignal.any([options.deadline.signal, this.#ending]);
  }

  async run(): Promise<BrowserResponse> {
    const { request, limits, proxy, lease } = this.#options;
    const load = new PageLoad({
      maxDocumentBytes: request.maxBodyBytes,
      maxPageBytes: Math.max(limits.maxPageBytes, request.maxBodyBytes),
      held: request.held,
      onExceeded: (error) => this.#overrun.abort(error),
    });
    // Only the proxy sees sockets, workers and frames of other processes.
    const stopMeter = proxy.meter(lease.proxyUsername, load.maxPageBytes, () => load.exceedPage());
    try {
      return await this.#show(load);
    } finally {
      stopMeter();
      load.end();
    }
  }

  async #show(load: PageLoad): Promise<BrowserResponse> {
    const { request, limits, isDisguised, hooks } = this.#options;
    const page = this.#page;
    hooks.beforeNavigation?.(page, request);
    const tools = await this.#guarded(
      this.#options.openTools({
        page,
        request,
        ask: (target, hop) => this.#hold(() => request.onRedirect(target, hop)),
        arrange: hooks.arrangeHeaders,
        guard: this.#options.guard,
        isDisguised,
        proxyLogin: this.#options.lease.proxyLogin,
        limits,
        load,
      }),
    );
    const gate = tools.document;
    let put: StorageFill | null = null;
    const onNavigated = (frame: Frame) => {
      if (frame !== page.mainFrame()) return;
      gate.onArrival();
      put?.arrivedAt(URL.parse(frame.url())?.origin ?? '');
    };
    // Popups are closed: no request wants them.
    const onPopup = (popup: Page) => {
      popup.close().catch(() => {});
    };
    listen(page, 'framenavigated', onNavigated);
    listen(page, 'popup', onPopup);
    try {
      const [sentCookies, storagePut] = await this.#guarded(
        Promise.all([
          putCookies(page.context(), request),
          tools.setLocalStorage(request.storage?.localStorage ?? {}),
          tools.block(request.blockResources ?? []),
        ]),
      );
      put = storagePut;
      const bare = await this.#navigate(gate);
      if (bare === null) await this.#steps(tools);
      return await this.#orBroken(this.#respond(tools, bare, sentCookies));
    } finally {
      put?.end();
      tools.end();
      page.off('framenavigated', onNavigated);
      page.off('popup', onPopup);
      if (this.#signal.aborted || tools.isTainted) this.isPageBroken = true;
    }
  }

  /** Resolves with null when there is a page to read. */
  async #navigate(gate: DocumentWatch): Promise<DocumentWithoutPage | null> {
    const { request, deadline } = this.#options;
    const { wait, navigationTimeoutMs = DEFAULT_NAVIGATION_MS } = request;
    const waitUntil = wait?.until ?? 'load';
    const loading = this.#page.goto(request.url, { waitUntil, timeout: 0 }).then(() => null);
    loading.catch(() => {});
    const stopped = gate.isStopped.then(() => settlesWithin(loading, STOPPED_MS)).then(() => null);
    const limitMs = Math.min(navigationTimeoutMs, deadline.remainingMs);
    const navigation = new Deadline(limitMs, `Loading ${new URL(request.url).host} until ${waitUntil}`);
    this.#navigation = navigation;
    let isCalledOff = false;
    const onEnd = () => {
      isCalledOff = true;
    };
    gate.ended.then(onEnd, onEnd);
    try {
      return await this.#guarded(orAborted(Promise.race([gate.ended, loading, stopped]), navigation.signal));
    } catch (error) {
      if (error !== navigation.signal.reason) return await this.#afterFailure(error, gate);
    } finally {
      navigation.end();
      this.#navigation = null;
      // A cancelled navigation has to end before the page can navigate again.
      if (isCalledOff && !(await settlesWithin(loading, STOPPED_MS))) this.isPageBroken = true;
    }
    const late = navigation.signal.reason as ScrapifieError;
    if (gate.answer === null) {
      this.isPageBroken = true;
      throw late;
    }
    this.#failure = late;
    return null;
  }

  /** Some errors of a navigation leave a page that can be read. */
  async #afterFailure(error: unknown, gate: DocumentWatch): Promise<DocumentWithoutPage | null> {
    const { request, proxy, lease, deadline } = this.#options;
    if (isScrapifieError(error)) {
      if (error !== deadline.signal.reason || gate.answer === null) throw error;
      this.#failure = error;
      return null;
    }
    const text = error instanceof Error ? error.message : '';
    const isOvertaken = /interrupted by another navigation|ERR_ABORTED/.test(text);
    if (isOvertaken && gate.answer !== null) {
      await this.#arrive(gate);
      return null;
    }
    if (/Download is starting/.test(text)) {
      throw new ScrapifieError('UNSUPPORTED_OPTION', 'This browser cannot read what is offered for download');
    }
    this.isPageBroken = /crash|ERR_ABORTED/i.test(text);
    const at = new URL(gate.lastTarget ?? request.url);
    const known = proxy.failureOf(lease.proxyUsername, at);
    if (known !== null) throw known;
    const isRefused = gate.answer !== null && proxy.isOwnChallenge(gate.answer.headers);
    if (isRefused || (lease.proxyLogin === null && proxy.wasUnauthorized(at))) {
      throw browserLost('its network process was started anew and does not know its proxy any more', error);
    }
    const empty = answerWithoutBody(gate.answer, text);
    if (empty !== null) return empty;
    // Without the guard's proxy in between, the login of the request's own proxy is the only one that can be refused.
    if (this.#options.guard !== null && request.proxy !== undefined && /ERR_INVALID_AUTH_/.test(text)) {
      throw new ScrapifieError('PROXY_FAILED', `Proxy ${request.proxy.id} refused the login`, {
        details: { proxy: request.proxy.id, fault: 'proxy' },
        cause: error,
      });
    }
    throw mapNavigationError(error, at.host);
  }

  /** Waits until the page is where it was going. */
  async #arrive(gate: DocumentWatch): Promise<void> {
    if (gate.leaving === null) return;
    await this.#guarded(gate.leaving);
    await this.#guarded(this.#page.waitForLoadState(this.#options.request.wait?.until ?? 'load'));
  }

  /** Runs the steps of the request. The first failing step ends them; the results so far are kept. */
  async #steps({ document: gate, network, evaluate, canGoBack }: PageTools): Promise<void> {
    const { request, deadline, hooks } = this.#options;
    const page = this.#page;
    const { wait, scroll, actions = [], screenshot, pdf } = request;
    if (this.#failure !== null) return;
    let current = 'loading';
    const step = <T>(name: string, limitMs: number, work: (limitMs: number) => Promise<T>): Promise<T> => {
      current = name;
      // A step ends before the time of the attempt does, so that the error names it and the page can be read.
      const { remainingMs } = deadline;
      const within = Math.min(limitMs, Math.max(remainingMs - STEP_RESERVE_MS, remainingMs / 2));
      const onStuck = () => {
        this.isPageBroken = true;
      };
      return runStep(name, within, this.#signal, onStuck, () => work(within));
    };
    const rest = deadline.remainingMs;
    const target = { page, evaluate, canGoBack };
    const human = hooks.humanInput?.of(request.manner);
    try {
      await this.#arrive(gate);
      if (wait === undefined)
        await this.#guarded(waitUntilSettled({ ...target, document: gate, network, deadline }));
      if (hooks.afterLoad !== undefined) {
        this.#captcha = await this.#guarded(hooks.afterLoad(page, request, this.#signal));
        await this.#arrive(gate);
      }
      if (wait?.selector !== undefined) {
        await step(`wait.selector ${wait.selector}`, DEFAULT_NAVIGATION_MS, (ms) =>
          waitFor(target, { selector: wait.selector }, ms),
        );
      }
      if (wait?.ms !== undefined) await step('wait.ms', rest, (ms) => waitFor(target, { ms: wait.ms }, ms));
      if (scroll !== undefined) await step('scroll', rest, (ms) => scrollDown(target, scroll, ms, human));
      for (const [index, action] of actions.entries()) {
        const limitMs = action.timeoutMs ?? DEFAULT_STEP_MS;
        const name = nameOfAction(action, index);
        if (human !== undefined) await this.#guarded(pause(human.pauseMs()));
        this.#actions.push(await step(name, limitMs, (ms) => runAction(target, action, ms, human)));
        await this.#arrive(gate);
      }
      if (screenshot !== undefined) {
        this.#picture = await step('screenshot', rest, (ms) => takePicture(page, screenshot, ms));
      }
      if (pdf === true)
        this.#pdf = await step('pdf', rest, () => page.pdf({ printBackground: true, margin: PAPER_MARGIN }));
    } catch (error) {
      if (this.#ending.aborted) throw this.#ending.reason;
      if (deadline.signal.aborted) this.#failure = stepTimedOut(current, request.timeoutMs);
      else this.#failure = isScrapifieError(error) ? error : stepFailed(current, plainMessage(error), error);
      if (!this.isPageBroken) this.#failurePicture = await takeFailurePicture(page, deadline, this.#signal);
    }
  }

  async #respond(
    tools: PageTools,
    bare: DocumentWithoutPage | null,
    sentCookies: SentCookies,
  ): Promise<BrowserResponse> {
    const { request, limits } = this.#options;
    const { document: gate, network: watch } = tools;
    const { answer, dom, url } =
      bare === null ? await this.#readPage(tools) : { answer: bare.answer, dom: null, url: bare.answer.url };
    const isPage = dom !== null;
    const most = isPage ? limits.maxRawBytes : request.maxBodyBytes;
    const [raw, storage, xhr] = await Promise.all([
      bare === null ? tools.readRaw(answer, most) : null,
      readStorage(this.#page, this.#options.request, sentCookies),
      readXhr(watch),
    ]);
    const header = answer.headers['content-type'];
    const original = (typeof header === 'string' ? header : header?.[0]) ?? null;
    return {
      url: request.url,
      finalUrl: url,
      statusCode: answer.statusCode,
      headers: answer.headers,
      contentType: isPage ? 'text/html; charset=utf-8' : original,
      body: dom ?? bare?.body ?? raw ?? EMPTY_BODY,
      rawBody: isPage ? raw : null,
      wireBytes: bare === null ? watch.wireBytes : Math.max(watch.wireBytes, bare.body.length),
      redirects: gate.redirects,
      redirectedTo: bare?.redirectedTo ?? gate.refusedTarget,
      ms: performance.now() - this.#startedAt,
      httpVersion: watch.protocol === 'h2' ? '2' : '1.1',
      failure: this.#failure,
      extra: {
        screenshot: this.#picture,
        pdf: this.#pdf,
        xhr,
        consoleErrors: watch.errors,
        actions: this.#actions,
        ...(this.#failurePicture === null ? {} : { failurePicture: this.#failurePicture }),
        storage,
        ...(this.#captcha === undefined ? {} : { captcha: this.#captcha }),
      },
    };
  }

  async #readPage({ document: gate, evaluate }: PageTools): Promise<PageReading> {
    const { request } = this.#options;
    for (let departures = 0; ; departures += 1) {
      const { answer } = gate;
      if (answer === null) throw this.#lost(new Error('no document'));
      const isPage = isHtml(mediaTypeIn(answer.headers));
      const dom = isPage ? await readDom(this.#page, evaluate, request.maxBodyBytes) : null;
      const url = isPage ? urlOfDocument(this.#page.url(), answer.url) : answer.url;
      const isStill = gate.leaving === null && gate.answer === answer;
      if (isStill || departures >= MOST_DEPARTURES || this.#failure !== null) return { answer, dom, url };
      await this.#arrive(gate);
    }
  }

  /** Reading has its own time limit, so that a page is read even after the time of the attempt. */
  async #orBroken<T>(work: Promise<T>): Promise<T> {
    const { remainingMs } = this.#options.deadline;
    const left = this.#failure === null ? Math.max(LAST_READ_MS, remainingMs) : LAST_READ_MS;
    const last = AbortSignal.any([this.#ending, AbortSignal.timeout(left)]);
    try {
      return await orAborted(work, last);
    } catch (error) {
      work.catch(() => {});
      this.isPageBroken = true;
      if (isScrapifieError(error)) throw error;
      throw this.#failure ?? (last.aborted ? tookTooLong('Reading the page', left) : this.#lost(error));
    }
  }

  #lost(error: unknown): ScrapifieError {
    return mapNavigationError(error, new URL(this.#options.request.url).host);
  }

  /** Stops the clocks of the attempt while the owner of the request decides. */
  #hold<T>(work: () => Promise<T>): Promise<T> {
    const { deadline } = this.#options;
    const navigation = this.#navigation;
    return deadline.hold(navigation === null ? work : () => navigation.hold(work));
  }

  #guarded<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {});
    return orAborted(work, this.#signal);
  }
}
