import { isScrapifieError, ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import { type Logger, levelOfError } from '../../../core/observe/logger.ts';
import { faultOf } from '../../../fetch/proxy/proxy-failure.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { isOwnFault } from '../../plan/outcome.ts';
import type { RobotsCache } from '../../robots/robots-cache.ts';
import { aloneOf, type HostAccess } from '../access/host-access.ts';
import { chooseRobotsRoute, type ProxyRoute } from '../attempt/plan-attempt.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import { beside, type Quarantine } from '../process/quarantine.ts';
import type { RunningJob } from '../process/running-job.ts';

/** Loads the robots.txt files of a host's origins: from the store, or by a request that the gate admits. */
export interface RobotsLoader {
  readonly isLoading: boolean;
  /**
   * Brings the origin's robots.txt into the cache, unless the gate holds the host. `isSuspected`: a task that waits for
   * the file was under way when a process died, and may have been the request for it.
   */
  load(running: RunningJob, url: URL, isSuspected: boolean): void;
  /** Why no request for the job can leave at the moment; null when one can, or when none was tried. */
  obstacleFor(running: RunningJob): RouteObstacle | null;
}

/** No proxy of this installation can be used for a job on this host. */
export interface RouteObstacle {
  readonly error: ScrapifieError;
  /** When one may be; null: not before the configuration changes. */
  readonly until: number | null;
}

export interface RobotsLoaderParts {
  readonly hostKey: HostKey;
  readonly access: HostAccess;
  readonly resources: FetchResources;
  readonly robots: RobotsCache;
  readonly quarantine: Quarantine;
  readonly now: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Has the same meaning as `HostAccessParts.isOurs`. */
  readonly isOurs: () => boolean;
  /** Nothing is to begin any more. */
  readonly stopped: AbortSignal;
  /** A file was loaded, or loading it failed. */
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** A job for which a proxy failed is checked again after this: the pool may have another. */
const NO_ROUTE_MS = 2_000;
/** Jobs of one host that have no route at the same time. */
const MOST_OBSTACLES = 1_024;

export function createRobotsLoader(parts: RobotsLoaderParts): RobotsLoader {
  const { hostKey, access, resources, robots, quarantine, now, logger, signal, stopped } = parts;
  /** Files under way, by job and origin. */
  const loading = new Set<string>();
  const obstacles = new BoundedMap<RunningJob, RouteObstacle>(MOST_OBSTACLES);

  function obstacleFor(running: RunningJob): RouteObstacle | null {
    const obstacle = obstacles.get(running) ?? null;
    if (obstacle === null || obstacle.until === null || obstacle.until > now()) return obstacle;
    obstacles.delete(running);
    return null;
  }

  function load(running: RunningJob, url: URL, isSuspected: boolean): void {
    const key = `${aloneOf(running) ?? ''} ${url.origin}`;
    if (loading.has(key) || access.check(running, url).kind === 'hold') return;
    loading.add(key);
    loadNow(running, url, isSuspected)
      .catch((error: unknown) => noteFailure(running, url, error))
      .finally(() => {
        loading.delete(key);
        parts.onChange();
      });
  }

  async function loadNow(running: RunningJob, url: URL, isSuspected: boolean): Promise<void> {
    const { robots: known, interruptions } = await robots.lookUp(url.origin, aloneOf(running));
    if (known !== null) return;
    if (interruptions > 0) await requestAlone(running, url, interruptions - 1);
    else await beside(quarantine, () => request(running, url, isSuspected));
  }

  async function requestAlone(running: RunningJob, url: URL, deaths: number): Promise<void> {
    const turn = await quarantine.turn(deaths, stopped);
    if (turn === null) return;
    const facts = { host: hostKey, origin: url.origin, deaths: deaths + 1 };
    logger.warn(facts, 'robots.txt is requested with nothing else under way');
    try {
      await request(running, url, true);
    } finally {
      turn.end();
    }
  }

  async function request(running: RunningJob, url: URL, isRecorded: boolean): Promise<void> {
    if (!(await access.admitRobots(running, url))) return;
    try {
      const decision = chooseRobotsRoute(running, access.policy(), hostKey, resources, now);
      if (decision.kind === 'wait') {
        const error = new ScrapifieError('NO_HEALTHY_PROXY', decision.reason);
        obstacles.set(running, { error, until: decision.until });
      } else await requestBy(decision.route, running, url, isRecorded);
    } finally {
      access.releaseRobots(running);
    }
  }

  async function requestBy(
    { proxy, ended }: ProxyRoute,
    running: RunningJob,
    url: URL,
    isRecorded: boolean,
  ): Promise<void> {
    const requestedAt = now();
    const end = { statusCode: null, ms: 0, bytes: 0, errorCode: null, fault: null };
    try {
      await robots.ask(url.origin, {
        signal,
        mayStart: () => access.mayStart(),
        isOurs: parts.isOurs,
        isRecorded,
        alone: aloneOf(running),
        admitRedirect: () => access.readmitRobots(running, url),
        ...(proxy === null ? {} : { proxy }),
      });
      ended({ ...end, outcome: 'ok', ms: now() - requestedAt });
    } catch (error) {
      const errorCode = isScrapifieError(error) ? error.code : null;
      ended({ ...end, outcome: 'error', errorCode, fault: faultOf(error) });
      throw error;
    }
  }

  function noteFailure(running: RunningJob, { origin }: URL, error: unknown): void {
    const alone = aloneOf(running);
    // The failure of a proxy that one job brings along is that job's, and no reason to hold the host for others.
    if (isScrapifieError(error) && alone !== null && isOfTheProxy(error)) {
      running.proxyRouteFailure = error.code;
    } else if (isScrapifieError(error) && isOwnFault(error.code)) {
      // Other jobs of the host may leave by another route.
      obstacles.set(running, { error, until: untilRoute(error, now()) });
    } else {
      if (!signal.aborted)
        logger[levelOfError(error)]({ host: hostKey, err: error }, 'reading robots.txt failed');
      if (isScrapifieError(error) || signal.aborted) parts.onFailure(error);
      // A fault of the program keeps the file from being read: it counts as unreachable, and its tasks wait or end.
      else robots.giveUp(origin, alone);
    }
  }

  return {
    get isLoading() {
      return loading.size > 0;
    },
    load,
    obstacleFor,
  };
}

/** A pool that names no time has no such proxy; a proxy that failed is one of several. */
function untilRoute({ code, retryAfterMs }: ScrapifieError, now: number): number | null {
  if (retryAfterMs !== undefined) return now + retryAfterMs;
  return code === 'NO_HEALTHY_PROXY' ? null : now + NO_ROUTE_MS;
}

/** The caller's proxy is invalid, or has failed. */
const isOfTheProxy = (error: ScrapifieError): boolean =>
  faultOf(error) !== null || error.code === 'VALIDATION_FAILED';
