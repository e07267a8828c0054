import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../core/config/search-environment.ts';
import { secretPlaces } from '../core/config/secrets.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { BrowserFigures } from '../core/observe/metrics/sources.ts';
import type { SolverFigures } from '../core/ports/captcha.ts';
import type { RenderLimits } from '../fetch/browser/pool/memory-watch.ts';
import type { BrowserHealth, PoolEvent } from '../fetch/browser/pool/pool-health.ts';
import type { BrowserPoolOptions } from '../fetch/browser/pool/pool-options.ts';
import { createAntiCaptcha } from '../fetch/captcha/anti-captcha.ts';
import { type CaptchaService, createCaptchaService } from '../fetch/captcha/captcha-solvers.ts';
import { createTwoCaptcha } from '../fetch/captcha/two-captcha.ts';
import type { Engine, FetchRequest, FetchResponse } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import {
  type Confinement,
  confine,
  isRoot,
  makeHome,
  type Weakness,
} from '../fetch/render-process/confinement.ts';
import type { AskMessage, EventMessage } from '../fetch/render-process/process-messages.ts';
import { RenderLane } from '../fetch/render-process/render-lane.ts';
import type { ProcessLimits } from '../fetch/render-process/render-process.ts';
import { siteOwnerContact } from '../fetch/user-agent.ts';
import { limitConcurrency } from '../fetch/wrapped-engines.ts';
import { siblingModule } from '../lib/threads/thread.ts';

export type LaneLimits = RenderLimits & Pick<BrowserPoolOptions, 'pagesPerBrowser' | 'minBrowsers'>;

export interface RenderLanesOptions {
  readonly settings: Settings;
  readonly limits: LaneLimits;
  readonly logger: Logger;
  /** Path of the browser to start; null when none is installed. */
  readonly executablePath: () => Promise<string | null>;
  /** How processes are confined that drive this browser; null where none is started here. */
  readonly confine: (executablePath: string | null) => Promise<Confinement>;
  readonly relocate: () => Promise<string | null>;
  readonly onLaunched: (version: string, path: string | null) => void;
  readonly onHealth: () => void;
  readonly processLimits?: Partial<ProcessLimits> | undefined;
}

/**
 * The processes that drive browsers: one for all pages, and one for pages that were under way when a browser or its
 * process was lost. Those are shown there one at a time, so that the page that is at fault is found and costs no other.
 */
export interface RenderLanes {
  fetch(name: RenderName, request: FetchRequest): Promise<FetchResponse>;
  health(name: RenderName): BrowserHealth;
  figures(): BrowserFigures | null;
  solverFigures(): readonly SolverFigures[];
  /** Starts the process for all pages, with the browsers that it keeps. */
  warm(): Promise<void>;
  /** Process ids of the render processes that run. */
  readonly pids: readonly number[];
  close(): Promise<void>;
}

const ENTRY = fileURLToPath(siblingModule('./render-child.ts', import.meta.url));
/** Holds the sources or compiled files, and the packages that they import. */
const PROGRAM_FOLDER = fileURLToPath(new URL('../..', import.meta.url));
const ALONE = { maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1, minBrowsers: 0 };
const ALONE_IDLE_MS = 30_000;
const EVENTS: Readonly<Record<Exclude<PoolEvent['kind'], 'launched'>, string>> = {
  'launch failed': 'browser launch failed',
  replaced: 'browser replaced',
  'program removed': 'browser program removed',
  'driver unpatched': 'browser driver used unpatched',
};

