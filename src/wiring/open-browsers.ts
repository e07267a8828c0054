import { searchEnvironment } from '../core/config/search-environment.ts';
import type { Settings } from '../core/config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { BrowserFigures } from '../core/observe/metrics/sources.ts';
import type { SolverFigures } from '../core/ports/captcha.ts';
import { type FoundBrowser, findBrowser, isExecutable } from '../fetch/browser/pool/find-browser.ts';
import { mostBytesFor, renderLimitsFor, withMemoryLimits } from '../fetch/browser/pool/memory-watch.ts';
import { type BrowserHealth, HEALTHY } from '../fetch/browser/pool/pool-health.ts';
import { remoteAddressOf } from '../fetch/browser/pool/pool-options.ts';
import { thisMachine } from '../fetch/byte-budget.ts';
import type { Engine } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { type Confinement, refusalOf } from '../fetch/render-process/confinement.ts';
import { confineBrowsers, type LaneLimits, openRenderLanes, type RenderLanes } from './render-lanes.ts';

/** The browsers of this process, in render processes. Nothing is looked for or started before it is needed. */
export interface Browsers {
  /**
   * The browser of this machine, or null. It is looked for at the first question, and again when it is gone. Throws
   * INVALID_SETTINGS when the settings name one that does not run, BROWSER_UNCONFINED when it cannot be kept from the rest
   * of the machine and the settings do not consent to that.
   */
  find(): Promise<FoundBrowser | null>;
  /** The browser that was launched last, or else found, without a new lookup; null when there is none. */
  readonly found: FoundBrowser | null;
  /** Why the browser that was found is not used; null when it is, or none was found yet. */
  readonly refusal: ScrapifieError | null;
  /** Whether pages can be shown by this engine, as far as can be told without showing one. */
  health(name: RenderName): Promise<BrowserHealth>;
  /** Null while nothing runs. */
  figures(): BrowserFigures | null;
  /** What solver services were asked; empty where none is set up, and before the first browser is started. */
  solverFigures(): readonly SolverFigures[];
  /** The renders that were asked of these browsers. */
  readonly renders: RenderTally;
  /** Hears when `found` or `health` may have changed. */
  onChange(listener: () => void): void;
  /** How many pages can be shown at once. */
  readonly pagesAtOnce: number;
  /** Throws, with what to do, when pages cannot be shown by this engine. */
  require(name: RenderName): Promise<void>;
  /** `fetch` of it ends with NO_BROWSER where there is none. It is closed with all of them. */
  engine(name: RenderName): Engine;
  /** Starts the browsers that the settings keep ready; nothing where they keep none, or where there is none. */
  warm(): Promise<void>;
  /** Process ids of the render processes that run. */
  readonly processIds: readonly number[];
  close(): Promise<void>;
}

const MOST_PAGES_EACH = 8;
const NOT_FOUND =
  'No Chromium, Chrome or Edge was found on this machine. `scrapifie doctor --install` installs one; or name one in SCRAPIFIE_BROWSER_PATH.';

