import { isIP } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'patchright-core';
import { ScrapifieError } from '../../../errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../../model/proxy.ts';
import type { GuardProxy, ProxyPass } from '../../guard/guard-proxy.ts';
import { settlesWithin } from '../deadline.ts';
import { patchFrames } from '../patchright/patchright-patches.ts';
import { browserCrashed, browserLost } from '../render-errors.ts';
import { processesOf } from './browser-launch.ts';
import type { ProgramMark } from './browser-program.ts';
import { BrowserWatch, type WatchLimits } from './browser-watch.ts';
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
   * Every request of its pages passes through the driver, also those that belong to no page: what is sent with them is
   * then the context's. It costs time, so only who is disguised wants it.
   */
  readonly isWatched?: boolean | undefined;
  /** Before the first page is opened. */
  readonly prepare?: ((context: BrowserContext) => Promise<void>) | undefined;
}

/** A page in the pool, with what ends its use. */
export interface PooledPage {
  readonly page: Page;
  readonly home: PooledContext;
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
  readonly pass: ProxyPass;
  readonly idle: PooledPage[];
  readonly pages: Set<PooledPage>;
  /** Pages being opened. */
  opening: number;
  /** Pages being closed. One that hangs blocks the others of its process, so nothing new begins meanwhile. */
  closing: number;
  lastUsedAt: number;
  isClosed: boolean;
}

export const inUse = ({ pages, idle, opening }: PooledContext): number => pages.size - idle.length + opening;

export interface PooledBrowserOptions {
  readonly browser: Browser;
  /** Null when its processes are not ours. */
  readonly pid: number | null;
  /** Of the process that fetches for all pages; null where that is not known. */
  readonly networkPid: number | null;
  readonly proxy: GuardProxy;
  readonly usesProxy: boolean;
  readonly closeTimeoutMs: number;
  readonly watch: WatchLimits;
  readonly program: ProgramMark | null;
  readonly onGone: (browser: PooledBrowser, hasCrashed: boolean) => void;
  /** The browser does not answer any more and is being killed. */
  readonly onDead: (why: string) => void;
  readonly onPageLost: (page: PooledPage) => void;
}

/** Answered by the guard's proxy itself; the name exists nowhere. */
const PROBE_URL = 'http://probe.invalid/';