export function openRenderLanes(options: RenderLanesOptions): RenderLanes {
  const { settings, limits, logger } = options;
  const { allowPrivate, remoteBrowserUrl, browserIsolation, maxRenderBytes } = settings;
  const contact = siteOwnerContact(settings) ?? undefined;
  const solver = openSolver(settings);

  let weaknesses: readonly Weakness[] = [];

  async function onAsk(ask: AskMessage, signal: AbortSignal): Promise<unknown> {
    switch (ask.what) {
      case 'relocate':
        return options.relocate();
      case 'solve':
        return solver.solve(ask.captcha, signal);
      case 'report bad':
        return solver.reportBad(ask.solution);
    }
  }

  function onEvent(event: EventMessage): void {
    if (event.what === 'browser launched') options.onLaunched(event.version, event.path);
    else if (event.what === 'log')
      logger[event.level === 'error' || event.level === 'fatal' ? 'error' : 'warn'](
        { reason: event.reason },
        `render process: ${event.message}`,
      );
    else if (event.kind === 'launched') logger.info({ version: event.reason }, 'browser launched');
    else logger.warn({ reason: event.reason }, EVENTS[event.kind]);
  }

  const laneFor = (kind: 'shared' | 'alone') =>
    new RenderLane({
      limits: options.processLimits,
      idleMs: kind === 'alone' ? ALONE_IDLE_MS : null,
      async prepare() {
        const executablePath = await options.executablePath();
        const confinement = await options.confine(executablePath);
        const { user, isSandboxed, prefix } = confinement;
        weaknesses = confinement.weaknesses;
        const home = await makeHome(user);
        return {
          launch: {
            entry: ENTRY,
            home,
            env: renderEnvironment(home, user !== null),
            prefix,
            ...(user === null ? {} : { user }),
          },
          start: {
            settings: { allowPrivate, contact, remoteBrowserUrl, browserIsolation, maxRenderBytes },
            executablePath,
            limits: kind === 'alone' ? { ...limits, ...ALONE } : limits,
            hasSolver: solver.isSetUp,
            isSandboxed,
            home,
          },
        };
      },
      onEvent,
      onAsk,
      onHealth: options.onHealth,
      onStarted: (pid) => logger.info({ pid, pages: kind }, 'render process started'),
      onEnded({ reason, isExpected, underWay }) {
        if (isExpected) logger.debug({ pages: kind }, 'render process closed');
        else logger.warn({ reason, pages: kind, pagesUnderWay: underWay }, 'render process lost');
      },
    });
  const lanes = { shared: laneFor('shared'), alone: laneFor('alone') };
  /** The process for pages alone shows one at a time; the wait for it is not the attempt's. */
  const alone = limitConcurrency(
    { browser: engineOf(lanes.alone, 'browser'), stealth: engineOf(lanes.alone, 'stealth') },
    1,
    settings.browserWaitMs,
  );

  return {
    fetch: (name, request) =>
      request.runsAlone === true ? alone[name].fetch(request) : lanes.shared.fetch(name, request),
    health: (name) => ({
      ...lanes.shared.health(name),
      ...(weaknesses.length === 0
        ? {}
        : { note: 'Browsers are not confined as they should be; the log says why.' }),
    }),
    figures() {
      const all = [lanes.shared.figures(), lanes.alone.figures()].filter((figures) => figures !== null);
      return all.length === 0 ? null : all.reduce(added);
    },
    solverFigures: () => solver.figures(),
    warm: () => lanes.shared.warm(),
    get pids() {
      return [lanes.shared.pid, lanes.alone.pid].filter((pid) => pid !== null);
    },
    async close() {
      await Promise.all([lanes.shared.close(), lanes.alone.close()]);
      await solver.close();
    },
  };
}

/** When null, no browser is started here. */
export function confineBrowsers(executablePath: string | null, settings: Settings): Promise<Confinement> {
  return confine({
    isRoot: isRoot(),
    executablePath,
    env: childEnvironment(),
    secretPlaces: secretPlaces(settings),
    programFolder: PROGRAM_FOLDER,
  });
}

/** What belongs to the server's own user is of no use to another. */
function renderEnvironment(home: string, isOtherUser: boolean): Record<string, string> {
  const { HOME, USER, LOGNAME, XAUTHORITY, ...env } = childEnvironment();
  if (!isOtherUser) return { ...childEnvironment(), TMPDIR: home };
  const others = Object.entries(env).filter(([name]) => !/^(?:XDG|DBUS)_/.test(name));
  return { ...Object.fromEntries(others), HOME: home, TMPDIR: home };
}

function engineOf(lane: RenderLane, name: RenderName): Engine {
  return { name, fetch: (request) => lane.fetch(name, request), close: () => lane.close() };
}

function added(one: BrowserFigures, other: BrowserFigures): BrowserFigures {
  const names = new Set([...Object.keys(one.replaced), ...Object.keys(other.replaced)]);
  return {
    browsers: one.browsers + other.browsers,
    pagesOpen: one.pagesOpen + other.pagesOpen,
    pagesInUse: one.pagesInUse + other.pagesInUse,
    launched: one.launched + other.launched,
    launchesFailed: one.launchesFailed + other.launchesFailed,
    replaced: Object.fromEntries(
      [...names].map((name) => [name, (one.replaced[name] ?? 0) + (other.replaced[name] ?? 0)]),
    ),
  };
}

/** The services that the settings name. Their keys stay in this process: render processes ask it for solutions. */
function openSolver(settings: Settings): CaptchaService {
  const { captchaKey, captchaUrl, antiCaptchaKey, antiCaptchaUrl } = settings;
  return createCaptchaService({
    primary: captchaKey === undefined ? null : createTwoCaptcha({ key: captchaKey, url: captchaUrl }),
    fallback:
      antiCaptchaKey === undefined ? null : createAntiCaptcha({ key: antiCaptchaKey, url: antiCaptchaUrl }),
  });
}
