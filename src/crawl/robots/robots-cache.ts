import { EXIT } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { HostStore, RobotsEntry } from '../../core/ports/host-store.ts';
import { decodeText } from '../../extract/charset/charset.ts';
import type { Engine, FetchRequest } from '../../fetch/engine.ts';
import { faultOf } from '../../fetch/proxy/proxy-failure.ts';
import { PRODUCT_TOKEN } from '../../fetch/user-agent.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { askedEntry, givenUpEntry, type RobotsFetch, robotsEntryFrom } from './robots-entry.ts';
import {
  crawlDelayMs,
  isAllowed,
  parseRobots,
  ROBOTS_LIMIT_BYTES,
  type RobotsDecision,
} from './robots-rules.ts';

/** The parsed robots.txt of one origin. */
export interface Robots {
  readonly entry: RobotsEntry;
  readonly crawlDelayMs: number | null;
  readonly sitemaps: readonly string[];
  allows(pathWithQuery: string): RobotsDecision;
}

/**
 * Knows the robots.txt of origins: from memory, from the store, or from the host. One request at a time per origin.
 * The caller of `ask` has the gate's admission for it: it is a request to the host like any other.
 *
 * `alone` names a job that asks through a proxy of its caller's, which can answer what it likes. A file that came that
 * way is kept in memory for this job and is seen by no other one; the store knows no more of it than requests that no
 * process survived. The job itself goes by the file that all jobs share, where that is known and was read.
 */
export interface RobotsCache {
  /** The file from memory; null when none is fresh. */
  recall(origin: string, alone?: JobId | null): Robots | null;
  /** The file from the store; `robots` is null when none is fresh. */
  lookUp(origin: string, alone?: JobId | null): Promise<LookedUp>;
  /**
   * Fetches it. A host that cannot be asked has an entry that says so; only being told to stop, and a proxy's failure,
   * are thrown, with nothing remembered. With `isRecorded` the store knows that it is asked for before the host does, so
   * that a death of the process by the answer is counted.
   */
  ask(origin: string, request: RobotsRequest): Promise<Robots>;
  /** An unexpected error of the program kept it from being read: for this process it is unreachable for a while. */
  giveUp(origin: string, alone?: JobId | null): void;
}

export interface LookedUp {
  readonly robots: Robots | null;
  /** Has the same meaning as `RobotsEntry.interruptions`. */
  readonly interruptions: number;
}

/** How robots.txt is requested. For `signal`, `mayStart` and `proxy` see FetchRequest. */
export interface RobotsRequest extends Pick<FetchRequest, 'signal' | 'mayStart' | 'proxy'> {
  /** False once the asking process may no longer own the host. */
  readonly isOurs?: () => boolean;
  readonly isRecorded?: boolean;
  readonly alone?: JobId | null;
  /**
   * Resolves with true when the gate has admitted one more request, and is called before each redirect is followed. The
   * gate is that of the host whose file it is, also where the redirect leads to another host, which has another owner.
   * False: the gate holds the host, and the file counts as unreachable.
   */
  readonly admitRedirect: () => Promise<boolean>;
}

const MAX_ORIGINS = 2_000;
/** Files that came through proxies of callers, of all jobs together. */
const MAX_ALONE = 256;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const MAX_RULE_CHARS = 500;

