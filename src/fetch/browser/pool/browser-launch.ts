import { type Browser, chromium } from 'patchright-core';
import { isScrapifieError, ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { defined } from '../../../lib/defined.ts';
import { settlesWithin } from '../../deadline.ts';
import { browserUnavailable, plainMessage } from '../../render-errors.ts';
import { patchBrowser } from '../patchright/patchright-patches.ts';
import { isExecutable, markProgram, type ProgramMark } from './find-browser.ts';
import { type PoolSettings, type RemoteAddress, withoutAddresses } from './pool-options.ts';

type LaunchOptions = Pick<
  PoolSettings,
  | 'source'
  | 'proxy'
  | 'rendererLimit'
  | 'isSandboxed'
  | 'isolation'
  | 'launchTimeoutMs'
  | 'extraFlags'
  | 'env'
  | 'library'
  | 'relocate'
>;

interface LaunchedBrowser {
  readonly browser: Browser;
  /** The main process; null for a browser that this process did not start. */
  readonly pid: number | null;
  readonly networkPid: number | null;
  /** The program it was started from; null for a browser that this process did not start. */
  readonly program: ProgramMark | null;
  readonly path: string | null;
}

export interface PatchedBrowser extends LaunchedBrowser {
  /** The driver's internals are in this process, so its patches apply. */
  readonly hasInternals: boolean;
  /** Internals that the patches need and the driver does not have. */
  readonly missingInternals: readonly string[];
}

/** Chromium heeds only the last such list, so what Playwright turns off is here as well. */
const ISOLATION_FEATURES = ['IsolateOrigins', 'site-per-process'];
const FEATURES_OFF = [
  // The back/forward cache and prerendering: memory, and requests that no page made.
  'BackForwardCache',
  'Prerender2',
  // The address bar asks its search engine what it may offer, whenever a context is opened.
  'AimEnabled',
  'AimServerEligibilityEnabled',
  'AimServerEligibilityForPrimaryAccountEnabled',
  'AimServerRequestOnStartupEnabled',
  'AimServerRequestOnIdentityChangeEnabled',
  'AimStartupRequestDelayedUntilNetworkAvailableEnabled',
  // And it opens connections to that search engine in advance.
  'PreconnectToSearch',
  'PreconnectFromKeyedService',
  'SearchEnginePreconnect2',
  'SearchEnginePreconnectInterval',
  // A request for http means http.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  // What interception and a browser without a screen stumble over.
  'BlockOriginHeaderModificationOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  // A picture format that few servers know, and that the Accept header would name.
  'JXLImageFormat',
  // What a person at the screen would want.
  'AutoDeElevate',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'Translate',
  // Pages of the address bar, in a process of their own beside every window.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'msForceBrowserSignIn',
];

/** Starts a Chromium. One that does not come up in time is ended, and the error says what it said. */
async function launchBrowser(executablePath: string, options: LaunchOptions): Promise<LaunchedBrowser> {
  const { launchTimeoutMs: timeoutMs, library = chromium, env } = options;
  const browser = await library.launch({
    executablePath,
    headless: true,
    chromiumSandbox: options.isSandboxed,
    timeout: timeoutMs,
    args: chromiumFlags({
      proxyUrl: options.proxy.url,
      rendererLimit: options.rendererLimit,
      isolation: options.isolation,
      extra: options.extraFlags,
    }),
    // Our own shutdown closes browsers in order; theirs would race with it.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    ...defined({ env }),
  });
  try {
    const asking = processesOf(browser);
    if (!(await settlesWithin(asking, timeoutMs))) throw new Error('the browser does not answer');
    const { mainPid: pid, networkPid } = await asking;
    if (pid === null) throw new Error('the browser does not name its process');
    const program = await markProgram(executablePath, pid);
    return { browser, pid, networkPid, program, path: executablePath };
  } catch (error) {
    await settlesWithin(browser.close(), timeoutMs);
    throw error;
  }
}

/** Connects to a browser that runs. A Playwright server gives each connection a browser, or its part of one. */
async function connectBrowser(
  { url, kind }: RemoteAddress,
  { launchTimeoutMs: timeout, library = chromium }: LaunchOptions,
): Promise<LaunchedBrowser> {
  const browser =
    kind === 'cdp' ? await library.connectOverCDP(url, { timeout }) : await library.connect(url, { timeout });
  return { browser, pid: null, networkPid: null, program: null, path: null };
}

/** Returns null for a process that does not run, or not under the name that is known. */
export async function processesOf(
  browser: Browser,
): Promise<{ readonly mainPid: number | null; readonly networkPid: number | null }> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const pidOf = (name: string) => processInfo.find(({ type }) => type === name)?.id ?? null;
  return { mainPid: pidOf('browser'), networkPid: pidOf('network.mojom.NetworkService') };
}