/** One Chromium with its contexts. It opens and closes; which of them to use is the pool's decision. */
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
  private readonly browser: Browser;
  private readonly options: PooledBrowserOptions;
  private readonly ending = new AbortController();
  private closed: Promise<void> | null = null;

  constructor(options: PooledBrowserOptions) {
    this.options = options;
    this.browser = options.browser;
    this.pid = options.pid;
    this.program = options.program;
    this.watch = new BrowserWatch({
      limits: options.watch,
      probe: () => this.probe(),
      onDead: (why) => this.abandon(why),
    });
    this.browser.once('disconnected', () => this.onDisconnected());
  }

  get isRetiring(): boolean {
    return this.retiringFor !== null;
  }

  retire(why: ReplacedFor): void {
    this.retiringFor ??= why;
  }

  /** Aborts when the browser is lost, with the reason. */
  get lost(): AbortSignal {
    return this.ending.signal;
  }

  get isClosing(): boolean {
    return this.closed !== null;
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
    const { proxy } = this.options;
    const pass = proxy.admit(plan.upstream);
    const home: PooledContext = {
      plan,
      browser: this,
      context: this.newContext(plan, pass),
      pass,
      idle: [],
      pages: new Set(),
      opening: 0,
      closing: 0,
      lastUsedAt: now,
      isClosed: false,
    };
    home.context.catch(() => this.forget(home));
    this.contexts.set(plan.identity, home);
    return home;
  }

  private async newContext(plan: ContextPlan, pass: ProxyPass): Promise<BrowserContext> {
    const { usesProxy } = this.options;
    const wayOut = usesProxy
      ? await this.doorOf(plan, pass)
      : plan.upstream === null
        ? null
        : settingsOf(plan.upstream);
    const context = await this.browser.newContext({
      // A worker that lives on after its page would go on working for nobody. A page can notice that it is not let.
      serviceWorkers: 'block',
      ...plan.options,
      acceptDownloads: false,
      ...(wayOut === null ? {} : { proxy: wayOut }),
      // Its requests are nobody's who could be looked at.
      ...(usesProxy ? {} : { serviceWorkers: 'block' as const }),
    });
    try {
      // No request that could be looked at, so where requests are looked at there are none.
      if (!usesProxy) await context.routeWebSocket(/^/, (socket) => socket.close());
      await plan.prepare?.(context);
    } catch (error) {
      await settlesWithin(context.close(), this.options.closeTimeoutMs);
      throw error;
    }
    return context;
  }

  /** A login makes the driver look at every request; see `isWatched`. */
  private async doorOf({ isWatched = false }: ContextPlan, pass: ProxyPass) {
    const { proxy } = this.options;
    const bypass = '<-loopback>';
    return isWatched
      ? { server: proxy.url, bypass, ...pass }
      : { server: await proxy.doorFor(pass.username), bypass };
  }

  async openPage(home: PooledContext): Promise<PooledPage> {
    const context = await home.context;
    const page = await context.newPage();
    if (home.isClosed || this.isGone) throw browserLost('it ended unexpectedly');
    patchFrames(page);
    const pooled: PooledPage = {
      page,
      home,
      streak: 0,
      lost: null,
      isDiscarded: false,
      blanking: null,
      blankTimer: null,
    };
    home.pages.add(pooled);
    page.once('crash', () => this.lose(pooled, browserCrashed("The page's process")));
    page.once('close', () => this.lose(pooled, browserCrashed('The page')));
    return pooled;
  }

  /** Closes a page for good. A page that does not close condemns its browser: only its end helps then. */
  async discard(pooled: PooledPage): Promise<void> {
    if (pooled.isDiscarded) return;
    pooled.isDiscarded = true;
    if (pooled.blankTimer !== null) clearTimeout(pooled.blankTimer);
    const { home, page } = pooled;
    home.pages.delete(pooled);
    const at = home.idle.indexOf(pooled);
    if (at !== -1) home.idle.splice(at, 1);
    if (this.isGone) return;
    this.closing += 1;
    home.closing += 1;
    const isClosed = await settlesWithin(page.close(), this.options.closeTimeoutMs);
    this.closing -= 1;
    home.closing -= 1;
    if (!isClosed) this.retire('distrusted');
  }

  /** Closes a context that no page is in use of. */
  async closeContext(home: PooledContext): Promise<void> {
    if (home.isClosed) return;
    this.forget(home);
    const pages = [...home.pages];
    for (const pooled of pages) {
      pooled.isDiscarded = true;
      if (pooled.blankTimer !== null) clearTimeout(pooled.blankTimer);
    }
    home.pages.clear();
    home.idle.length = 0;
    this.closing += pages.length;
    const closing = home.context.then((context) => context.close());
    const isClosed = await settlesWithin(closing, this.options.closeTimeoutMs);
    this.closing -= pages.length;
    if (!isClosed) this.retire('distrusted');
  }

  /** Ends the browser, by force if it does not go, and leaves no process of it behind. */
  close(reason: ScrapifieError | null = null): Promise<void> {
    this.closed ??= this.end(reason, 'closed');
    return this.closed;
  }

  private onDisconnected(): void {
    this.closed ??= this.end(browserLost('it ended unexpectedly'), 'ended');
  }

  /** Its pages end at once, and its processes without being asked. */
  private abandon(why: string): void {
    if (this.closed !== null) return;
    if (!this.browser.isConnected()) {
      this.onDisconnected();
      return;
    }
    this.retire('unresponsive');
    this.options.onDead(why);
    this.closed = this.end(browserLost(why), 'unresponsive');
  }

  /** Uses everything that a page needs: a context of its own, a new process, the network process and a script. */
  private async probe(): Promise<void> {
    const { proxy, usesProxy, closeTimeoutMs, networkPid } = this.options;
    // Requests that the old one had never end, and contexts do not know their proxy any more; new ones would do.
    const found = networkPid === null ? null : (await processesOf(this.browser)).networkPid;
    if (found !== null && found !== networkPid) throw new Error('its network process was started anew');
    const pass = usesProxy ? proxy.admitProbe() : null;
    let context: BrowserContext | null = null;
    try {
      const server = pass === null ? null : await proxy.doorFor(pass.username);
      context = await this.browser.newContext({
        serviceWorkers: 'block',
        ...(server === null ? {} : { proxy: { server, bypass: '<-loopback>' } }),
      });
      const page = await context.newPage();
      patchFrames(page);
      const crashed = new Promise<never>((_, reject) => {
        page.once('crash', () => reject(new Error('the process of the test page ended')));
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
      if (pass !== null) proxy.dismiss(pass.username);
    }
  }

  private async end(reason: ScrapifieError | null, how: 'closed' | 'ended' | 'unresponsive'): Promise<void> {
    const hasCrashed = how === 'ended';
    this.retire(how === 'closed' ? 'limits' : how);
    this.watch.end();
    if (this.idleTimer !== null) clearTimeout(this.idleTimer);
    this.ending.abort(reason ?? browserLost('it was closed'));
    for (const home of [...this.contexts.values()]) {
      for (const { lost } of home.pages) lost?.abort(this.ending.signal.reason);
      if (hasCrashed || reason !== null) this.forget(home);
    }
    const { closeTimeoutMs, onGone } = this.options;
    // One that does not answer is not asked to go, unless there is no other way to end it.
    const isAsked = how === 'closed' || (how === 'unresponsive' && this.pid === null);
    if (isAsked) await settlesWithin(this.browser.close(), closeTimeoutMs);
    if (this.pid !== null) await killTree(this.pid).catch(() => false);
    for (const home of [...this.contexts.values()]) this.forget(home);
    this.isGone = true;
    onGone(this, hasCrashed);
  }

  private lose(pooled: PooledPage, reason: ScrapifieError): void {
    pooled.lost?.abort(reason);
    if (!pooled.isDiscarded && pooled.lost === null) this.options.onPageLost(pooled);
  }

  private forget(home: PooledContext): void {
    home.isClosed = true;
    for (const { blankTimer } of home.pages) if (blankTimer !== null) clearTimeout(blankTimer);
    if (this.contexts.get(home.plan.identity) === home) this.contexts.delete(home.plan.identity);
    this.options.proxy.dismiss(home.pass.username);
  }
}

/** What a context has to show to its proxy: the guard's, or one that it goes to by itself. */
export function proxyLoginOf({ plan, pass }: PooledContext, usesProxy: boolean): ProxyPass | null {
  if (usesProxy) return plan.isWatched === true ? pass : null;
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
  const wayOut = { server, bypass: '<-loopback>' };
  if (credentials === null) return wayOut;
  return { ...wayOut, username: credentials.username, password: credentials.password };
}
