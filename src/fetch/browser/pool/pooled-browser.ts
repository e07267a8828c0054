import { isIP } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'patchright-core';
import { listenOnce } from '../../../core/errors/guarded.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../../core/model/proxy.ts';
import { settlesWithin } from '../../deadline.ts';
import type { GuardProxy, ProxyLogin } from '../../guard-proxy/guard-proxy.ts';
import { browserCrashed, browserLost, outOfMemory } from '../../render-errors.ts';
import { patchPage } from '../patchright/patchright-patches.ts';
import { processesOf } from './browser-launch.ts';
import { BrowserWatch, type WatchLimits } from './browser-watch.ts';
import type { ProgramMark } from './find-browser.ts';
import { type MemoryLimits, MemoryWatch } from './memory-watch.ts';
import type { ReplacedFor } from './pool-health.ts';
import { killTree } from './process-tree.ts';

/** How to make the context that pages of one key share. */
export interface ContextPlan {
  /**
   * Pages share a context only when this is the same, so it must name everything that tells contexts apart: the key,
   * and whatever the options below are made from.
   */
  readonly identity: string;
  readonly options: BrowserContextOptions;
  readonly upstream: ProxyEndpoint | null;
  /**
   * Every request passes through the driver, also those that belong to no page, so that they are sent with the headers
   * of the context. It costs time and is used for disguised pages only.
   */
  readonly isWatched?: boolean | undefined;
  /** Called before the first page of the context is opened. */
  readonly prepare?: ((context: BrowserContext) => Promise<void>) | undefined;
}

/** A page in the pool, with what ends its use. */
export interface PooledPage {
  readonly page: Page;
  readonly pooledContext: PooledContext;
  /** Uses in a row without a blank page in between. */
  streak: number;
  /** Set while it is in use. */
  lost: AbortController | null;
  isDiscarded: boolean;
  /** While it is being led to a blank page. */
  blanking: Promise<boolean> | null;
  blankTimer: NodeJS.Timeout | null;
}

export interface PooledContext {
  readonly plan: ContextPlan;
  readonly browser: PooledBrowser;
  readonly context: Promise<BrowserContext>;
  readonly login: ProxyLogin;
  readonly idle: PooledPage[];
  readonly pages: Set<PooledPage>;
  /** Number of pages that are being opened. */
  opening: number;
  /** Pages being closed. One that hangs blocks the others of its process, so nothing new begins meanwhile. */
  closing: number;
  lastUsedAt: number;
  isClosed: boolean;
}

export const inUse = ({ pages, idle, opening }: PooledContext): number => pages.size - idle.length + opening;

export interface PooledBrowserOptions extends MemoryLimits {
  readonly browser: Browser;
  /** Null when its processes are not ours. */
  readonly pid: number | null;
  /** The process that fetches for all pages; null when it is not known. */
  readonly networkPid: number | null;
  readonly proxy: GuardProxy;
  readonly usesProxy: boolean;
  readonly closeTimeoutMs: number;
  readonly watch: WatchLimits;
  readonly memoryEveryMs: number;
  readonly program: ProgramMark | null;
  readonly onGone: (browser: PooledBrowser, hasCrashed: boolean) => void;
  /** The browser does not answer any more and is being killed. */
  readonly onDead: (why: string) => void;
  readonly onPageLost: (page: PooledPage) => void;
  readonly hasInternals: boolean;
  /** Called for each page with the internals of the driver that its patches need and that do not exist. */
  readonly onUnpatched: (missing: readonly string[]) => void;
}

/** Answered by the guard's proxy itself; the name exists nowhere. */
const PROBE_URL = 'http://probe.invalid/';

