import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { spentBudget } from '../../core/model/credits.ts';
import type { AccountId, HostKey, JobId } from '../../core/model/ids.ts';
import type { Budgets, Job, JobOptions, Pace } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import { requireLedger } from '../../core/model/retention.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { Queue } from '../../core/ports/queue.ts';
import type { ListPage } from '../../core/ports/store.ts';
import { traceJobEnd } from '../../core/tracing/tracing.ts';
import { expectsLogin } from '../../crawl/host/process/login-walls.ts';
import { defined } from '../../lib/defined.ts';
import { type AcceptanceDeps, createAcceptance, type Given, MAX_OFFERS } from './accept/accept-job.ts';
import { createAccountIntake } from './accept/account-intake.ts';
import { type Consents, draftMap, draftOf, draftScrape, type JobDraft } from './accept/job-draft.ts';
import { createJobIds, isJobId } from './job-id.ts';
import type {
  BatchRequest,
  CrawlRequest,
  JobRequest,
  MapRequest,
  ScrapeRequest,
} from './request/job-request.ts';
import { type JobListQuery, lastCrawl, listJobs } from './results/job-list.ts';
import { createJobReader, type JobReader, type ScrapeResult } from './results/job-reader.ts';
import type { MapResult } from './results/map-result.ts';
import { stopSentence } from './results/outcome-words.ts';
import {
  createJobWaits,
  notReady,
  patienceFor,
  stoppedWaiting,
  type WaitOutcome,
} from './waits/job-waits.ts';
import { hopelessError, hopelessWait, type Waiting, waitingFor } from './waits/waiting.ts';

export interface JobsDeps extends AcceptanceDeps {
  readonly blobs: Blobs;
  readonly maxQueuedUrls: number;
  readonly consents: Consents;
}

/**
 * The life of jobs. Creating a job resolves once the job and its first URLs are stored; only then is it published.
 * Every method that takes an account throws NOT_FOUND for jobs of others.
 */
export interface Jobs {
  newId(): JobId;
  /** Starts a job of any kind. */
  start(job: JobRequest, account: AccountId, given?: Given): Promise<Job>;
  scrape(request: ScrapeRequest, account: AccountId, given?: Given): Promise<Job>;
  batch(request: BatchRequest, account: AccountId, given?: Given): Promise<Job>;
  crawl(request: CrawlRequest, account: AccountId, given?: Given): Promise<Job>;
  map(request: MapRequest, account: AccountId, given?: Given): Promise<Job>;
  /** Throws what a job of this request would be refused for by what it says; nothing is stored. */
  verify(job: JobRequest, account: AccountId, given?: Given): Promise<void>;
  /** The most microcredits that one attempt of such a job may cost. */
  mostPerAttempt(options: JobOptions, hosts: readonly HostKey[]): number;
  /**
   * Scrapes and waits. Throws REQUEST_TIMEOUT with the job's id, or why there is no page. A job that cannot end in time,
   * because its host is held for longer, is cancelled, and the error says until when.
   */
  scrapeNow(request: ScrapeRequest, account: AccountId, given?: Given): Promise<ScrapeResult>;
  mapNow(request: MapRequest, account: AccountId, given?: Given): Promise<MapResult>;
  /** The job once it has ended. Throws REQUEST_TIMEOUT, or at once why it cannot end in time; the job goes on. */
  waitFor(id: JobId, timeoutMs: number, signal?: AbortSignal): Promise<Job>;
  get(id: string, account: AccountId): Promise<Job>;
  /** What the open URLs of a job wait for; empty when they are under way or due. */
  waitingFor(job: Job): Promise<readonly Waiting[]>;
  /** A page of a domain's jobs may be shorter than its limit although another follows. */
  list(query: JobListQuery): Promise<ListPage<Job>>;
  /** Throws DISK_FULL while what comes of new work could not be kept. All methods that make work begin with it. */
  requireRoom(): void;
  /** CONFLICT when it has ended already. */
  cancel(id: string, account: AccountId): Promise<Job>;
  /**
   * Goes on with what a cancel, a spent budget or log-in walls dropped, and with pages that asked to log in; budgets left
   * out stay, and so does the pace. CONFLICT when there is nothing.
   */
  resume(id: string, account: AccountId, budgets?: Partial<Budgets>, pace?: Pace): Promise<Job>;
  /** Tries failed URLs again. CONFLICT when none failed. */
  retry(id: string, account: AccountId): Promise<Job>;
  /** Only jobs that have ended: CONFLICT. */
  delete(id: string, account: AccountId): Promise<void>;
  readonly read: JobReader;
  /** Ends all waits with SHUTTING_DOWN. */
  close(): void;
}

