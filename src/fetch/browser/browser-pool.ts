import { isScrapifieError, type ScrapifieError } from '../../errors/scrapifie-error.ts';
import { BrowserStarter } from './browser-launch.ts';
import { settlesWithin } from './deadline.ts';
import type { ProxyPass } from './guard-proxy.ts';
import type { PageLease, PoolStats } from './page-lease.ts';
import { type BrowserPoolOptions, type PoolSettings, withDefaults } from './pool-options.ts';
import {
  type ContextPlan,
  inUse,
  PooledBrowser,
  type PooledContext,
  type PooledPage,
} from './pooled-browser.ts';
import { treeBytes } from './process-tree.ts';
import { browserCrashed, browserUnavailable, cancelled, shuttingDown, tookTooLong } from './render-errors.ts';

interface Waiter {
  readonly plan: ContextPlan;
  readonly grant: (lease: PageLease) => void;
  readonly refuse: (error: ScrapifieError) => void;
  isDone: boolean;
  tries: number;
}

/** No other browser would do better. */
const isFault = ({ code }: ScrapifieError): boolean =>
  code === 'VALIDATION_FAILED' || code === 'UNSUPPORTED_OPTION';

/** Pages of one key in a row before others get a turn. */
const MOST_STREAK = 32;
const MOST_TRIES = 3;

/**
 * Browsers and pages, made when they are needed and kept while they are. Pages of one identity share a context and
 * are used again as they stand; pages of different ones never meet. It keeps to its limits whatever is asked: who
 * does not find a page waits.
 */
export class BrowserPool {
  private readonly options: PoolSettings;
  private readonly starter: BrowserStarter;
  /** Bounded by `maxBrowsers`, like the launches. */
  private readonly browsers = new Set<PooledBrowser>();
  private launching = 0;
  /** Launches under way, so that closing leaves none behind. */
  private readonly starting = new Set<Promise<void>>();
  private noLaunchUntil = 0;
  private whyNoLaunch = '';
  /** Bounded by whoever calls, and each by its time. */
  private readonly waiting: Waiter[] = [];
  private isClosed = false;
  private launched = 0;
  private crashed = 0;
  private recycled = 0;

  constructor(options: BrowserPoolOptions) {
    this.options = withDefaults(options);
    this.starter = new BrowserStarter(this.options);
  }

  get stats(): PoolStats {
    const all = [...this.browsers];
    const sum = (count: (browser: PooledBrowser) => number) =>
      all.reduce((total, each) => total + count(each), 0);
    return {
      browsers: this.browsers.size,
      contexts: sum(({ contexts }) => contexts.size),
      pagesOpen: sum(({ openPages }) => openPages),
      pagesInUse: sum(({ pagesInUse }) => pagesInUse),
      waiting: this.waiting.length,
      launched: this.launched,
      crashed: this.crashed,
      recycled: this.recycled,
    };
  }

  /** The processes of the browsers, for whoever watches over them. */
  get pids(): readonly number[] {
    return [...this.browsers].map(({ pid }) => pid).filter((pid) => pid !== null);
  }

  acquire(plan: ContextPlan, timeoutMs: number, signal?: AbortSignal): Promise<PageLease> {
    const { promise, resolve, reject } = Promise.withResolvers<PageLease>();
    if (this.isClosed) reject(shuttingDown());
    else if (signal?.aborted === true) reject(cancelled(signal.reason));
    else {
      const waiter: Waiter = { plan, grant: resolve, refuse: reject, isDone: false, tries: 0 };
      const leave = (error: ScrapifieError) => this.refuse(waiter, error);
      const onAbort = () => leave(cancelled(signal?.reason));
      const timer = setTimeout(() => leave(tookTooLong('Waiting for a page', timeoutMs)), timeoutMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      const over = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      promise.then(over, over);
      this.waiting.push(waiter);
      this.pump();
    }
    return promise;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const waiter of [...this.waiting]) this.refuse(waiter, shuttingDown());
    // A browser that is just starting is closed when it has started.
    await Promise.all(this.starting);
    await Promise.all([...this.browsers].map((browser) => browser.close(shuttingDown())));
  }

  /** Places whoever can be placed, in the order they came. */
  private pump(): void {
    for (const waiter of [...this.waiting]) {
      if (this.place(waiter)) this.waiting.splice(this.waiting.indexOf(waiter), 1);
    }
    for (const browser of [...this.browsers]) this.tend(browser);
    // One more browser only helps where those that are there cannot take another page.
    const isFull = this.openPages >= this.options.pagesAtOnce || this.candidates().length > 0;
    const isAtLimit = this.browsers.size + this.launching >= this.options.maxBrowsers;
    const isWanted = this.waiting.length > this.launching * this.options.pagesEach;
    if (!isWanted || isFull || isAtLimit) return;
    if (performance.now() >= this.noLaunchUntil) this.launch();
    else if (this.browsers.size + this.launching === 0) this.refuseAll(this.launchFailure());
  }

