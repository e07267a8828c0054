import { openOptions } from '../../../capabilities/sessions/job-secrets.ts';
import type { Vault } from '../../../capabilities/sessions/vault.ts';
import type { ErrorCode } from '../../../core/errors/registry.ts';
import { isScrapifieError, type ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey, JobId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { Task } from '../../../core/model/task.ts';
import type { HostState } from '../../../core/ports/host-store.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import { type CookieJar, createCookieJar } from '../../../fetch/cookies/cookie-jar.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { type Canonicalizer, createCanonicalizer, parseStoredSeed } from '../../frontier/canonical.ts';
import { compileScope, type ScopeCheck } from '../../frontier/scope.ts';
import { type JobSpans, openJobSpans } from './attempt-spans.ts';
import { createLoginWalls, type LoginWalls, loginWallLimit } from './login-walls.ts';

/** A job with the state that its tasks share while they run in this process. */
export interface RunningJob {
  readonly job: Job;
  readonly canonical: Canonicalizer;
  readonly isInScope: ScopeCheck;
  /** Whether the caller named this origin, as a seed or by `secretOrigins`. */
  readonly isNamedOrigin: (origin: string) => boolean;
  /** Cookies last as long as the job is worked on here; a single scrape starts with none. */
  readonly jar: CookieJar;
  /** Fetches of this job under way in this process. */
  inFlight: number;
  /** Hosts that hold tasks back because the job has as many fetches under way as it may; each is told once. */
  readonly whenFree: Set<() => void>;
  /** Why robots.txt could not be asked for by the job's own proxy, until a task ends for that reason. */
  proxyRouteFailure: ErrorCode | null;
  /** How often one of the caller's own proxies was taken. */
  ownTurn: number;
  /** Why the secrets of the job's options cannot be opened here: none of its tasks can be fetched. Null when they are open. */
  readonly refusal: ScrapifieError | null;
  /** The states of hosts as answers that count for the job alone describe them. */
  readonly ownAnswers: BoundedMap<HostKey, HostState>;
  /** Pages that asked to log in; only this process counts them, and forgets them with the job. */
  readonly loginWalls: LoginWalls;
  /** The spans of the job; null when this process traces none of its attempts. */
  readonly spans: JobSpans | null;
  /** See ReadRequest: raised whenever URLs that were found are not kept. */
  generation: number;
}

/** A claimed task and its job. */
export interface ClaimedTask {
  readonly task: Task;
  readonly running: RunningJob;
}

/**
 * Jobs being worked on, read once from the store; their options never change while they run. An incarnation of the store
 * does not matter here: ids of jobs are never given out twice, and budgets are the store's to look at.
 */
export interface RunningJobs {
  get(id: JobId): Promise<RunningJob | null>;
  peek(id: JobId): RunningJob | undefined;
  /** Takes in a job that was just created. */
  remember(job: Job): void;
  forget(ids: readonly JobId[]): void;
}

const MAX_JOBS = 2_000;
/** Hosts of one job whose answers count for it alone. */
const MOST_ANSWERING_HOSTS = 32;

/** A fetch of the job has ended: hosts that hold tasks of it back check again. */
export function notifyWaiting({ whenFree }: RunningJob): void {
  if (whenFree.size === 0) return;
  const waiting = [...whenFree];
  whenFree.clear();
  for (const listener of waiting) listener();
}

/** `vault` opens the secrets of stored options; jobs that are taken in by `remember` bring theirs open. */
export function createRunningJobs(store: Pick<JobStore, 'getJob'>, vault: Vault | null = null): RunningJobs {
  const jobs = new BoundedMap<JobId, RunningJob>(MAX_JOBS, ({ inFlight }) => inFlight === 0);
  function keep(job: Job, refusal: ScrapifieError | null = null): RunningJob {
    const running = open(job, refusal);
    jobs.set(job.id, running);
    return running;
  }
  return {
    peek: (id) => jobs.get(id),
    async get(id) {
      const known = jobs.get(id);
      if (known !== undefined) return known;
      const job = await store.getJob(id);
      const other = jobs.get(id);
      if (other !== undefined || job === null) return other ?? null;
      try {
        return keep({ ...job, options: openOptions(job.options, vault, job) });
      } catch (error) {
        if (!isScrapifieError(error)) throw error;
        return keep(job, error);
      }
    },
    remember: (job) => void keep(job),
    forget(ids) {
      for (const id of ids) if (jobs.peek(id)?.inFlight === 0) jobs.delete(id);
    },
  };
}

function open(job: Job, refusal: ScrapifieError | null): RunningJob {
  const { scope } = job.options;
  let check: ScopeCheck | null = null;
  let origins: ReadonlySet<string> | null = null;
  return {
    job,
    canonical: createCanonicalizer(scope),
    // Most jobs are single scrapes and never ask.
    isInScope: (candidate, steps) => {
      check ??= compileScope(scope, job.seeds);
      return check(candidate, steps);
    },
    isNamedOrigin: (origin) => {
      origins ??= new Set(
        job.options.secretOrigins ?? job.seeds.map((seed) => parseStoredSeed(seed)?.origin ?? ''),
      );
      return origins.has(origin);
    },
    jar: createCookieJar(),
    inFlight: 0,
    whenFree: new Set(),
    proxyRouteFailure: null,
    ownTurn: 0,
    refusal,
    ownAnswers: new BoundedMap(MOST_ANSWERING_HOSTS),
    loginWalls: createLoginWalls(loginWallLimit(job)),
    spans: openJobSpans(job.options.traceParent),
    generation: 0,
  };
}
