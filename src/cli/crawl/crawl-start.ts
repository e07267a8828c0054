import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Budgets, Job, Pace } from '../../core/model/job.ts';
import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';
import type { CrawlFolder } from '../folders/crawl-folder.ts';
import type { OpenPlatform } from '../shell/shell.ts';
import { removeCrawlExports } from './crawl-exports.ts';
import { type Earlier, readEarlier } from './crawl-report.ts';
import {
  type CrawlCommand,
  type CrawlFlags,
  crawlCommandOf,
  type ResumedOptions,
  resumedOptions,
} from './crawl-request.ts';

/** A crawl that is in the store and may go on. */
export interface Opened {
  readonly job: Job;
  readonly earlier: Earlier;
  /** What the person should know; null: nothing out of the ordinary. */
  readonly note: string | null;
}

const NO_RUNS: Earlier = { durationMs: 0, runs: 0 };

export async function beginCrawl(
  platform: OpenPlatform,
  { request, operator }: CrawlCommand,
): Promise<Opened> {
  const account = await platform.store.defaultAccount();
  const job = await platform.jobs.crawl(request, account, { operator });
  if (!job.options.page.obeyRobots) await noteConsent(platform, job);
  return { job, earlier: NO_RUNS, note: null };
}

/** Begins a crawl beside the finished one of the folder, whose pages it asks for only if they changed. */
export async function crawlAgain(
  platform: OpenPlatform,
  folder: CrawlFolder,
  command: CrawlCommand,
): Promise<Opened> {
  const account = await platform.store.defaultAccount();
  const [last] = (await platform.store.listJobs({ accountId: account, kind: 'crawl', limit: 1 })).items;
  if (last !== undefined && last.finishedAt === null) {
    throw new ScrapifieError('INVALID_USAGE', 'The crawl in this folder has not finished: --resume goes on.');
  }
  const opened = await beginCrawl(platform, command);
  const note =
    opened.job.options.refreshes === undefined
      ? 'No finished crawl of these start URLs is in the folder: all pages are asked for.'
      : `Pages are asked for only if they changed since ${new Date(last?.finishedAt ?? 0).toISOString()}.`;
  const removed = removeCrawlExports(folder, last?.options.exports ?? []);
  const told = removed.length === 0 ? '' : ` Removed exports of the crawl before: ${removed.join(', ')}.`;
  return { ...opened, note: note + told };
}

/** What was consented to by a flag is in the audit log like what a policy allows. */
async function noteConsent({ store }: OpenPlatform, job: Job): Promise<void> {
  const hosts = new Set(job.seeds.map((seed) => parseStoredSeed(seed)?.host ?? seed));
  const details = { jobId: job.id };
  await store.audit(
    [...hosts].map((target) => ({
      at: job.createdAt,
      actor: 'command line',
      action: 'consent.robots',
      target,
      details,
    })),
  );
}

/**
 * Goes on with the crawl of the folder, however it came to stand still: a killed process left it as it was, a cancel
 * or a spent budget took URLs out, which come back. One that has finished is returned as it is.
 */
export async function resumeCrawl(
  platform: OpenPlatform,
  folder: CrawlFolder,
  urls: readonly string[],
  flags: CrawlFlags,
): Promise<Opened> {
  const { store, jobs } = platform;
  const account = await store.defaultAccount();
  const [job] = (await store.listJobs({ accountId: account, kind: 'crawl', limit: 1 })).items;
  if (job === undefined) {
    // The last run was killed before it had stored the crawl.
    return beginCrawl(platform, crawlCommandOf(urls, flags));
  }
  const { budgets, pace } = resumedOptions(job, urls, flags, true);
  const earlier = readEarlier(folder.reportFile, job.id);
  const finished = finishedNote(job, budgets);
  const note = `Going on in ${folder.dir}: ${job.counters.pages} pages are there.`;
  const reopened = finished === null ? null : await reopen(jobs, job, { budgets, pace }, account);
  if (reopened !== null) return { job: reopened, earlier, note };
  if (finished !== null)
    return { job, earlier: { ...earlier, runs: Math.max(0, earlier.runs - 1) }, note: finished };
  return { job: await goOn(jobs, job, { budgets, pace }, account), earlier, note };
}

/**
 * The job with pages open again that asked to log in, or that an earlier limit left out before failed URLs were tried
 * again; null when there are none.
 */
async function reopen(
  jobs: OpenPlatform['jobs'],
  job: Job,
  { budgets, pace }: ResumedOptions,
  account: AccountId,
): Promise<Job | null> {
  if (job.stopReason !== null) return null;
  return jobs.resume(job.id, account, budgets, pace).catch((error: unknown) => {
    if (isScrapifieError(error) && error.code === 'CONFLICT') return null;
    throw error;
  });
}

/** A job that was not finished goes on with these budgets. Throws CONFLICT when there is nothing to go on with. */
export async function goOn(
  jobs: OpenPlatform['jobs'],
  job: Job,
  { budgets, pace }: ResumedOptions,
  account: AccountId,
): Promise<Job> {
  const isSame =
    Object.entries(budgets).every(
      ([name, value]) => value === (job.options.budgets[name as keyof Budgets] ?? null),
    ) && Object.entries(pace).every(([name, value]) => value === job.options[name as keyof Pace]);
  const isWaiting = job.finishedAt === null && job.status !== 'cancelled' && job.stopReason === null;
  // A time limit counts from here, not from a start that may be days ago.
  if (isWaiting && isSame && budgets.maxDurationMs === null) return job;
  if (isWaiting) await jobs.cancel(job.id, account);
  return jobs.resume(job.id, account, budgets, pace);
}

/** Why there is nothing left to do; null when there is. */
function finishedNote(
  { finishedAt, status, stopReason, counters, microcredits }: Job,
  budgets: Budgets,
): string | null {
  if (finishedAt === null || status === 'cancelled') return null;
  if (stopReason === null) return 'The crawl has finished; its pages and report are written again.';
  const { maxPages, maxBytes, maxBrowserMs = null, maxProxyBytes = null, maxMicrocredits = null } = budgets;
  const isSpent = (limit: number | null, used: number) => limit !== null && used >= limit;
  if (isSpent(maxPages, counters.pages + counters.failed)) {
    return `The crawl has its ${maxPages} pages; a higher --max-pages goes on. Pages and report are written again.`;
  }
  if (isSpent(maxBytes, counters.bytes)) {
    return 'The crawl has downloaded as much as it may; a higher --max-bytes goes on. Pages and report are written again.';
  }
  if (isSpent(maxBrowserMs, counters.browserMs)) {
    return 'Browsers have worked as long as they may; a higher --max-browser-time goes on. Pages and report are written again.';
  }
  if (isSpent(maxProxyBytes, counters.proxyBytes)) {
    return 'As much came through proxies as may; a higher --max-proxy-bytes goes on. Pages and report are written again.';
  }
  if (isSpent(maxMicrocredits, microcredits)) {
    return 'The crawl has cost as much as it may; a higher --max-credits goes on. Pages and report are written again.';
  }
  return null;
}