const FIRST_BACKOFF_MS = 500;
const LAST_BACKOFF_MS = 30_000;
/** To see whether a program is there costs next to nothing. */
const LAST_LOOK_MS = 2_000;

/** Starts browsers, or connects to them. After each failure in a row the pause that it asks for doubles. */
class BrowserStarter {
  readonly #options: LaunchOptions & Pick<PoolSettings, 'random'>;
  #failures = 0;
  /** Where the program was last found. */
  #path: string | null = null;

  constructor(options: LaunchOptions & Pick<PoolSettings, 'random'>) {
    this.#options = options;
  }

  /** `retryAfterMs` of the error says how long to leave it alone. */
  async start(): Promise<PatchedBrowser> {
    const { source } = this.#options;
    try {
      const launched =
        typeof source === 'string'
          ? await launchBrowser(await this.#locate(source), this.#options)
          : await connectBrowser(source, this.#options);
      // The internals of a Playwright server are in another process.
      const hasInternals = typeof source === 'string' || source.kind !== 'playwright';
      const missing = hasInternals ? patchBrowser(launched.browser, typeof source === 'string') : [];
      return { ...launched, hasInternals, missingInternals: missing };
    } catch (error) {
      const isMissing = isScrapifieError(error) && error.code === 'NO_BROWSER';
      const backoffMs = this.#backoffMs(isMissing ? LAST_LOOK_MS : LAST_BACKOFF_MS);
      if (isMissing) throw new ScrapifieError('NO_BROWSER', error.message, { retryAfterMs: backoffMs });
      if (typeof source === 'string') {
        const why = `it does not start (${plainMessage(error)})`;
        throw new ScrapifieError('BROWSER_UNAVAILABLE', why, { cause: error, retryAfterMs: backoffMs });
      }
      // Without the cause, which has the whole address in it.
      const why = `the one at ${source.shown} cannot be reached (${reasonOf(error)})`;
      throw new ScrapifieError('BROWSER_UNAVAILABLE', why, { retryAfterMs: backoffMs });
    }
  }

  /** A browser has opened a page, so the next failure is the first one again. */
  noteWorking(): void {
    this.#failures = 0;
  }

  /** The error for a browser that started, or accepted the connection, and ended before it opened a page. */
  endedUnused(): ScrapifieError {
    const { source } = this.#options;
    const which = typeof source === 'string' ? 'it' : `the one at ${source.shown}`;
    const retryAfterMs = this.#backoffMs(LAST_BACKOFF_MS);
    return new ScrapifieError('BROWSER_UNAVAILABLE', `${which} ended before it opened a page`, {
      retryAfterMs,
    });
  }

  /** The pause after one more failure in a row. */
  #backoffMs(longestMs: number): number {
    const backoffMs = Math.min(longestMs, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    return backoffMs * (0.5 + this.#options.random() / 2);
  }

  /** The program to start, looked for anew when it is not where it was. Throws NO_BROWSER when there is none. */
  async #locate(source: string): Promise<string> {
    const known = this.#path ?? source;
    if (await isExecutable(known)) return known;
    const found = (await this.#options.relocate?.()) ?? null;
    this.#path = found;
    if (found !== null && (await isExecutable(found))) return found;
    throw new ScrapifieError(
      'NO_BROWSER',
      `The browser at ${known} is not there any more, and there is no other one; \`scrapifie doctor --install\` installs one, or name one in SCRAPIFIE_BROWSER_PATH`,
    );
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const theirs = /server version: v([\d.]+)/.exec(text)?.[1];
  const ours = /client version: v([\d.]+)/.exec(text)?.[1];
  if (theirs !== undefined && ours !== undefined) {
    return `it runs Playwright ${theirs}; only ${ours} will do`;
  }
  return withoutAddresses(plainMessage(error)).replace(/^WebSocket error: /, '');
}

/** `site`: each site that a page is made of has a process of its own. `none`: those of one page share one. */
export type BrowserIsolation = 'site' | 'none';

interface FlagOptions {
  /** Where all traffic goes, as `http://127.0.0.1:port`. */
  readonly proxyUrl: string;
  readonly rendererLimit: number;
  readonly isolation: BrowserIsolation;
  readonly extra?: readonly string[] | undefined;
}

/**
 * How our Chromium is started, besides what Playwright adds. Three aims: nothing goes around the guard's proxy, nothing
 * goes out that no page asked for, and few processes serve many pages.
 */
function chromiumFlags({ proxyUrl, rendererLimit, isolation, extra = [] }: FlagOptions): string[] {
  const featuresOff = isolation === 'none' ? [...ISOLATION_FEATURES, ...FEATURES_OFF] : FEATURES_OFF;
  return [
    // Traffic of no context has no credentials and gets nowhere; loopback is no exception.
    `--proxy-server=${proxyUrl}`,
    '--proxy-bypass-list=<-loopback>',
    // Names are the proxy's business: Chromium itself resolves nothing.
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    // UDP would go around the proxy.
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',

    '--disable-background-networking',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-sync',
    '--no-first-run',
    '--no-pings',

    // Contexts never share a renderer. Within one, which belongs to one key, the sites of a page share it unless
    // they are isolated.
    `--renderer-process-limit=${rendererLimit}`,
    isolation === 'none' ? '--disable-site-isolation-trials' : '--site-per-process',
    `--disable-features=${featuresOff.join(',')}`,
    ...extra,
  ];
}

interface LaunchControlOptions {
  readonly settings: PoolSettings;
  readonly onLaunched: (launched: PatchedBrowser) => Promise<void> | undefined;
  /** After each launch, however it ended, and when one may be made again. */
  readonly onChange: () => void;
}

/** Launches browsers for a pool, one failure after another with longer pauses, and remembers why it fails. */
export class LaunchControl {
  underWay = 0;
  launched = 0;
  failed = 0;
  /** Why the last launch failed; null once one succeeded. */
  failure: ScrapifieError | null = null;
  readonly #options: LaunchControlOptions;
  readonly #starter: BrowserStarter;
  #pausedUntil = 0;
  /** Since when launches fail for want of a browser. */
  #missingSince: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** So that closing leaves none behind. */
  readonly #starting = new Set<Promise<void>>();

  constructor(options: LaunchControlOptions) {
    this.#options = options;
    this.#starter = new BrowserStarter(options.settings);
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /**
   * What requests end with while no browser can be launched; null while they should wait. A program that is just being
   * replaced is gone for a moment, so the first seconds without one are waited out.
   */
  get refusal(): ScrapifieError | null {
    const { failure } = this;
    if (failure === null) return null;
    if (failure.code !== 'NO_BROWSER') {
      return browserUnavailable(
        failure.message,
        undefined,
        Math.max(0, this.#pausedUntil - performance.now()),
      );
    }
    const missingMs = performance.now() - (this.#missingSince ?? 0);
    return missingMs < this.#options.settings.missingGraceMs ? null : failure;
  }

  launch(): void {
    this.underWay += 1;
    const { onLaunched, onChange } = this.#options;
    const starting: Promise<void> = this.#starter
      .start()
      .then(
        (launched) => {
          this.launched += 1;
          this.failure = null;
          this.#missingSince = null;
          return onLaunched(launched);
        },
        (error: unknown) => this.#fail(error),
      )
      .finally(() => {
        this.underWay -= 1;
        this.#starting.delete(starting);
        onChange();
      });
    this.#starting.add(starting);
  }

  /** A browser has opened a page. */
  noteWorking(): void {
    this.#starter.noteWorking();
  }

  /** A launched browser has ended before it opened a page: that launch failed after all. */
  noteEndedUnused(): void {
    this.#fail(this.#starter.endedUnused());
  }

  /** Resolves when no launch is under way, and makes no more wake-ups. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#starting);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #fail(error: unknown): void {
    this.failed += 1;
    const known = isScrapifieError(error) ? error : browserUnavailable('it does not start', error);
    this.failure = known;
    this.#missingSince = known.code === 'NO_BROWSER' ? (this.#missingSince ?? performance.now()) : null;
    const pauseMs = known.retryAfterMs ?? 0;
    this.#pausedUntil = performance.now() + pauseMs;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#options.onChange, Math.ceil(pauseMs) + 1);
    this.#timer.unref();
  }
}