/** One Chromium with its contexts. It opens and closes contexts and pages; the pool decides which are used. */
export class PooledBrowser {
  readonly pid: number | null;
  /** Bounded by the pool. */
  readonly contexts = new Map<string, PooledContext>();
  served = 0;
  hasOpenedPage = false;
  /** Why it takes no new pages; null while it does. */
  retiringFor: ReplacedFor | null = null;
  isGone = false;
  readonly watch: BrowserWatch;
  readonly program: ProgramMark | null;
  programLookedAt = 0;
  /** As its program's files looked when they were last found changed. */
  changedProgram = '';
  measuredAt = 0;
  idleTimer: NodeJS.Timeout | null = null;
  /** Pages that are being closed, and still cost memory. */
  closing = 0;
  readonly #browser: Browser;
  readonly #options: PooledBrowserOptions;
  readonly #ending = new AbortController();
  readonly #memory: MemoryWatch;
  #closed: Promise<void> | null = null;

  constructor(options: PooledBrowserOptions) {
    this.#options = options;
    this.#browser = options.browser;
    this.pid = options.pid;
    this.program = options.program;
    this.watch = new BrowserWatch({
      limits: options.watch,
      probe: () => this.#probe(),
      onDead: (why) => this.#abandon(why),
    });
    this.#memory = new MemoryWatch({
      mainPid: options.pid,
      limits: options,
      everyMs: options.memoryEveryMs,
      hasPages: () => this.openPages > 0,
      onBrowserExcess: (why) => this.#abandon(why),
    });
    listenOnce(this.#browser, 'disconnected', () => this.#onDisconnected());
  }

  get isRetiring(): boolean {
    return this.retiringFor !== null;
  }

  retire(why: ReplacedFor): void {
    this.retiringFor ??= why;
  }

  /** Aborts when the browser is lost, with the reason. */
  get lost(): AbortSignal {
    return this.#ending.signal;
  }

  get isClosing(): boolean {
    return this.#closed !== null;
  }

  get openPages(): number {
    let count = this.closing;
    for (const { pages, opening } of this.contexts.values()) count += pages.size + opening;
    return count;
  }

  get pagesInUse(): number {
    let count = 0;
    for (const context of this.contexts.values()) count += inUse(context);
    return count;
  }

  openContext(plan: ContextPlan, now: number): PooledContext {
    const { proxy } = this.#options;
    const login = proxy.admit(plan.upstream);
    const pooledContext: PooledContext = {
      plan,
      browser: this,
      context: this.#newContext(plan, login),
      login,
      idle: [],
      pages: new Set(),
      opening: 0,
      closing: 0,
      lastUsedAt: now,
      isClosed: false,
    };
    pooledContext.context.catch(() => this.#forget(pooledContext));
    this.contexts.set(plan.identity, pooledContext);
    return pooledContext;
  }

  async #newContext(plan: ContextPlan, login: ProxyLogin): Promise<BrowserContext> {
    const { usesProxy } = this.#options;
    const contextProxy = usesProxy
      ? await this.#proxySettingsFor(plan, login)
      : plan.upstream === null
        ? null
        : settingsOf(plan.upstream);
    const context = await this.#browser.newContext({
      // A service worker would go on working after its page. A page can notice that they are blocked.
      serviceWorkers: 'block',
      ...plan.options,
      acceptDownloads: false,
      ...(contextProxy === null ? {} : { proxy: contextProxy }),
      // The requests of a service worker cannot be checked.
      ...(usesProxy ? {} : { serviceWorkers: 'block' as const }),
    });
    try {
      // Web sockets cannot be checked like requests, so they are closed where requests are checked.
      if (!usesProxy) await context.routeWebSocket(/^/, (socket) => socket.close());
      await plan.prepare?.(context);
    } catch (error) {
      await settlesWithin(context.close(), this.#options.closeTimeoutMs);
      throw error;
    }
    return context;
  }

  /** A login makes the driver look at every request; see `isWatched`. */
  async #proxySettingsFor({ isWatched = false }: ContextPlan, login: ProxyLogin) {
    const { proxy } = this.#options;
    const bypass = '<-loopback>';
    return isWatched
      ? { server: proxy.url, bypass, ...login }
      : { server: await proxy.openListener(login.username), bypass };
  }

  async openPage(pooledContext: PooledContext): Promise<PooledPage> {
    const context = await pooledContext.context;
    const page = await context.newPage();
    if (pooledContext.isClosed || this.isGone) throw browserLost('it ended unexpectedly');
    this.#patch(page);
    const pooled: PooledPage = {
      page,
      pooledContext,
      streak: 0,
      lost: null,
      isDiscarded: false,
      blanking: null,
      blankTimer: null,
    };
    pooledContext.pages.add(pooled);
    listenOnce(page, 'crash', () => this.#lose(pooled, this.#crashOf(pooledContext)));
    listenOnce(page, 'close', () => this.#lose(pooled, browserCrashed('The page')));
    return pooled;
  }

  /** Pages that shared a process cannot be told apart: each is rendered alone next, and one then proves to be the cause. */
  #crashOf({ pages }: PooledContext): ScrapifieError {
    const why = this.#memory.reasonOfCrash(performance.now());
    if (why === null) return browserCrashed("The page's process");
    const isShared = [...pages].filter(({ lost }) => lost !== null).length > 1;
    return isShared ? browserLost(`the process of its page was ended, because ${why}`) : outOfMemory(why);
  }

  #patch(page: Page): void {
    if (this.#options.hasInternals) this.#options.onUnpatched(patchPage(page));
  }

  /** Closes a page for good. A page that does not close condemns its browser: only its end helps then. */
  async discard(pooled: PooledPage): Promise<void> {
    if (pooled.isDiscarded) return;
    pooled.isDiscarded = true;
    if (pooled.blankTimer !== null) clearTimeout(pooled.blankTimer);
    const { pooledContext, page } = pooled;
    pooledContext.pages.delete(pooled);
    const at = pooledContext.idle.indexOf(pooled);
    if (at !== -1) pooledContext.idle.splice(at, 1);
    if (this.isGone) return;
    this.closing += 1;
    pooledContext.closing += 1;
    const isClosed = await settlesWithin(page.close(), this.#options.closeTimeoutMs);
    this.closing -= 1;
    pooledContext.closing -= 1;
    if (!isClosed) this.retire('distrusted');
  }

  /** Closes a context that no page is in use of. */
  async closeContext(pooledContext: PooledContext): Promise<void> {
    if (pooledContext.isClosed) return;
    this.#forget(pooledContext);
    const pages = [...pooledContext.pages];
    for (const pooled of pages) {
      pooled.isDiscarded = true;
      if (pooled.blankTimer !== null) clearTimeout(pooled.blankTimer);
    }
    pooledContext.pages.clear();
    pooledContext.idle.length = 0;
    this.closing += pages.length;
    const closing = pooledContext.context.then((context) => context.close());
    const isClosed = await settlesWithin(closing, this.#options.closeTimeoutMs);
    this.closing -= pages.length;
    if (!isClosed) this.retire('distrusted');
  }

  /** Ends the browser, by force if it does not go, and leaves no process of it behind. */
  close(reason: ScrapifieError | null = null): Promise<void> {
    this.#closed ??= this.#end(reason, 'closed');
    return this.#closed;
  }

  #onDisconnected(): void {
    this.#closed ??= this.#end(browserLost('it ended unexpectedly'), 'ended');
  }

  /** Its pages end at once, and its processes without being asked. */
  #abandon(why: string): void {
    if (this.#closed !== null) return;
    if (!this.#browser.isConnected()) {
      this.#onDisconnected();
      return;
    }
    this.retire('unresponsive');
    this.#options.onDead(why);
    this.#closed = this.#end(browserLost(why), 'unresponsive');
  }

  /** Uses everything that a page needs: a context of its own, a new process, the network process and a script. */
  async #probe(): Promise<void> {
    const { proxy, usesProxy, closeTimeoutMs, networkPid } = this.#options;
    // Requests that the old one had never end, and contexts do not know their proxy any more; new ones would do.
    const found = networkPid === null ? null : (await processesOf(this.#browser)).networkPid;
    if (found !== null && found !== networkPid) throw new Error('its network process was started anew');
    const login = usesProxy ? proxy.admitProbe() : null;
    let context: BrowserContext | null = null;
    try {
      const server = login === null ? null : await proxy.openListener(login.username);
      context = await this.#browser.newContext({
        serviceWorkers: 'block',
        ...(server === null ? {} : { proxy: { server, bypass: '<-loopback>' } }),
      });
      const page = await context.newPage();
      this.#patch(page);
      const crashed = new Promise<never>((_, reject) => {
        listenOnce(page, 'crash', () => reject(new Error('the process of the test page ended')));
      });
      crashed.catch(() => {});
      const shown = async (): Promise<unknown> => {
        if (server !== null) await page.goto(PROBE_URL, { timeout: 0 });
        return page.evaluate('1 + 1');
      };
      const sum = await Promise.race([shown(), crashed]);
      if (sum !== 2) throw new Error('scripts do not run');
    } finally {
      if (context !== null) await settlesWithin(context.close(), closeTimeoutMs);
      if (login !== null) proxy.dismiss(login.username);
    }
  }

  async #end(reason: ScrapifieError | null, how: 'closed' | 'ended' | 'unresponsive'): Promise<void> {
    const hasCrashed = how === 'ended';
    this.retire(how === 'closed' ? 'limits' : how);
    this.watch.end();
    this.#memory.end();
    if (this.idleTimer !== null) clearTimeout(this.idleTimer);
    this.#ending.abort(reason ?? browserLost('it was closed'));
    for (const pooledContext of [...this.contexts.values()]) {
      for (const { lost } of pooledContext.pages) lost?.abort(this.#ending.signal.reason);
      if (hasCrashed || reason !== null) this.#forget(pooledContext);
    }
    const { closeTimeoutMs, onGone } = this.#options;
    // A browser that does not answer is not asked to close, unless there is no other way to end it.
    const isAsked = how === 'closed' || (how === 'unresponsive' && this.pid === null);
    if (isAsked) await settlesWithin(this.#browser.close(), closeTimeoutMs);
    if (this.pid !== null) await killTree(this.pid).catch(() => false);
    for (const pooledContext of [...this.contexts.values()]) this.#forget(pooledContext);
    this.isGone = true;
    onGone(this, hasCrashed);
  }

  #lose(pooled: PooledPage, reason: ScrapifieError): void {
    pooled.lost?.abort(reason);
    if (!pooled.isDiscarded && pooled.lost === null) this.#options.onPageLost(pooled);
  }

  #forget(pooledContext: PooledContext): void {
    pooledContext.isClosed = true;
    for (const { blankTimer } of pooledContext.pages) if (blankTimer !== null) clearTimeout(blankTimer);
    if (this.contexts.get(pooledContext.plan.identity) === pooledContext)
      this.contexts.delete(pooledContext.plan.identity);
    this.#options.proxy.dismiss(pooledContext.login.username);
  }
}

/** What a context has to show to its proxy: the guard's, or one that it goes to by itself. */
export function proxyLoginOf({ plan, login }: PooledContext, usesProxy: boolean): ProxyLogin | null {
  if (usesProxy) return plan.isWatched === true ? login : null;
  return plan.upstream?.credentials ?? null;
}

/** For a browser that goes to the proxy by itself. */
function settingsOf({ protocol, host, port, credentials }: ProxyEndpoint) {
  if (protocol === 'socks5' && credentials !== null) {
    throw new ScrapifieError(
      'UNSUPPORTED_OPTION',
      'proxy: a remote browser cannot log in to a socks5 proxy; use one that speaks http',
    );
  }
  const server = `${protocol}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  // By itself Chromium goes around its proxy to the machine that it runs on, and to the metadata of clouds.
  const contextProxy = { server, bypass: '<-loopback>' };
  if (credentials === null) return contextProxy;
  return { ...contextProxy, username: credentials.username, password: credentials.password };
}
