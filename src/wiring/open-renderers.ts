import { createCallSeal } from '../capabilities/sessions/vault.ts';
import type { Settings } from '../core/config/settings.ts';
import { isScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { RendererAway } from '../crawl/host/process/fetch-resources.ts';
import type { Engine } from '../fetch/engine.ts';
import { createRemoteEngine, type RemoteEngine } from '../fetch/remote/remote-engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { createParcels, sealCalls } from '../fetch/remote/sealed-calls.ts';
import { limitConcurrency } from '../fetch/wrapped-engines.ts';
import { type Browsers, openBrowsers } from './open-browsers.ts';

/** The renderers of this process: browsers of its own, or the render workers of the fleet. */
export interface Renderers {
  /** `missing` also means unknown until `hasDiscovered`. */
  stateOf(name: RenderName): 'answering' | 'silent' | 'missing';
  /** True once a lookup has run; before that, `missing` means unknown. */
  readonly hasDiscovered: boolean;
  /** Changes whenever a state does. */
  readonly revision: number;
  /** Looks for browsers or render workers. It takes a moment the first time, and again when the last lookup is old. */
  discover(): Promise<void>;
  engine(name: RenderName): Engine;
  /** Has the same meaning as `FetchResources.awayOf`. */
  awayOf(name: RenderName): RendererAway | null;
  /** One of these renderers has shown pages, or could have, since this process began. */
  wasSeen(name: RenderName): boolean;
  /**
   * Version of the browser on this machine, as it was launched last; null when pages are rendered elsewhere or not at
   * all.
   */
  readonly browserVersion: string | null;
  /** The browsers of this process; null when it has none. */
  readonly browsers: Browsers | null;
  close(): Promise<void>;
}

export interface RenderersParts {
  readonly settings: Settings;
  readonly queue: Queue;
  readonly blobs: Blobs;
  /** Where bodies that travel between processes lie; null when no other process renders for this one. */
  readonly transit: Blobs | null;
  readonly logger: Logger;
}

export function openRenderers(parts: RenderersParts): Renderers {
  const { settings, transit } = parts;
  const remote = transit === null ? null : remoteRenderers(parts, transit);
  if (remote !== null && settings.role !== 'all') return remote;
  const own = ownRenderers(parts);
  return remote === null ? own : eitherRenderers(own, remote);
}

function ownRenderers({ settings, logger }: RenderersParts): Renderers {
  const browsers = openBrowsers(settings, logger);
  /** A browser could not be started: since when, and until when none is asked for. */
  let away: { readonly since: number; readonly until: number } | null = null;
  const watched = (engine: Engine): Engine => ({
    name: engine.name,
    async fetch(request) {
      try {
        const response = await engine.fetch(request);
        away = null;
        return response;
      } catch (error) {
        if (isScrapifieError(error) && error.code === 'BROWSER_UNAVAILABLE') {
          const now = performance.now();
          away = { since: away?.since ?? now, until: now + (error.retryAfterMs ?? RELAUNCH_MS) };
        }
        throw error;
      }
    },
    close: () => engine.close(),
  });
  const engines: Readonly<Record<RenderName, Engine>> = limitConcurrency(
    { browser: watched(browsers.engine('browser')), stealth: watched(browsers.engine('stealth')) },
    browsers.pagesAtOnce,
    settings.browserWaitMs,
  );
  let looking: Promise<void> | null = null;
  let revision = 0;
  browsers.onChange(() => {
    revision += 1;
  });
  const find = async (): Promise<void> => {
    try {
      await browsers.find();
    } catch (error) {
      if (!isScrapifieError(error)) throw error;
      logger.warn({ err: error }, 'no browser: pages cannot be rendered');
    }
    revision += 1;
  };
  return {
    stateOf(name) {
      const hasRemote = name === 'stealth' && settings.remoteBrowserUrl !== undefined;
      return browsers.found !== null || hasRemote ? 'answering' : 'missing';
    },
    get hasDiscovered() {
      return revision > 0;
    },
    get revision() {
      return revision;
    },
    discover() {
      looking ??= find();
      return looking;
    },
    engine: (name) => engines[name],
    awayOf: () =>
      away === null || performance.now() >= away.until
        ? null
        : { code: 'BROWSER_UNAVAILABLE', forMs: performance.now() - away.since },
    wasSeen: () => browsers.found !== null,
    get browserVersion() {
      return browsers.found?.version ?? null;
    },
    browsers,
    close: () => browsers.close(),
  };
}

const NAMES: readonly RenderName[] = ['browser', 'stealth'];
const LOOK_AGAIN_MS = 3_000;
/** How long no other page asks for a browser of this process that did not start, unless the error says how long. */
const RELAUNCH_MS = 10_000;

function remoteRenderers({ settings, queue, blobs }: RenderersParts, transit: Blobs): Renderers {
  const seal = createCallSeal(settings.vaultKey, settings.vaultOldKeys);
  const calls = sealCalls(queue, seal);
  const parcels = createParcels(transit, seal);
  const startWithinMs = settings.browserWaitMs;
  const engines: Readonly<Record<RenderName, RemoteEngine>> = {
    browser: createRemoteEngine({ name: 'browser', queue: calls, blobs, parcels, startWithinMs }),
    stealth: createRemoteEngine({ name: 'stealth', queue: calls, blobs, parcels, startWithinMs }),
  };
  const workers: Record<RenderName, number> = { browser: 0, stealth: 0 };
  let revision = 0;
  let looking: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const seen = new Set<RenderName>();
  const awaySince = new Map<RenderName, number>();
  const count = async (): Promise<void> => {
    for (const name of NAMES) {
      // A queue that does not answer has no workers for us either.
      const before = workers[name];
      workers[name] = await engines[name].countWorkers().catch(() => 0);
      if (workers[name] > 0 !== before > 0) revision += 1;
      if (workers[name] === 0) awaySince.set(name, awaySince.get(name) ?? performance.now());
      else {
        awaySince.delete(name);
        seen.add(name);
      }
    }
    lookedAt = performance.now();
  };
  return {
    stateOf: (name) => (workers[name] > 0 ? 'answering' : 'silent'),
    // Workers come and go.
    hasDiscovered: false,
    get revision() {
      return revision;
    },
    discover() {
      if (performance.now() - lookedAt < LOOK_AGAIN_MS) return Promise.resolve();
      looking ??= count().finally(() => {
        looking = null;
      });
      return looking;
    },
    engine: (name) => engines[name],
    awayOf(name) {
      const since = awaySince.get(name);
      return since === undefined ? null : { code: 'NO_WORKER', forMs: performance.now() - since };
    },
    wasSeen: (name) => seen.has(name),
    browserVersion: null,
    browsers: null,
    async close() {
      await Promise.all(NAMES.map((name) => engines[name].close()));
    },
  };
}

/** The first where it can, because a page is nearer there. */
function eitherRenderers(own: Renderers, other: Renderers): Renderers {
  const forName = (name: RenderName) => (own.stateOf(name) === 'answering' ? own : other);
  return {
    stateOf: (name) => forName(name).stateOf(name),
    hasDiscovered: false,
    get revision() {
      return own.revision + other.revision;
    },
    async discover() {
      await own.discover();
      if (NAMES.some((name) => forName(name) === other)) await other.discover();
    },
    engine: (name) => forName(name).engine(name),
    awayOf: (name) => forName(name).awayOf(name),
    wasSeen: (name) => own.wasSeen(name) || other.wasSeen(name),
    get browserVersion() {
      return own.browserVersion;
    },
    browsers: own.browsers,
    async close() {
      await Promise.all([own.close(), other.close()]);
    },
  };
}
