import { ERRORS, type ErrorCode } from '../../../core/errors/registry.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { NewTask, Task } from '../../../core/model/task.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import type { Completion, TaskEnd } from '../../../core/ports/ledger-store.ts';
import { pageOptionsFor } from '../../frontier/routes.ts';
import { MAX_URL_STEPS } from '../../frontier/scope.ts';
import type { Policies } from '../../policy/policies.ts';
import type { Robots } from '../../robots/robots-cache.ts';
import { isWithoutHost } from '../../robots/robots-entry.ts';
import { type HostAccess, ownPauseReason, pausedEnd } from '../access/host-access.ts';
import { needsOf, planAttempt } from '../attempt/plan-attempt.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { ClaimedTask, RunningJob } from '../process/running-job.ts';
import { ownFaultEnd } from '../process/task-end.ts';
import type { RobotsLoader } from './robots-loader.ts';

interface TaskRefusalParts {
  readonly hostKey: HostKey;
  readonly access: HostAccess;
  readonly robotsLoader: RobotsLoader;
  readonly policies: () => Policies;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Says why a task must not be fetched; `loading` while its robots.txt is on the way, or the host is held. */
export type TaskRefusals = (claimed: ClaimedTask) => TaskRefusal | 'loading' | null;

export function createTaskRefusals(parts: TaskRefusalParts): TaskRefusals {
  const { hostKey, access, robotsLoader, metrics, now } = parts;

  return ({ task, running }) => {
    const denied = parts.policies().denied(hostKey);
    if (denied !== null) return { end: { state: 'denied', rule: denied.rule } };
    const paused = pausedEnd(access.ownPauseUntil(running), now(), ownPauseReason(running));
    if (paused !== null) return { end: paused };
    if (!access.isObeyed(running) && task.kind !== 'site') return null;
    const url = new URL(task.atUrl);
    const known = access.knownRobots(running, url);
    if (known === null) {
      const obstacle = robotsLoader.obstacleFor(running);
      if (obstacle !== null) return noRouteEnd(task, running.job, obstacle.error, obstacle.until, now());
      const failure = running.proxyRouteFailure;
      running.proxyRouteFailure = null;
      if (failure !== null) return { end: proxyRouteEnd(task, running.job, failure, now()) };
      robotsLoader.load(running, url, task.interruptions > 0);
      return 'loading';
    }
    if (task.kind === 'site') return siteEnd(task, known, running);
    const end = robotsEnd(task, running.job, known, url, now());
    if (end?.state === 'denied') metrics.robotsDenied();
    return end === null ? null : { end };
  };
}

/** The end of a task that must not be fetched, and the URLs that were found nevertheless. */
export interface TaskRefusal {
  readonly end: TaskEnd;
  readonly discovered?: Completion['discovered'];
  /** Why the task failed; its page is stored with it. */
  readonly failure?: Pick<ScrapifieError, 'code' | 'message'>;
}

/** The end that robots.txt sets to a task; null: the task may be fetched. */
export function robotsEnd(task: Task, job: Job, robots: Robots, url: URL, now: number): TaskEnd | null {
  const { entry } = robots;
  if (entry.status !== 'unreachable') {
    const { allowed, rule } = robots.allows(url.pathname + url.search);
    return allowed ? null : { state: 'denied', rule: `robots: ${rule}` };
  }
  const errorCode = failureOf(entry.reason);
  // A client waits for a single scrape; other jobs come back when the host may have recovered.
  // A monitor checks again by its schedule, so a check reports a host that refuses the connection instead of waiting.
  const isRefusedCheck = job.options.monitorId !== undefined && errorCode === 'CONNECT_FAILED';
  const patienceMs = isWithoutHost(entry.reason) ? NO_HOST_PATIENCE_MS : PATIENCE_MS;
  const canWait =
    !traitsOfKind(job.kind).isUrgent &&
    !isRefusedCheck &&
    task.hops === 0 &&
    now - job.createdAt < patienceMs;
  if (canWait && ERRORS[errorCode].retry === 'later') {
    return { state: 'waiting', readyAt: entry.expiresAt, rule: `robots.unreachable: ${entry.reason}` };
  }
  return { state: 'failed', rule: `robots.unreachable: ${entry.reason}`, errorCode };
}

/** The end of a task whose robots.txt could not be requested because the job's own proxy failed. */
export function proxyRouteEnd(task: Task, job: Job, errorCode: ErrorCode, now: number): TaskEnd {
  const rule = `robots.no-way-out: ${errorCode}` as const;
  const canWait = !traitsOfKind(job.kind).isUrgent && task.hops === 0 && now - job.createdAt < PATIENCE_MS;
  return canWait
    ? { state: 'waiting', readyAt: now + PROXY_PAUSE_MS, rule }
    : { state: 'failed', rule, errorCode };
}

/**
 * The end of a task whose robots.txt cannot be requested, because no proxy of this installation can be used. `until` is
 * when one may be; null: not before the configuration changes, so the task fails at once.
 */
export function noRouteEnd(
  task: Task,
  job: Job,
  { code, message }: Pick<ScrapifieError, 'code' | 'message'>,
  until: number | null,
  now: number,
): TaskRefusal {
  const rule = `robots.no-way-out: ${code}` as const;
  // A scrape waits as well: the process that answers its caller tells until when.
  const canWait = until !== null && task.hops === 0 && now - job.createdAt < PATIENCE_MS;
  if (canWait) return { end: { state: 'waiting', readyAt: Math.ceil(until), rule } };
  return { end: { state: 'failed', rule, errorCode: code }, failure: { code, message } };
}

const PROXY_PAUSE_MS = 10_000;

/** How long after its start a job waits for a robots.txt that cannot be read. */
const PATIENCE_MS = 180_000;
/** How long it waits when the host has no address or refuses connections. */
const NO_HOST_PATIENCE_MS = 6_000;

/** A failure of the network keeps its code: the page itself would have failed the same way. */
function failureOf(reason: string): ErrorCode {
  return reason in ERRORS ? (reason as ErrorCode) : 'ROBOTS_UNREACHABLE';
}

/** The end of a site task: the sitemaps that robots.txt names, or the place where one usually is. */
export function siteEnd(task: Task, robots: Robots, { canonical, isInScope }: RunningJob): TaskRefusal {
  const { origin } = new URL(task.atUrl);
  const declared = robots.sitemaps.length > 0;
  const urls = declared ? robots.sitemaps.slice(0, MAX_SITEMAPS) : [`${origin}/sitemap.xml`];
  // One budget for all of them: this runs on the main thread, and the file names as many as its author likes.
  const steps = { left: MAX_URL_STEPS };
  const discovered = urls.flatMap((url): NewTask[] => {
    const found = canonical(url);
    if (found === null) return [];
    const candidate = { ...found, kind: 'sitemap', depth: 1, foundBy: 'robots', isNofollow: false } as const;
    const decision = isInScope(candidate, steps);
    return [
      {
        ...found,
        kind: 'sitemap',
        depth: 1,
        foundBy: 'robots',
        foundOn: task.id,
        state: decision.inScope ? 'ready' : 'skipped',
        rule: decision.inScope ? null : decision.rule,
      },
    ];
  });
  const rule = declared ? (`site.sitemaps:${robots.sitemaps.length}` as const) : 'site.no-sitemap-declared';
  // The task itself is no result of the job.
  return { end: { state: 'skipped', rule }, discovered };
}

const MAX_SITEMAPS = 1_000;

interface RendererWaitParts {
  readonly access: HostAccess;
  readonly resources: FetchResources;
  readonly metrics: Pick<Metrics, 'renderPutOff'>;
  readonly now: () => number;
  readonly random: () => number;
}

const RENDERERS: readonly EngineName[] = ['browser', 'stealth'];
const SHORTEST_AWAY_PAUSE_MS = 10_000;
const LONGEST_AWAY_PAUSE_MS = 60_000;

/** The longer browsers are away, the less often each of the URLs that wait for them is looked at. */
const awayPauseMs = (awayForMs: number): number =>
  Math.min(LONGEST_AWAY_PAUSE_MS, Math.max(SHORTEST_AWAY_PAUSE_MS, awayForMs / 4));

/**
 * The end of a task that needs a browser while none shows pages: it waits, and neither the gate nor a slot is taken, so that
 * plain pages of the host go on. Returns null when an attempt may be made.
 */
export function rendererWait(task: Task, running: RunningJob, parts: RendererWaitParts): TaskEnd | null {
  const { access, resources, metrics, now, random } = parts;
  if (RENDERERS.every((name) => resources.awayOf(name) === null)) return null;
  void resources.discover();
  const page = pageOptionsFor(running.job.options, task.url);
  // Sessions have wishes of their own; their tasks are planned when the session is there.
  if (page.session !== null) return null;
  if (page.engine === 'auto' && task.trace.length === 0 && needsOf(page).length === 0) return null;
  const { step, refusal } = planAttempt(task, running, null, access, resources, now(), random);
  const asked = refusal?.code === 'NO_WORKER' ? RENDERERS : [step.engine];
  if (refusal !== null && refusal.code !== 'NO_WORKER') return null;
  const away = asked.flatMap((name) => resources.awayOf(name) ?? [])[0];
  if (away === undefined) return null;
  metrics.renderPutOff(away.code);
  return ownFaultEnd(away.code, Math.round(now() + awayPauseMs(away.forMs) * (1 + random() / 4)));
}
