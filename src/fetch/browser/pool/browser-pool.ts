import { isScrapifieError, type ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { abortError, orAborted, settlesWithin } from '../../deadline.ts';
import { browserLost, browserUnavailable, shuttingDown } from '../../render-errors.ts';
import { LaunchControl, type PatchedBrowser } from './browser-launch.ts';
import { PageWaiters, type Waiter } from './page-waiters.ts';
import { type BrowserHealth, type PageLease, PoolRecord, type PoolStats } from './pool-health.ts';
import { type BrowserPoolOptions, type PoolSettings, withDefaults } from './pool-options.ts';
import {
  type ContextPlan,
  inUse,
  PooledBrowser,
  type PooledContext,
  type PooledPage,
  proxyLoginOf,
} from './pooled-browser.ts';
import { treeBytes } from './process-tree.ts';

/** These fail in any browser. */
const FAULTS: ReadonlySet<string> = new Set(['VALIDATION_FAILED', 'UNSUPPORTED_OPTION']);

/** Pages of one key in a row before others get a turn. */
const MOST_STREAK = 32;
const MOST_TRIES = 3;

/**
 * Opens browsers and pages on demand and reuses them. Pages of one identity share a context and
 * are reused; pages of different identities never share one. The limits always hold: a request
 * without a free page waits.
 */
export class BrowserPool {
  readonly #options: PoolSettings;
  readonly #launches: LaunchControl;
  /** Bounded by `maxBrowsers`, like the launches. */
  readonly #browsers = new Set<PooledBrowser>();
  readonly #waiters: PageWaiters;
  readonly #record: PoolRecord;
  #isClosed = false;

  constructor(options: BrowserPoolOptions) {
    this.#options = withDefaults(options);
    this.#record = new PoolRecord(this.#options);
    this.#waiters = new PageWaiters((waiter, error) => this.#lateFor(waiter, error));
    this.#launches = new LaunchControl({
      settings: this.#options,
      onLaunched: (launched) => this.#onLaunched(launched),
      onChange: () => this.#onLaunchEnded(),
    });
    if (this.#options.minBrowsers > 0) this.#pump();
  }

  /** Whether pages can be rendered, as far as is known. */
  get health(): BrowserHealth {
    return this.#record.health(this.#browsers, this.#launches.failure);
  }

  get stats(): PoolStats {
    const all = [...this.#browsers];
    const sum = (count: (browser: PooledBrowser) => number) =>
      all.reduce((total, each) => total + count(each), 0);
    return {
      browsers: this.#browsers.size,
      contexts: sum(({ contexts }) => contexts.size),
      pagesOpen: sum(({ openPages }) => openPages),
      pagesInUse: sum(({ pagesInUse }) => pagesInUse),
      waiting: this.#waiters.count,
      launched: this.#launches.launched,
      launchesFailed: this.#launches.failed,
      crashed: this.#record.crashed,
      recycled: this.#record.recycled,
      replaced: { ...this.#record.replaced },
    };
  }

  /** Main process ids of the browsers that this process started. */
  get pids(): readonly number[] {
    return [...this.#browsers].map(({ pid }) => pid).filter((pid) => pid !== null);
  }

  async acquire(plan: ContextPlan, timeoutMs: number, signal?: AbortSignal): Promise<PageLease> {
    if (this.#isClosed) throw shuttingDown();
    if (signal?.aborted === true) throw abortError(signal.reason);
    const lease = this.#waiters.join(plan, timeoutMs, signal);
    this.#pump();
    return lease;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiters.refuseAll(shuttingDown());
    // A browser that is just starting is closed when it has started.
    await this.#launches.close();
    await Promise.all([...this.#browsers].map((browser) => browser.close(shuttingDown())));
  }

  /** Places waiting requests in their order, and launches browsers as needed. */
  #pump(): void {
    this.#waiters.placeAll((waiter) => this.#place(waiter));
    for (const browser of [...this.#browsers]) this.#tend(browser);
    // One more browser only helps where those that are there cannot take another page.
    const isFull = this.#openPages >= this.#options.pagesAtOnce || this.#candidates().length > 0;
    const isAtLimit = this.#browsers.size + this.#launches.underWay >= this.#options.maxBrowsers;
    const isWanted = this.#waiters.count > this.#launches.underWay * this.#options.pagesEach;
    const hasNone = this.#browsers.size + this.#launches.underWay === 0;
    // While nothing works, a browser is launched without being wanted, to notice when it works again.
    const isOwed = hasNone && (this.#record.lostFor !== null || this.#launches.failure !== null);
    const isShort = this.#browsers.size + this.#launches.underWay < this.#options.minBrowsers;
    if (isAtLimit || !(isShort || ((isWanted || isOwed) && !isFull))) return;
    if (!this.#launches.isPaused) this.#launches.launch();
    else if (hasNone && this.#launches.refusal !== null) this.#waiters.refuseAll(this.#launches.refusal);
  }

  get #openPages(): number {
    return [...this.#browsers].reduce((sum, { openPages }) => sum + openPages, 0);
  }

  /** Browsers that can take another page, the emptiest first. */
  #candidates(): PooledBrowser[] {
    return [...this.#browsers]
      .filter(({ isRetiring, openPages }) => !isRetiring && openPages < this.#options.pagesEach)
      .sort((a, b) => a.openPages - b.openPages);
  }

  #place(waiter: Waiter): boolean {
    const { identity } = waiter.plan;
    for (const browser of this.#browsers) {
      const pooledContext = browser.isRetiring ? undefined : browser.contexts.get(identity);
      if (pooledContext !== undefined) return this.#placeIn(pooledContext, waiter);
    }
    if (this.#openPages >= this.#options.pagesAtOnce) return this.#makeRoom([...this.#browsers]);
    for (const browser of this.#candidates()) {
      if (browser.contexts.size >= this.#options.maxContexts && !this.#dropContext(browser)) continue;
      return this.#open(browser.openContext(waiter.plan, performance.now()), waiter);
    }
    const isAtLimit = this.#browsers.size + this.#launches.underWay >= this.#options.maxBrowsers;
    return isAtLimit ? this.#makeRoom([...this.#browsers]) : false;
  }

  #placeIn(pooledContext: PooledContext, waiter: Waiter): boolean {
    if (pooledContext.closing > 0) return false;
    const warm = pooledContext.idle.pop();
    if (warm !== undefined) {
      this.#hand(warm, waiter);
      return true;
    }
    if (this.#openPages >= this.#options.pagesAtOnce) return this.#makeRoom([...this.#browsers]);
    if (pooledContext.browser.openPages >= this.#options.pagesEach)
      return this.#makeRoom([pooledContext.browser]);
    return this.#open(pooledContext, waiter);
  }

  #open(pooledContext: PooledContext, waiter: Waiter): true {
    pooledContext.opening += 1;
    waiter.opening = pooledContext.browser;
    const opened = pooledContext.browser.watch.begin('opening');
    this.#openWithin(pooledContext, this.#options.openTimeoutMs)
      .finally(() => {
        opened();
        pooledContext.opening -= 1;
        waiter.opening = null;
      })
      .then(
        (pooled) => this.#hand(pooled, waiter),
        (error: unknown) => {
          // Most of the time of such a request is gone; it comes again with all of it.
          if (pooledContext.browser.retiringFor === 'unresponsive')
            this.#waiters.refuse(waiter, pooledContext.browser.lost.reason);
          else this.#again(waiter, error);
        },
      )
      .finally(() => this.#pump());
    return true;
  }

  /** Retries a page that did not open, a limited number of times. */
  #again(waiter: Waiter, error: unknown): void {
    if (waiter.isDone) return;
    waiter.tries += 1;
    if (this.#isClosed) this.#waiters.refuse(waiter, shuttingDown());
    else if (isScrapifieError(error) && FAULTS.has(error.code)) this.#waiters.refuse(waiter, error);
    else if (waiter.tries >= MOST_TRIES)
      this.#waiters.refuse(waiter, browserUnavailable('no page could be opened', error));
    else this.#waiters.putBack(waiter);
  }

  #hand(pooled: PooledPage, waiter: Waiter): void {
    if (pooled.blankTimer !== null) clearTimeout(pooled.blankTimer);
    pooled.blankTimer = null;
    if (pooled.blanking !== null) {
      // Bounded like every blanking; the page counts as in use meanwhile.
      waiter.opening = pooled.pooledContext.browser;
      const opened = pooled.pooledContext.browser.watch.begin('opening');
      pooled.blanking.then((isBlank) => {
        opened();
        waiter.opening = null;
        pooled.blanking = null;
        if (isBlank && !pooled.isDiscarded) this.#hand(pooled, waiter);
        else {
          this.#discard(pooled);
          this.#again(waiter, null);
          this.#pump();
        }
      });
      return;
    }
    const { pooledContext } = pooled;
    if (waiter.isDone) {
      this.#putBack(pooled);
      return;
    }
    waiter.isDone = true;
    const lost = new AbortController();
    pooled.lost = lost;
    pooledContext.browser.hasOpenedPage = true;
    this.#launches.noteWorking();
    const used = pooledContext.browser.watch.begin('use');
    pooled.streak += 1;
    pooledContext.lastUsedAt = performance.now();
    let isOver = false;
    waiter.grant({
      page: pooled.page,
      proxyUsername: pooledContext.login.username,
      proxyLogin: proxyLoginOf(pooledContext, this.#options.usesProxy),
      lost: lost.signal,
      isBrowserAlive: () => this.#isAlive(pooledContext.browser),
      release: (state) => {
        if (isOver) return;
        isOver = true;
        used();
        pooled.lost = null;
        pooledContext.browser.served += 1;
        if (state === 'lost') pooledContext.browser.retire('distrusted');
        if (state === 'clean' && !pooledContext.browser.lost.aborted) this.#record.noteProven();
        if (state !== 'clean' || lost.signal.aborted) this.#discard(pooled);
        else this.#putBack(pooled);
        this.#pump();
      },
    });
  }

  #putBack(pooled: PooledPage): void {
    const { pooledContext } = pooled;
    const { browser } = pooledContext;
    if (browser.isRetiring || pooledContext.isClosed || pooled.isDiscarded) {
      this.#discard(pooled);
      return;
    }
    pooledContext.lastUsedAt = performance.now();
    pooledContext.idle.push(pooled);
    const rest = () => {
      pooled.blankTimer = null;
      pooled.streak = 0;
      const blanked = pooled.page.goto('about:blank', { timeout: this.#options.closeTimeoutMs }).then(
        () => true,
        () => false,
      );
      pooled.blanking = blanked;
      blanked.then((isBlank) => {
        // The page was taken meanwhile; its new holder handles the result.
        if (!pooledContext.idle.includes(pooled)) return;
        pooled.blanking = null;
        if (!isBlank) this.#discard(pooled);
      });
    };
    if (pooled.streak >= MOST_STREAK) rest();
    else pooled.blankTimer = setTimeout(rest, this.#options.blankAfterMs);
  }

  #discard(pooled: PooledPage): void {
    pooled.pooledContext.browser.discard(pooled).then(() => this.#pump());
  }

  /** Closes the least recently used idle page. Returns false: the room is free only later. */
  #makeRoom(browsers: readonly PooledBrowser[]): false {
    if (browsers.some(({ closing }) => closing > 0)) return false;
    const pooledContexts = browsers.flatMap(({ contexts }) => [...contexts.values()]);
    const oldest = pooledContexts
      .filter(({ idle }) => idle.length > 0)
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt)[0];
    if (oldest === undefined) return false;
    if (inUse(oldest) === 0) oldest.browser.closeContext(oldest).then(() => this.#pump());
    else if (oldest.idle[0] !== undefined) this.#discard(oldest.idle[0]);
    return false;
  }

  #dropContext(browser: PooledBrowser): boolean {
    const oldest = [...browser.contexts.values()]
      .filter((pooledContext) => inUse(pooledContext) === 0)
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt)[0];
    if (oldest === undefined) return false;
    browser.closeContext(oldest).then(() => this.#pump());
    return true;
  }

  /** Maintenance between pages: measures, replaces or closes the browser. */
  #tend(browser: PooledBrowser): void {
    const { pagesPerBrowser, measureEveryMs, maxBrowserBytes, idleMs } = this.#options;
    const now = performance.now();
    if (browser.served >= pagesPerBrowser) browser.retire('limits');
    this.#record.lookAtProgram(browser, now, () => this.#pump());
    if (browser.idleTimer !== null) clearTimeout(browser.idleTimer);
    browser.idleTimer = null;
    if (browser.pagesInUse === 0) {
      if (browser.isRetiring) this.#recycle(browser);
      else {
        const canRest = () => browser.pagesInUse === 0 && this.#browsers.size > this.#options.minBrowsers;
        browser.idleTimer = setTimeout(() => void (canRest() && browser.close()), idleMs);
        browser.idleTimer.unref();
      }
    }
    if (browser.pid === null || now - browser.measuredAt < measureEveryMs) return;
    browser.measuredAt = now;
    treeBytes(browser.pid).then(
      (bytes) => {
        if (bytes === null || bytes <= maxBrowserBytes || browser.isRetiring) return;
        browser.retire('limits');
        this.#pump();
      },
      () => {},
    );
  }

  #recycle(browser: PooledBrowser): void {
    if (browser.isClosing) return;
    this.#record.recycled += 1;
    this.#record.noteReplaced(browser.retiringFor ?? 'limits', 'after its last page');
    void browser.close();
  }

  #onLaunched(launched: PatchedBrowser): Promise<void> | undefined {
    const { browser, path } = launched;
    const pooled = new PooledBrowser({
      ...this.#options,
      ...launched,
      onGone: (gone, hasCrashed) => this.#onGone(gone, hasCrashed),
      onDead: (why) => pooled.hasOpenedPage && this.#record.noteDead(why),
      onPageLost: (page) => this.#discard(page),
      onUnpatched: (missing) => this.#record.noteUnpatched(missing),
    });
    this.#browsers.add(pooled);
    if (this.#isClosed) return pooled.close(shuttingDown());
    this.#record.noteLaunched(browser.version(), path);
    this.#record.noteUnpatched(launched.missingInternals);
    // A browser that replaces one that did not work counts only after it has shown that it works.
    if (this.#record.lostFor !== null) {
      this.#isAlive(pooled).then((isAlive) => {
        if (isAlive) this.#record.noteProven();
      });
    }
    return undefined;
  }

  #onLaunchEnded(): void {
    this.#record.noteLaunchEnded(this.#launches.failure);
    if (!this.#isClosed) this.#pump();
  }

  #onGone(browser: PooledBrowser, hasCrashed: boolean): void {
    this.#browsers.delete(browser);
    const isLost = hasCrashed || browser.retiringFor === 'unresponsive';
    if (isLost && !browser.hasOpenedPage) {
      this.#launches.noteEndedUnused();
      this.#record.noteLaunchEnded(this.#launches.failure);
    } else if (hasCrashed) {
      this.#record.crashed += 1;
      this.#record.noteReplaced('ended', 'its process ended');
    }
    if (!this.#isClosed) this.#pump();
  }

  /** By a probe that begins now; false also when the browser has ended by then. */
  async #isAlive(browser: PooledBrowser): Promise<boolean> {
    if (browser.lost.aborted) return false;
    return (await browser.watch.isAlive(performance.now())) && !browser.lost.aborted;
  }

  /** BROWSER_LOST for a request that timed out because no browser could open a page: its site is not at fault. */
  #lateFor({ opening }: Waiter, late: ScrapifieError): ScrapifieError {
    const isOurs = opening !== null || this.#browsers.size === 0 || this.health.state === 'failing';
    return isOurs ? browserLost('no page could be opened in time', late) : late;
  }

  async #openWithin(pooledContext: PooledContext, limitMs: number): Promise<PooledPage> {
    const opened = pooledContext.browser.openPage(pooledContext);
    const isInTime = await orAborted(settlesWithin(opened, limitMs), pooledContext.browser.lost);
    if (isInTime) return opened;
    // The page may still open later, and is discarded then.
    opened.then(
      (late) => this.#discard(late),
      () => {},
    );
    if (!(await this.#isAlive(pooledContext.browser))) throw pooledContext.browser.lost.reason;
    // The browser works, this context does not: the next try has another.
    if (inUse(pooledContext) <= 1) pooledContext.browser.closeContext(pooledContext).then(() => this.#pump());
    throw browserUnavailable(`a page did not open within ${limitMs} ms`);
  }
}