export function openBrowsers(settings: Settings, logger: Logger, look = findBrowser): Browsers {
  const limits = limitsFor(settings);
  const renders = new RenderTally(limits.pagesAtOnce);
  let finding: Promise<FoundBrowser | null> | null = null;
  let lanes: RenderLanes | null = null;
  let isClosed = false;
  let found: FoundBrowser | null = null;
  let refusal: ScrapifieError | null = null;
  /** By the path of the browser; a machine has few. */
  const confining = new Map<string | null, Promise<Confinement>>();
  /** Render processes were started with a browser of this machine. */
  let hasOwn = false;
  const isOwn = (name: RenderName) => name === 'browser' || settings.remoteBrowserUrl === undefined;
  /** Bounded by the parts of the process. */
  const listeners: (() => void)[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const know = (browser: FoundBrowser | null) => {
    const isNew = browser?.path !== found?.path || browser?.version !== found?.version;
    found = browser;
    if (isNew) tell();
  };

  function find(): Promise<FoundBrowser | null> {
    finding ??= lookAgain();
    return finding;
  }

  async function lookAgain(): Promise<FoundBrowser | null> {
    const browser = await look({ executable: settings.browserPath ?? null, env: searchEnvironment() });
    refusal = browser === null ? null : await refusalFor(browser.path);
    know(refusal === null ? browser : null);
    if (refusal !== null) throw refusal;
    return browser;
  }

  function confined(executablePath: string | null): Promise<Confinement> {
    const known = confining.get(executablePath) ?? confineBrowsers(executablePath, settings);
    confining.set(executablePath, known);
    return known;
  }

  /** Tells what the confinement lacks, once for each browser. */
  async function refusalFor(executablePath: string): Promise<ScrapifieError | null> {
    const isNew = !confining.has(executablePath);
    const confinement = await confined(executablePath);
    const { user, isSandboxed, prefix, weaknesses } = confinement;
    if (isNew) {
      for (const { what, remedy } of weaknesses)
        logger.warn({ weakness: what, remedy }, 'browsers are not confined as they should be');
      const isApart = prefix.length > 0;
      logger.info({ user: user?.name ?? null, isSandboxed, isApart }, 'browsers are confined');
    }
    return settings.unconfinedBrowsers ? null : refusalOf(confinement);
  }

  /** The browser is not where it was. One that the settings name and that does not run is none. */
  async function relocate(): Promise<string | null> {
    const browser = await lookAgain().catch(() => null);
    know(browser);
    finding = browser === null ? null : Promise.resolve(browser);
    return browser?.path ?? null;
  }

  function open(): RenderLanes {
    lanes ??= openRenderLanes({
      settings,
      limits,
      logger,
      async executablePath() {
        const browser = await find();
        if (browser !== null) logger.info({ path: browser.path, version: browser.version }, 'browser found');
        hasOwn = browser !== null;
        return browser?.path ?? null;
      },
      confine: confined,
      relocate,
      onLaunched(version, path) {
        if (path !== null) know({ path, version, from: found?.from ?? 'path' });
      },
      onHealth: tell,
    });
    return lanes;
  }

  async function healthOfEngine(name: RenderName): Promise<BrowserHealth> {
    const health = lanes?.health(name) ?? HEALTHY;
    if (health.state !== 'ok' || !isOwn(name)) return health;
    try {
      if ((await find()) === null) {
        // The browser may be installed later, so the next call looks again.
        finding = null;
        return { state: 'failing', code: 'NO_BROWSER', reason: NOT_FOUND };
      }
    } catch (error) {
      finding = null;
      if (!isScrapifieError(error)) throw error;
      return { state: 'failing', code: error.code, reason: error.message };
    }
    if (found === null || (await isExecutable(found.path))) return health;
    const reason = `the program ${found.path} was removed`;
    // Browsers that run go on without their program, until the next one is to be started.
    const state = (lanes?.figures()?.browsers ?? 0) > 0 ? 'degraded' : 'failing';
    return { state, code: 'NO_BROWSER', reason };
  }

  async function requireBrowser(name: RenderName): Promise<void> {
    if (name === 'stealth' && settings.remoteBrowserUrl !== undefined) {
      remoteAddressOf(settings.remoteBrowserUrl);
      return;
    }
    if ((await find()) !== null) return;
    throw new ScrapifieError('NO_BROWSER', NOT_FOUND);
  }

  const engineOf = (name: RenderName): Engine => ({
    name,
    async fetch(request) {
      // Once it was there, the pool knows what to do when it is gone.
      if (!hasOwn || !isOwn(name)) await requireBrowser(name);
      if (isClosed) throw new ScrapifieError('SHUTTING_DOWN', 'The browsers are being closed');
      return renders.count(name, () => open().fetch(name, request));
    },
    close: async () => undefined,
  });
  const engines: Readonly<Record<RenderName, Engine>> = {
    browser: engineOf('browser'),
    stealth: engineOf('stealth'),
  };

  return {
    find,
    get found() {
      return found;
    },
    get refusal() {
      return refusal;
    },
    health: healthOfEngine,
    figures: () => lanes?.figures() ?? null,
    solverFigures: () => lanes?.solverFigures() ?? [],
    renders,
    onChange: (listener) => listeners.push(listener),
    pagesAtOnce: limits.pagesAtOnce,
    require: requireBrowser,
    engine: (name) => engines[name],
    async warm() {
      if (settings.browserWarm > 0 && (await find()) !== null) await open().warm();
    },
    get processIds() {
      return lanes?.pids ?? [];
    },
    async close() {
      isClosed = true;
      await lanes?.close();
    },
  };
}

type PoolNumbers = Pick<
  Settings,
  | 'browserPages'
  | 'browserPagesEach'
  | 'browserRecyclePages'
  | 'browserWarm'
  | 'browserMaxBytes'
  | 'rendererMaxBytes'
>;

/** 0: what the machine can carry. */
export function limitsFor(settings: PoolNumbers): LaneLimits {
  const machine = thisMachine();
  const possible = renderLimitsFor(machine);
  const kept = { pagesPerBrowser: settings.browserRecyclePages, minBrowsers: settings.browserWarm };
  const pagesAtOnce = settings.browserPages === 0 ? possible.pagesAtOnce : settings.browserPages;
  const most = settings.browserPagesEach === 0 ? MOST_PAGES_EACH : settings.browserPagesEach;
  const pagesEach = Math.min(pagesAtOnce, most);
  const isPossible = settings.browserPages === 0 && settings.browserPagesEach === 0;
  const maxBrowsers = isPossible ? possible.maxBrowsers : Math.ceil(pagesAtOnce / pagesEach) + 1;
  const { browserMaxBytes, rendererMaxBytes } = settings;
  const mostBytes = browserMaxBytes === 0 ? mostBytesFor(machine.memoryBytes, pagesEach) : browserMaxBytes;
  return {
    ...withMemoryLimits(possible, mostBytes, rendererMaxBytes),
    ...kept,
    pagesAtOnce,
    pagesEach,
    maxBrowsers: Math.max(maxBrowsers, kept.minBrowsers),
  };
}

/** One page that browsers of this process were asked to show, when that is over. */
type RenderListener = (name: RenderName, isShown: boolean, ms: number) => void;

interface AskedRender {
  readonly name: RenderName;
  /** When the render was requested, in monotonic milliseconds. */
  readonly askedAt: number;
}

/** Counts the renders of a process. */
export class RenderTally {
  readonly #slots: number;
  /** In the order in which they were asked for; owned by the attempts that wait for them. */
  readonly #asked = new Set<AskedRender>();
  /** Bounded by the parts of the process. */
  readonly #listeners: RenderListener[] = [];

  /** `slots`: pages that are shown at once. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  onRendered(listener: RenderListener): void {
    this.#listeners.push(listener);
  }

  async count<T>(name: RenderName, render: () => Promise<T>): Promise<T> {
    const asked: AskedRender = { name, askedAt: performance.now() };
    this.#asked.add(asked);
    let isShown = false;
    try {
      const shown = await render();
      isShown = true;
      return shown;
    } finally {
      this.#asked.delete(asked);
      for (const listener of this.#listeners) listener(name, isShown, performance.now() - asked.askedAt);
    }
  }

  /** Renders of this name that wait for a free page; the browsers take them in the order in which they were asked for. */
  waiting(name: RenderName): { readonly waiting: number; readonly oldestMs: number } {
    const waiting = [...this.#asked].slice(this.#slots).filter((asked) => asked.name === name);
    const [oldest] = waiting;
    return {
      waiting: waiting.length,
      oldestMs: oldest === undefined ? 0 : performance.now() - oldest.askedAt,
    };
  }
}
