import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import type { LedgerEntry, TaskState } from '../../core/model/task.ts';
import type { TaskReason } from '../../core/model/task-reasons.ts';
import type { HostStore, JobStore } from '../../core/ports/store.ts';
import { type CanonicalUrl, createCanonicalizer, parseSeed } from '../../crawl/frontier/canonical.ts';
import { compileScope } from '../../crawl/frontier/scope.ts';
import { isAllowed, parseRobots } from '../../crawl/robots/robots-rules.ts';
import { PRODUCT_TOKEN } from '../../fetch/user-agent.ts';
import { readRecord } from './page-result.ts';
import { ruleSentence, stopSentence } from './rule-words.ts';
import { failureCode } from './scrape-outcome.ts';
import { whySentences } from './why-sentences.ts';

/** What became of a URL in a job, and why. */
export interface WhyAnswer {
  readonly jobId: JobId;
  /** The URL as the job knows it. */
  readonly url: string;
  /** `unseen` when the job has never met the URL. */
  readonly state: TaskState | 'unseen';
  /** Null while nothing kept it from being fetched. */
  readonly code: ErrorCode | null;
  readonly rule: string | null;
  readonly sentences: readonly string[];
  readonly entry: LedgerEntry | null;
}

type WhyStore = Pick<JobStore, 'findTask' | 'getPage' | 'getSources'> &
  Pick<HostStore, 'getHost' | 'getRobots'>;

/** Throws INVALID_URL for a text that is no URL. */
export async function whyOf(
  store: WhyStore,
  job: Job,
  text: string,
  now: number = Date.now(),
): Promise<WhyAnswer> {
  const found = createCanonicalizer(job.options.scope)(parseSeed(text));
  if (found === null) throw new ScrapifieError('INVALID_URL', `"${text.slice(0, 200)}" is not a URL.`);
  const task = await store.findTask(job.id, found.urlKey);
  if (task === null) return unseen(store, job, found);
  const { entry, taskId } = task;
  const isOpen = entry.state === 'waiting' || entry.state === 'ready';
  const [page, sources, host] = await Promise.all([
    store.getPage(job.id, taskId),
    job.options.hasSources === true ? store.getSources(job.id) : {},
    isOpen ? store.getHost(found.hostKey) : null,
  ]);
  const sourceUrl =
    (traitsOfKind(job.kind).isSinglePage ? job.seeds[0] : (sources as Record<string, string>)[entry.url]) ??
    entry.url;
  const hasEnded = entry.state === 'failed' || entry.state === 'denied' || entry.state === 'cancelled';
  const record = page?.record == null ? null : readRecord(page.record);
  return {
    jobId: job.id,
    url: entry.url,
    state: entry.state,
    code: hasEnded ? failureCode(entry) : null,
    rule: entry.rule,
    sentences: whySentences({ ...task, job, sourceUrl, page, record, host, now }),
    entry,
  };
}

/** The job does not know the URL: what it would have decided, and what kept it from finding the URL. */
async function unseen(store: WhyStore, job: Job, found: CanonicalUrl): Promise<WhyAnswer> {
  const rule = await ruleAgainst(store, job, found);
  const entry = { url: found.url, depth: 1, foundOn: null };
  const would = rule === null ? null : `Had it been found, it would not have been fetched:`;
  const sentences = [
    'The job has never seen this URL: it is no start URL, and no page or sitemap that the job has read names it.',
    ...(would === null ? [] : [`${would} ${ruleSentence(rule, entry, job)} [${rule}]`]),
    ...unfollowed(job),
  ];
  return { jobId: job.id, url: found.url, state: 'unseen', code: null, rule, sentences, entry: null };
}

/** The rule that would keep the URL out of the job; null when none would. */
async function ruleAgainst(store: WhyStore, job: Job, found: CanonicalUrl): Promise<TaskReason | null> {
  const { scope, page } = job.options;
  if (traitsOfKind(job.kind).follows !== 'nothing') {
    const candidate = { url: found.url, hostKey: found.hostKey, depth: 1, isNofollow: false } as const;
    const decision = compileScope(scope, job.seeds)({ ...candidate, foundBy: 'link' });
    if (!decision.inScope) return decision.rule;
  }
  if (!page.obeyRobots) return null;
  const robots = await store.getRobots(found.origin);
  if (robots === null || robots.status === 'absent') return null;
  if (robots.status === 'unreachable') return `robots.unreachable: ${robots.reason}`;
  const { pathname, search } = new URL(found.url);
  const verdict = isAllowed(parseRobots(robots.body), PRODUCT_TOKEN, pathname + search);
  return verdict.allowed ? null : `robots: ${verdict.rule}`;
}

function unfollowed(job: Job): string[] {
  const stopped = stopSentence(job);
  if (stopped !== null)
    return [`${stopped} Pages that it did not fetch may link to the URL. [${job.stopReason}]`];
  if (traitsOfKind(job.kind).follows === 'nothing') {
    return [`A job of kind ${job.kind} fetches the URLs that it is given, and follows no links.`];
  }
  if (job.finishedAt === null) return [`The job goes on: ${job.counters.open} URLs are still to be done.`];
  return [];
}
