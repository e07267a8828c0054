import { searchEnvironment } from '../config/search-environment.ts';
import type { Settings } from '../config/settings.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { type FoundBrowser, findBrowser, isExecutable } from '../fetch/browser/find-browser.ts';
import { type RenderLimits, renderLimitsFor, thisMachine } from '../fetch/browser/memory-budget.ts';
import { type BrowserHealth, HEALTHY, type PoolEvent } from '../fetch/browser/pool-health.ts';
import { remoteAddressOf } from '../fetch/browser/remote-address.ts';
import type { Engine } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import type { Logger } from '../observe/logger.ts';
import type { BrowserFigures } from '../observe/metrics.ts';
import type { RenderEngines } from './render-engines.ts';

/** What shows pages in this process. Nothing is looked for, loaded or launched before it is needed. */
export interface Browsers {
  /**
   * The browser of this machine, or null. It is looked for at the first question, and again when it is gone. Throws
   * INVALID_SETTINGS when the settings name one that does not run.
   */
  find(): Promise<FoundBrowser | null>;
  /** What is known without looking: the browser that was launched last, or else found; null when there is none. */
  readonly found: FoundBrowser | null;
  /** Whether pages can be shown by this engine, as far as can be told without showing one. */
  health(name: RenderName): Promise<BrowserHealth>;
  /** Null while nothing runs. */
  figures(): BrowserFigures | null;
  /** Hears when `found` or `health` may have changed. */
  onChange(listener: () => void): void;
  /** How many pages can be shown at once. */
  readonly pagesAtOnce: number;
  /** Throws, with what to do, when pages cannot be shown by this engine. */
  require(name: RenderName): Promise<void>;
  /** `fetch` of it ends with NO_BROWSER where there is none. It is closed with all of them. */
  engine(name: RenderName): Engine;
  close(): Promise<void>;
}

const MOST_PAGES_EACH = 8;
const EVENTS: Readonly<Record<Exclude<PoolEvent['kind'], 'launched'>, string>> = {
  'launch failed': 'browser launch failed',
  replaced: 'browser replaced',
  'program removed': 'browser program removed',
};

export function openBrowsers(settings: Settings, logger: Logger, look = findBrowser): Browsers {
  const limits = limitsFor(settings.browserPages);
  let finding: Promise<FoundBrowser | null> | null = null;
  let loading: Promise<RenderEngines> | null = null;
  let loaded: RenderEngines | null = null;
  let isClosed = false;
  let found: FoundBrowser | null = null;
  /** The engines were made with a browser of this machine. */
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
    know(browser);
    return browser;
  }

  /** The browser is not where it was. One that the settings name and that does not run is none. */
  async function relocate(): Promise<string | null> {
    const browser = await lookAgain().catch(() => null);
    know(browser);
    finding = browser === null ? null : Promise.resolve(browser);
    return browser?.path ?? null;
  }

  const onEvent = ({ kind, reason }: PoolEvent) => {
    if (kind === 'launched') logger.info({ version: reason }, 'browser launched');
    else logger.warn({ reason }, EVENTS[kind]);
  };

  async function load(): Promise<RenderEngines> {
    const browser = await find();
    if (browser !== null)
      logger.info({ path: browser.path, version: browser.version }, 'pages are rendered with');
    const { createRenderEngines } = await import('./render-engines.ts');
    loaded = createRenderEngines({
      settings,
      executablePath: browser?.path ?? null,
      limits,
      events: {
        relocate,
        onLaunched(version, path) {
          if (path !== null) know({ path, version, from: found?.from ?? 'path' });
        },
        onHealth: tell,
        onEvent,
      },
    });
    hasOwn = browser !== null;
    return loaded;
  }

  async function healthOfEngine(name: RenderName): Promise<BrowserHealth> {
    const health = loaded?.health(name) ?? HEALTHY;
    if (health.state !== 'ok' || !isOwn(name) || found === null || (await isExecutable(found.path)))
      return health;
    const reason = `the program ${found.path} was removed`;
    // Browsers that run go on without their program, until the next one is to be started.
    const state = (loaded?.figures()?.browsers ?? 0) > 0 ? 'degraded' : 'failing';
    return { state, code: 'NO_BROWSER', reason };
  }

  async function requireBrowser(name: RenderName): Promise<void> {
    if (name === 'stealth' && settings.remoteBrowserUrl !== undefined) {
      remoteAddressOf(settings.remoteBrowserUrl);
      return;
    }
    if ((await find()) !== null) return;
    throw new ScrapifieError(
      'NO_BROWSER',
      'No Chromium, Chrome or Edge was found on this machine. `scrapifie doctor --install` installs one; or name one in SCRAPIFIE_BROWSER_PATH.',
    );
  }

  const engineOf = (name: RenderName): Engine => ({
    name,
    async fetch(request) {
      // Once it was there, the pool knows what to do when it is gone.
      if (!hasOwn || !isOwn(name)) await requireBrowser(name);
      if (isClosed) throw new ScrapifieError('SHUTTING_DOWN', 'The browsers are being closed');
      loading ??= load();
      return (await loading).engine(name).fetch(request);
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
    health: healthOfEngine,
    figures: () => loaded?.figures() ?? null,
    onChange: (listener) => listeners.push(listener),
    pagesAtOnce: limits.pagesAtOnce,
    require: requireBrowser,
    engine: (name) => engines[name],
    async close() {
      isClosed = true;
      const engines = await loading?.catch(() => null);
      await engines?.close();
    },
  };
}

/** 0: what the machine can carry. */
function limitsFor(pages: number): RenderLimits {
  const possible = renderLimitsFor(thisMachine());
  if (pages === 0) return possible;
  const pagesEach = Math.min(pages, MOST_PAGES_EACH);
  return { ...possible, pagesAtOnce: pages, pagesEach, maxBrowsers: Math.ceil(pages / pagesEach) + 1 };
}