  private get openPages(): number {
    let count = 0;
    for (const browser of this.browsers) count += browser.openPages;
    return count;
  }

  /** Browsers that can take another page, the emptiest first. */
  private candidates(): PooledBrowser[] {
    return [...this.browsers]
      .filter(({ isRetiring, openPages }) => !isRetiring && openPages < this.options.pagesEach)
      .sort((a, b) => a.openPages - b.openPages);
  }

  private place(waiter: Waiter): boolean {
    const { identity } = waiter.plan;
    for (const browser of this.browsers) {
      const home = browser.isRetiring ? undefined : browser.contexts.get(identity);
      if (home !== undefined) return this.placeIn(home, waiter);
    }
    if (this.openPages >= this.options.pagesAtOnce) return this.makeRoom([...this.browsers]);
    for (const browser of this.candidates()) {
      if (browser.contexts.size >= this.options.maxContexts && !this.dropContext(browser)) continue;
      return this.open(browser.openContext(waiter.plan, performance.now()), waiter);
    }
    const isAtLimit = this.browsers.size + this.launching >= this.options.maxBrowsers;
    return isAtLimit ? this.makeRoom([...this.browsers]) : false;
  }

  private placeIn(home: PooledContext, waiter: Waiter): boolean {
    if (home.closing > 0) return false;
    const warm = home.idle.pop();
    if (warm !== undefined) {
      this.hand(warm, waiter);
      return true;
    }
    if (this.openPages >= this.options.pagesAtOnce) return this.makeRoom([...this.browsers]);
    if (home.browser.openPages >= this.options.pagesEach) return this.makeRoom([home.browser]);
    return this.open(home, waiter);
  }

  private open(home: PooledContext, waiter: Waiter): true {
    home.opening += 1;
    this.openWithin(home, this.options.launchTimeoutMs)
      .then(
        (pooled) => {
          home.opening -= 1;
          this.hand(pooled, waiter);
        },
        (error: unknown) => {
          home.opening -= 1;
          this.again(waiter, error);
        },
      )
      .finally(() => this.pump());
    return true;
  }

  /** The page did not come: another may, unless that went on for too long. */
  private again(waiter: Waiter, error: unknown): void {
    if (waiter.isDone) return;
    waiter.tries += 1;
    if (this.isClosed) this.refuse(waiter, shuttingDown());
    else if (isScrapifieError(error) && isFault(error)) this.refuse(waiter, error);
    else if (waiter.tries >= MOST_TRIES)
      this.refuse(waiter, browserUnavailable('no page could be opened', error));
    else this.waiting.unshift(waiter);
  }

  private hand(pooled: PooledPage, waiter: Waiter): void {
    if (pooled.blankTimer !== null) clearTimeout(pooled.blankTimer);
    pooled.blankTimer = null;
    if (pooled.blanking !== null) {
      // Bounded like every blanking; the page counts as in use meanwhile.
      pooled.blanking.then((isBlank) => {
        pooled.blanking = null;
        if (isBlank && !pooled.isDiscarded) this.hand(pooled, waiter);
        else {
          this.discard(pooled);
          this.again(waiter, null);
          this.pump();
        }
      });
      return;
    }
    const { home } = pooled;
    if (waiter.isDone) {
      this.putBack(pooled);
      return;
    }
    waiter.isDone = true;
    const lost = new AbortController();
    pooled.lost = lost;
    pooled.streak += 1;
    home.lastUsedAt = performance.now();
    let isOver = false;
    waiter.grant({
      page: pooled.page,
      proxyUsername: home.pass.username,
      proxyLogin: proxyLoginOf(home, this.options.usesProxy),
      lost: lost.signal,
      release: (state) => {
        if (isOver) return;
        isOver = true;
        pooled.lost = null;
        home.browser.served += 1;
        if (state === 'lost') home.browser.isRetiring = true;
        if (state !== 'clean' || lost.signal.aborted) this.discard(pooled);
        else this.putBack(pooled);
        this.pump();
      },
    });
  }

  private putBack(pooled: PooledPage): void {
    const { home } = pooled;
    const { browser } = home;
    if (browser.isRetiring || home.isClosed || pooled.isDiscarded) {
      this.discard(pooled);
      return;
    }
    home.lastUsedAt = performance.now();
    home.idle.push(pooled);
    const rest = () => {
      pooled.blankTimer = null;
      pooled.streak = 0;
      const blanked = pooled.page.goto('about:blank', { timeout: this.options.closeTimeoutMs }).then(
        () => true,
        () => false,
      );
      pooled.blanking = blanked;
      blanked.then((isBlank) => {
        // Whoever took the page meanwhile sees to it.
        if (!home.idle.includes(pooled)) return;
        pooled.blanking = null;
        if (!isBlank) this.discard(pooled);
      });
    };
    if (pooled.streak >= MOST_STREAK) rest();
    else pooled.blankTimer = setTimeout(rest, this.options.blankAfterMs);
  }

  private discard(pooled: PooledPage): void {
    pooled.home.browser.discard(pooled).then(() => this.pump());
  }