export function createJobs(deps: JobsDeps): Jobs {
  const { store, bus, now, consents } = deps;
  const newId = createJobIds(now, deps.random);
  const intake = createAccountIntake(deps);
  const { possible, requireAccess, requireRoom, accept, offer } = createAcceptance(deps, { newId, intake });
  /** Jobs with a waiting request that are being stored; each leaves with its request. */
  const accepting = new Set<JobId>();
  const waits = createJobWaits({
    bus,
    async look(id) {
      // A job that is still being created is not one that was deleted.
      const isBeingAccepted = accepting.has(id);
      const open = await store.listWaits(id);
      if (open.length > 0) return { hopeless: (withinMs) => hopelessWait(open, now(), withinMs) };
      const job = await store.getJob(id);
      const hasEnded = job === null ? !isBeingAccepted : job.finishedAt !== null;
      return hasEnded ? 'ended' : { hopeless: () => null };
    },
  });
  const read = createJobReader(store, deps.blobs);

  /** The wait begins before the job exists, so its end cannot be missed and needs no look at the store. */
  async function acceptAndWait(
    draft: JobDraft,
    account: AccountId,
    timeoutMs: number,
    given: Given,
  ): Promise<JobId> {
    const id = given.id ?? newId();
    const wait = waits.begin(id, timeoutMs, given.signal);
    accepting.add(id);
    try {
      // The caller is answered when the page is committed, and that commit syncs the job as well.
      const job = await accept(draft, account, { ...given, id }, traitsOfKind(draft.kind).isSinglePage);
      if (job.finishedAt !== null) wait.stop();
      else if (job.heldUntil !== undefined) wait.look();
    } catch (error) {
      wait.stop();
      throw error;
    } finally {
      accepting.delete(id);
    }
    const outcome = await wait.outcome;
    // The caller is told to come again, or has left without the id of the job: nothing is fetched for it later.
    if (typeof outcome === 'object') await announce(await store.cancelJob(id, `wait:${outcome.code}`), id);
    if (outcome === 'aborted') await announce(await store.cancelJob(id), id);
    await requireEnd(outcome, { id, ...draft }, timeoutMs);
    return id;
  }

  /** Throws why the job has not ended. */
  async function requireEnd(
    outcome: WaitOutcome,
    { id: jobId, kind, options }: Pick<Job, 'id' | 'kind' | 'options'>,
    timeoutMs: number,
  ): Promise<void> {
    if (outcome === 'ended') return;
    if (typeof outcome === 'object') throw hopelessError(outcome, jobId, now());
    if (outcome !== 'timeout') throw stoppedWaiting(outcome, jobId);
    if (!traitsOfKind(kind).isSinglePage) throw notReady(jobId, timeoutMs);
    const entry = (await store.listTasks({ jobId, limit: 1 })).items[0];
    // The wait is a moment longer than the limit of the caller.
    throw notReady(jobId, Math.min(timeoutMs, options.page.timeoutMs), entry?.attempts);
  }

  async function get(id: string, account: AccountId): Promise<Job> {
    const job = isJobId(id) ? await store.getJob(id) : null;
    if (job === null || job.accountId !== account) throw noSuchJob(id);
    return job;
  }

  /** Publishes a change of a stored job to waiting requests and to workers. */
  async function announce(job: Job | null, id: string): Promise<Job> {
    if (job === null) throw noSuchJob(id);
    traceJobEnd(job);
    bus.publish('job.changed', {
      jobs: [job.id],
      finished: job.finishedAt === null ? [] : [job.id],
      ...(job.status === 'cancelled' ? { cancelled: [job.id] } : {}),
    });
    if (job.counters.open > 0 && job.status !== 'cancelled') offer(await store.offerHosts(MAX_OFFERS));
    return job;
  }

  async function start(job: JobRequest, account: AccountId, given: Given = {}): Promise<Job> {
    const draft = possible(draftOf(job, consents, given.operator));
    const { ifModified = false, webhook } = job.request as Partial<CrawlRequest>;
    const refreshes = ifModified ? await lastCrawl(store, account, draft.seeds) : null;
    const options = refreshes === null ? draft.options : { ...draft.options, refreshes };
    return accept({ ...draft, options }, account, withWebhook(given, defined({ webhook })));
  }

  return {
    newId,
    read,
    get,
    start,
    scrape: (request, ...how) => start({ kind: 'scrape', request }, ...how),
    batch: (request, ...how) => start({ kind: 'batch', request }, ...how),
    crawl: (request, ...how) => start({ kind: 'crawl', request }, ...how),
    map: (request, ...how) => start({ kind: 'map', request }, ...how),
    async verify(job, account, given = {}) {
      const { options } = possible(draftOf(job, consents, given.operator));
      await requireAccess({ ...options, credentials: given.credentials ?? 'use' }, account);
    },

    mostPerAttempt: (options, hosts) => deps.reserveFor?.(options, hosts) ?? 0,

    async scrapeNow(request, account, given = {}) {
      const draft = possible(draftScrape(request, consents, given.operator));
      const asked = withWebhook(given, request);
      const id = await acceptAndWait(draft, account, patienceFor(draft.options.page), asked);
      return read.scraped(id, draft.options.page, request.url);
    },
    async mapNow(request, account, given = {}) {
      const draft = possible(draftMap(request, consents, given.operator));
      const id = await acceptAndWait(draft, account, request.timeoutMs, given);
      return read.mapped(id, request);
    },
    async waitFor(id, timeoutMs, signal) {
      const wait = waits.begin(id, timeoutMs, signal);
      let waitedFor: Job;
      try {
        const job = await store.getJob(id);
        if (job === null) throw noSuchJob(id);
        if (job.finishedAt !== null) {
          wait.stop();
          return job;
        }
        waitedFor = job;
        wait.look();
      } catch (error) {
        wait.stop();
        throw error;
      }
      await requireEnd(await wait.outcome, waitedFor, timeoutMs);
      const ended = await store.getJob(id);
      if (ended === null) throw noSuchJob(id);
      return ended;
    },

    waitingFor: async (job) =>
      job.finishedAt === null ? waitingFor(await store.listWaits(job.id), now()) : [],
    list: (query) => listJobs(store, query),
    async cancel(id, account) {
      const job = await get(id, account);
      if (job.finishedAt !== null) {
        const { status } = job;
        throw new ScrapifieError('CONFLICT', `The job has ended (${status}); there is nothing to cancel.`, {
          details: { status },
        });
      }
      return announce(await store.cancelJob(job.id), id);
    },
    requireRoom,
    async resume(id, account, budgets = {}, pace = {}) {
      const job = await get(id, account);
      requireLedger(job);
      // Pages that asked to log in have failed; the session may have logged in since.
      const retryWalls = () => store.retryJob(job.id, 'LOGIN_REQUIRED');
      const isEnded = job.finishedAt !== null;
      if (!isEnded && job.status !== 'cancelled' && job.stopReason === null)
        throw nothingToResume('The job is going on.');
      requireRoom();
      await intake.admit(account, 0);
      // A job whose failed URLs were tried again has no stop reason any more, but its left URLs are those of the limit.
      const limits = { ...job.options.budgets, ...budgets };
      const resumed = await store.resumeJob(job.id, limits, pace);
      const changed = expectsLogin(job) ? await retryWalls() : resumed;
      // A cancelled job whose URLs had all ended is completed by it.
      const isTaken = job.status === 'cancelled' && changed?.status !== 'cancelled';
      if (changed !== null && isEnded && changed.finishedAt !== null && !isTaken)
        throw resumeRefusal(changed, limits);
      return announce(changed, id);
    },
    async retry(id, account) {
      const job = await get(id, account);
      requireLedger(job);
      if (job.counters.failed === 0) throw new ScrapifieError('CONFLICT', 'No URL of the job has failed.');
      requireRoom();
      await intake.admit(account, 0);
      return announce(await store.retryJob(job.id), id);
    },
    async delete(id, account) {
      const job = await get(id, account);
      if (!(await store.deleteJob(job.id))) throw noSuchJob(id);
    },
    close() {
      for (const part of [intake, waits]) part.close();
    },
  };
}