export function createRobotsCache(parts: {
  store: Pick<HostStore, 'getRobots' | 'putRobots'>;
  engine: Engine;
  now: () => number;
}): RobotsCache {
  const { store, engine, now } = parts;
  const kept = new BoundedMap<string, Robots>(MAX_ORIGINS);
  /** Files that count for one job alone, by job and origin. */
  const keptAlone = new BoundedMap<string, Robots>(MAX_ALONE);
  /** Requests under way, by origin, or by job and origin. */
  const asked = new Map<string, Promise<Robots>>();

  function keep(entry: RobotsEntry, alone: JobId | null): Robots {
    const robots = robotsOf(entry);
    (alone === null ? kept : keptAlone).set(keyOf(entry.origin, alone), robots);
    return robots;
  }

  /** Recorded apart for a job with a proxy of its caller's: what that proxy answers must not count for other jobs. */
  async function readRecorded(origin: string, request: RobotsRequest): Promise<Robots> {
    const { alone = null } = request;
    const key = keyOf(origin, alone);
    const previous = await store.getRobots(key);
    const record = askedEntry(key, now(), previous);
    await put(record);
    try {
      const robots = await read(origin, request);
      // The answer that all jobs share was stored in place of the record.
      if (alone !== null) await put({ ...record, interruptions: 0 });
      return robots;
    } catch (error) {
      // Nothing died: another owner may have stored an answer meanwhile, which stays.
      const stored = await store.getRobots(key);
      const interruptions = previous?.interruptions ?? 0;
      if (stored?.interruptions === record.interruptions) await put({ ...record, interruptions });
      throw error;
    }
  }

  /** Takes the stored entry into memory while it is fresh; returns its interruptions. */
  async function restore(origin: string, alone: JobId | null): Promise<number> {
    const entry = await store.getRobots(keyOf(origin, alone));
    if (entry === null) return 0;
    const givenUp = givenUpEntry(entry, now());
    if (givenUp !== null) await put(givenUp);
    const current = givenUp ?? entry;
    if (current.expiresAt > now()) keep({ ...current, origin }, alone);
    return entry.interruptions;
  }

  const fresh = (robots: Robots | undefined): Robots | null =>
    robots !== undefined && robots.entry.expiresAt > now() ? robots : null;

  function recall(origin: string, alone: JobId | null): Robots | null {
    const shared = fresh(kept.get(origin));
    // A host that we cannot ask may answer the caller's proxy.
    if (alone === null || (shared !== null && shared.entry.status !== 'unreachable')) return shared;
    return fresh(keptAlone.get(keyOf(origin, alone)));
  }

  async function read(origin: string, request: RobotsRequest): Promise<Robots> {
    const { alone = null } = request;
    const fetched = await fetchRobots(engine, origin, request);
    // An owner that was stopped for so long that it lost the host finds its own time limits passed, not the host's.
    if ('failure' in fetched && request.isOurs?.() === false) {
      throw new ScrapifieError(
        'CANCELLED',
        `The robots.txt of ${origin} was read by another owner of the host meanwhile`,
      );
    }
    // Not before the request: the gate has admitted it now, and the store may take its time.
    const previous =
      alone === null
        ? (kept.get(origin)?.entry ?? (await store.getRobots(origin)))
        : (keptAlone.get(keyOf(origin, alone))?.entry ?? null);
    const entry = robotsEntryFrom(fetched, origin, now(), previous);
    if (alone === null) await put(entry);
    return keep(entry, alone);
  }

  /** A file that the store cannot keep is requested by each process for itself. */
  async function put(entry: RobotsEntry): Promise<void> {
    try {
      await store.putRobots(entry);
    } catch (error) {
      if (!isScrapifieError(error) || error.code !== 'UNSTORABLE') throw error;
    }
  }

  return {
    recall: (origin, alone = null) => recall(origin, alone),
    async lookUp(origin, alone = null) {
      const shared = await restore(origin, null);
      const interruptions = alone === null ? shared : await restore(origin, alone);
      return { robots: recall(origin, alone), interruptions };
    },
    ask(origin, request) {
      const key = keyOf(origin, request.alone ?? null);
      const underWay = asked.get(key);
      if (underWay !== undefined) return underWay;
      const reading = request.isRecorded === true ? readRecorded(origin, request) : read(origin, request);
      const answer = reading.finally(() => asked.delete(key));
      asked.set(key, answer);
      return answer;
    },
    giveUp(origin, alone = null) {
      const before = (alone === null ? kept : keptAlone).get(keyOf(origin, alone))?.entry ?? null;
      keep(robotsEntryFrom({ failure: 'INTERNAL' }, origin, now(), before), alone);
    },
  };
}

const keyOf = (origin: string, alone: JobId | null): string =>
  alone === null ? origin : `${alone} ${origin}`;

async function fetchRobots(
  engine: Engine,
  origin: string,
  { signal, mayStart, proxy, admitRedirect }: RobotsRequest,
): Promise<RobotsFetch> {
  let isElsewhere = false;
  try {
    const response = await engine.fetch({
      url: `${origin}/robots.txt`,
      method: 'GET',
      headers: { accept: 'text/plain, */*;q=0.1' },
      cookies: {},
      body: null,
      timeoutMs: TIMEOUT_MS,
      // RFC 9309, 2.5: rules past the limit are not read, and those before it hold, however long the file is.
      maxBodyBytes: ROBOTS_LIMIT_BYTES + 1,
      isCutAtLimit: true,
      maxRedirects: MAX_REDIRECTS,
      conditional: null,
      onRedirect: async () => {
        isElsewhere = true;
        return (await admitRedirect()) ? 'follow' : 'stop';
      },
      mayStart,
      signal,
      proxy,
    });
    if (response.redirectedTo !== null) return { failure: 'ROBOTS_UNREACHABLE' };
    const { text } = decodeText(response.body, 'text/plain; charset=utf-8');
    return { statusCode: response.statusCode, body: text, headers: response.headers };
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    // The request was ended on this side, which says nothing about the host.
    if (error.code === 'CANCELLED' || error.code === 'SHUTTING_DOWN' || faultOf(error) !== null) throw error;
    if (error.spec.exitCode === EXIT.environment) throw error;
    // Five redirects and no end, or none that leads anywhere: the file is unavailable, not the host.
    if (
      error.code === 'TOO_MANY_REDIRECTS' ||
      error.code === 'REDIRECT_LOOP' ||
      error.code === 'BAD_REDIRECT'
    ) {
      return { statusCode: 310, body: '', headers: {} };
    }
    // A failure behind a redirect is of another URL, and says nothing about the pages of this origin.
    return { failure: isElsewhere ? `redirected, then ${error.code}` : error.code };
  }
}

function robotsOf(entry: RobotsEntry): Robots {
  const rules = parseRobots(entry.status === 'ok' ? entry.body : '');
  return {
    entry,
    crawlDelayMs: crawlDelayMs(rules, PRODUCT_TOKEN),
    sitemaps: rules.sitemaps,
    allows: (path) =>
      entry.status === 'unreachable'
        ? { allowed: false, rule: `unreachable: ${entry.reason}` }
        : shortened(isAllowed(rules, PRODUCT_TOKEN, path)),
  };
}

/** A rule is stored with every URL that it excludes, and a line of robots.txt may be half a megabyte long. */
function shortened(decision: RobotsDecision): RobotsDecision {
  const { rule } = decision;
  return rule !== null && rule.length > MAX_RULE_CHARS
    ? { ...decision, rule: `${rule.slice(0, MAX_RULE_CHARS)}…` }
    : decision;
}
