import { ERRORS, type ErrorCode } from '../errors/registry.ts';
import { MAX_URL_STEPS } from '../frontier/scope.ts';
import type { Job } from '../model/job.ts';
import type { NewTask, Task } from '../model/task.ts';
import type { Completion, TaskEnd } from '../ports/store.ts';
import type { Robots } from '../robots/robots-cache.ts';
import type { RunningJob } from './running-job.ts';

/** An end without a fetch, and what it nevertheless led to. */
export interface Refusal {
  readonly end: TaskEnd;
  readonly discovered?: Completion['discovered'];
}

/** What robots.txt makes of a task; null: it may be fetched. */
export function robotsEnd(task: Task, job: Job, robots: Robots, url: URL, now: number): TaskEnd | null {
  const { entry } = robots;
  if (entry.status !== 'unreachable') {
    const { allowed, rule } = robots.allows(url.pathname + url.search);
    return allowed ? null : { state: 'denied', rule: `robots: ${rule}` };
  }
  const errorCode = failureOf(entry.reason);
  // Somebody waits for a single scrape; a job can come back when the host may have recovered.
  const canWait = job.kind !== 'scrape' && task.hops === 0 && now - job.createdAt < PATIENCE_MS;
  if (canWait && ERRORS[errorCode].retry === 'later') {
    return { state: 'waiting', readyAt: entry.expiresAt, rule: `robots.unreachable: ${entry.reason}` };
  }
  return { state: 'failed', rule: `robots.unreachable: ${entry.reason}`, errorCode };
}

/** What becomes of a task whose robots.txt could not be asked for because the job's own proxy failed. */
export function proxyRouteEnd(task: Task, job: Job, errorCode: ErrorCode, now: number): TaskEnd {
  const rule = `robots.no-way-out: ${errorCode}`;
  const canWait = job.kind !== 'scrape' && task.hops === 0 && now - job.createdAt < PATIENCE_MS;
  return canWait
    ? { state: 'waiting', readyAt: now + WAY_OUT_PAUSE_MS, rule }
    : { state: 'failed', rule, errorCode };
}

const WAY_OUT_PAUSE_MS = 10_000;

/** How long after its start a job waits for a robots.txt that cannot be read. */
const PATIENCE_MS = 180_000;

/** A failure of the network is told as what it is: the page itself would have failed the same way. */
function failureOf(reason: string): ErrorCode {
  return reason in ERRORS ? (reason as ErrorCode) : 'ROBOTS_UNREACHABLE';
}

/** The end of a site task: the sitemaps that robots.txt names, or the place where one usually is. */
export function siteEnd(task: Task, robots: Robots, { canonical, isInScope }: RunningJob): Refusal {
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
  const rule = declared ? `site.sitemaps:${robots.sitemaps.length}` : 'site.no-sitemap-declared';
  // Nothing of it is a result: what it found is.
  return { end: { state: 'skipped', rule }, discovered };
}

const MAX_SITEMAPS = 1_000;