const withWebhook = (given: Given, { webhook }: Pick<Given, 'webhook'>): Given =>
  webhook === undefined ? given : { ...given, webhook };

const noSuchJob = (id: string) => new ScrapifieError('NOT_FOUND', `There is no job ${id.slice(0, 100)}.`);

/** This process has no listeners; a server on the same store finds the changes there. */
export const SILENT_BUS: Bus = {
  publish: () => undefined,
  subscribe: () => () => undefined,
  check: async () => undefined,
  close: async () => undefined,
};
const SILENT_QUEUE: Pick<Queue, 'offer'> = { offer: async () => undefined };

/** The jobs of an open storage, beside the servers that may work on them; nothing of this process does. */
export function jobsBeside(places: Pick<JobsDeps, 'store' | 'blobs' | 'vault' | 'addWebhook'>): Jobs {
  return createJobs({
    ...places,
    bus: SILENT_BUS,
    queue: SILENT_QUEUE,
    now: Date.now,
    random: Math.random,
    maxQueuedUrls: Number.POSITIVE_INFINITY,
    consents: () => true,
  });
}

const nothingToResume = (why: string) => new ScrapifieError('CONFLICT', `${why} There is nothing to resume.`);

/** Why a job that has ended did not go on under these limits. */
function resumeRefusal(job: Job, limits: Budgets): ScrapifieError {
  const hasLeft = job.counters.skipped + job.counters.cancelled > 0;
  const stopReason = (hasLeft ? spentBudget(job, limits) : null) ?? job.stopReason;
  const limit = stopSentence({ stopReason, options: { budgets: limits } });
  return limit === null
    ? nothingToResume('Nothing of the job was left out.')
    : new ScrapifieError('CONFLICT', `${limit} Resume it with a higher limit.`);
}