  /** All pages are taken: the idle one that was used longest ago gives way. It takes a moment, so never true. */
  private makeRoom(browsers: readonly PooledBrowser[]): false {
    if (browsers.some(({ closing }) => closing > 0)) return false;
    const homes = browsers.flatMap(({ contexts }) => [...contexts.values()]);
    const oldest = homes.filter(({ idle }) => idle.length > 0).sort((a, b) => a.lastUsedAt - b.lastUsedAt)[0];
    if (oldest === undefined) return false;
    if (inUse(oldest) === 0) oldest.browser.closeContext(oldest).then(() => this.pump());
    else if (oldest.idle[0] !== undefined) this.discard(oldest.idle[0]);
    return false;
  }

  private dropContext(browser: PooledBrowser): boolean {
    const oldest = [...browser.contexts.values()]
      .filter((home) => inUse(home) === 0)
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt)[0];
    if (oldest === undefined) return false;
    browser.closeContext(oldest).then(() => this.pump());
    return true;
  }

  /** What a browser needs between pages: to be measured, replaced, or closed when nothing is left to do. */
  private tend(browser: PooledBrowser): void {
    const { pagesPerBrowser, measureEveryMs, maxBrowserBytes, idleMs } = this.options;
    const now = performance.now();
    if (browser.served >= pagesPerBrowser) browser.isRetiring = true;
    if (browser.idleTimer !== null) clearTimeout(browser.idleTimer);
    browser.idleTimer = null;
    if (browser.pagesInUse === 0) {
      if (browser.isRetiring) this.recycle(browser);
      else {
        browser.idleTimer = setTimeout(() => this.closeIdle(browser), idleMs);
        browser.idleTimer.unref();
      }
    }
    if (browser.pid === null || now - browser.measuredAt < measureEveryMs) return;
    browser.measuredAt = now;
    treeBytes(browser.pid).then(
      (bytes) => {
        if (bytes === null || bytes <= maxBrowserBytes || browser.isRetiring) return;
        browser.isRetiring = true;
        this.pump();
      },
      () => {},
    );
  }

  private recycle(browser: PooledBrowser): void {
    if (browser.isClosing) return;
    this.recycled += 1;
    void browser.close();
  }

  private closeIdle(browser: PooledBrowser): void {
    if (browser.pagesInUse === 0) void browser.close();
  }

  private launch(): void {
    this.launching += 1;
    const { proxy, usesProxy, closeTimeoutMs } = this.options;
    const starting = this.starter
      .start()
      .then(
        ({ browser, pid }) => {
          const pooled = new PooledBrowser({
            browser,
            pid,
            proxy,
            usesProxy,
            closeTimeoutMs,
            onGone: (gone, hasCrashed) => this.onGone(gone, hasCrashed),
            onPageLost: (page) => this.discard(page),
          });
          this.launched += 1;
          this.browsers.add(pooled);
          return this.isClosed ? pooled.close(shuttingDown()) : undefined;
        },
        (error: ScrapifieError) => {
          const pauseMs = error.retryAfterMs ?? 0;
          this.noLaunchUntil = performance.now() + pauseMs;
          this.whyNoLaunch = error.message;
          setTimeout(() => this.pump(), pauseMs).unref();
        },
      )
      .finally(() => {
        this.launching -= 1;
        this.starting.delete(starting);
        if (!this.isClosed) this.pump();
      });
    this.starting.add(starting);
  }

  private launchFailure(): ScrapifieError {
    const retryAfterMs = Math.max(0, this.noLaunchUntil - performance.now());
    return browserUnavailable(this.whyNoLaunch, undefined, retryAfterMs);
  }

  private onGone(browser: PooledBrowser, hasCrashed: boolean): void {
    this.browsers.delete(browser);
    if (hasCrashed) this.crashed += 1;
    if (!this.isClosed) this.pump();
  }

  private refuse(waiter: Waiter, error: ScrapifieError): void {
    if (waiter.isDone) return;
    waiter.isDone = true;
    const at = this.waiting.indexOf(waiter);
    if (at !== -1) this.waiting.splice(at, 1);
    waiter.refuse(error);
  }

  private refuseAll(error: ScrapifieError): void {
    for (const waiter of [...this.waiting]) this.refuse(waiter, error);
  }

  private async openWithin(home: PooledContext, limitMs: number): Promise<PooledPage> {
    const opened = home.browser.openPage(home);
    if (await settlesWithin(opened, limitMs)) return opened;
    // It may still come, and nobody waits for it then.
    opened.then(
      (late) => this.discard(late),
      () => {},
    );
    throw browserCrashed('The browser');
  }
}

/** What a context has to show to its proxy: the guard's, or one that it goes to by itself. */
function proxyLoginOf({ plan, pass }: PooledContext, usesProxy: boolean): ProxyPass | null {
  if (usesProxy) return plan.isWatched === true ? pass : null;
  return plan.upstream?.credentials ?? null;
}
