import { searchEnvironment } from '../config/search-environment.ts';
import type { Settings } from '../config/settings.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { type FoundBrowser, findBrowser } from '../fetch/browser/find-browser.ts';
import { type RenderLimits, renderLimitsFor, thisMachine } from '../fetch/browser/memory-budget.ts';
import { remoteAddressOf } from '../fetch/browser/remote-address.ts';
import type { Engine } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import type { Logger } from '../observe/logger.ts';
import type { RenderEngines } from './render-engines.ts';

/** What shows pages in this process. Nothing is looked for, loaded or launched before it is needed. */
export interface Browsers {
  /**
   * The browser of this machine, or null. It is looked for once, at the first question. Throws INVALID_SETTINGS when
   * the settings name one that does not run.
   */
  find(): Promise<FoundBrowser | null>;
  /** How many pages can be shown at once. */
  readonly pagesAtOnce: number;
  /** Throws, with what to do, when pages cannot be shown by this engine. */
  require(name: RenderName): Promise<void>;
  /** `fetch` of it ends with NO_BROWSER where there is none. It is closed with all of them. */
  engine(name: RenderName): Engine;
  close(): Promise<void>;
}

const MOST_PAGES_EACH = 8;

export function openBrowsers(settings: Settings, logger: Logger, look = findBrowser): Browsers {
  const limits = limitsFor(settings.browserPages);
  let finding: Promise<FoundBrowser | null> | null = null;
  let loading: Promise<RenderEngines> | null = null;
  let isClosed = false;

  function find(): Promise<FoundBrowser | null> {
    finding ??= look({ executable: settings.browserPath ?? null, env: searchEnvironment() });
    return finding;
  }

  async function load(): Promise<RenderEngines> {
    const found = await find();
    if (found !== null) logger.info({ path: found.path, version: found.version }, 'pages are rendered with');
    const { createRenderEngines } = await import('./render-engines.ts');
    return createRenderEngines({ settings, executablePath: found?.path ?? null, limits });
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
      await requireBrowser(name);
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
    pagesAtOnce: limits.pagesAtOnce,
    require: requireBrowser,
    engine: (name) => engines[name],
    async close() {
      isClosed = true;
      const loaded = await loading?.catch(() => null);
      await loaded?.close();
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
