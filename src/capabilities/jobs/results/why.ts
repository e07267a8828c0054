import { setImmediate as nextTurn } from 'node:timers/promises';
import { ERRORS, type ErrorCode } from '../../../core/errors/registry.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import { creditsOf } from '../../../core/model/credits.ts';
import type { AccountId, JobId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { Page, PageRecord } from '../../../core/model/page.ts';
import { isReasonOf } from '../../../core/model/reasons.ts';
import type { FoundBy, LedgerEntry, TaskState } from '../../../core/model/task.ts';
import type { TaskReason } from '../../../core/model/task-reasons.ts';
import type { BreakerState, HostStore, HostView } from '../../../core/ports/host-store.ts';
import type { FoundTask, JobStore } from '../../../core/ports/job-store.ts';
import { type CanonicalUrl, createCanonicalizer, parseSeed } from '../../../crawl/frontier/canonical.ts';
import { compileScope } from '../../../crawl/frontier/scope.ts';
import { planSentence } from '../../../crawl/plan/ladder/fetch-methods.ts';
import { BREAKER, probeAt } from '../../../crawl/politeness/breaker.ts';
import { isAllowed, parseRobots } from '../../../crawl/robots/robots-rules.ts';
import { PRODUCT_TOKEN } from '../../../fetch/user-agent.ts';
import { describeBytes } from '../../../lib/human-units.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { holdSentence } from '../waits/waiting.ts';
import { failureCode, ruleSentence, stopSentence } from './outcome-words.ts';
import { readRecord } from './page-result.ts';

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
  const found = canonicalUrl(job, text);
  const task = await store.findTask(job.id, found.urlKey);
  return task === null ? unseen(store, job, found) : seen(store, { job, found, task, now });
}

/** Jobs that are read at once while the newest one that knows a URL is looked for. */
const JOBS_AT_ONCE = 200;

/**
 * What became of the URL in the newest of the account's jobs that knows it; in the newest job when none does. All jobs are
 * looked through, however many newer ones do not know the URL. Throws NOT_FOUND where there is no job, and INVALID_URL.
 */
export async function whyInNewest(
  store: WhyStore & Pick<JobStore, 'listJobs'>,
  accountId: AccountId,
  text: string,
  { isReadable = () => true, now = Date.now() }: NewestOptions = {},
): Promise<{ readonly job: Job; readonly answer: WhyAnswer }> {
  let newest: Job | undefined;
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await store.listJobs({ accountId, cursor, limit: JOBS_AT_ONCE });
    for (const job of items.filter(isReadable)) {
      newest ??= job;
      const found = canonicalUrl(job, text);
      const task = await store.findTask(job.id, found.urlKey);
      if (task !== null) return { job, answer: await seen(store, { job, found, task, now }) };
    }
    cursor = nextCursor ?? undefined;
    // A store in this process answers within one turn of the event loop: other requests come in between.
    await nextTurn();
  } while (cursor !== undefined);
  if (newest === undefined) throw new ScrapifieError('NOT_FOUND', 'There are no jobs.');
  return { job: newest, answer: await whyOf(store, newest, text, now) };
}

interface NewestOptions {
  /** Whether the caller may see pages of the job; other jobs are passed over. */
  readonly isReadable?: (job: Job) => boolean;
  readonly now?: number;
}

function canonicalUrl(job: Job, text: string): CanonicalUrl {
  const found = createCanonicalizer(job.options.scope)(parseSeed(text));
  if (found === null) throw new ScrapifieError('INVALID_URL', `"${text.slice(0, 200)}" is not a URL.`);
  return found;
}

interface SeenUrl {
  readonly job: Job;
  readonly found: CanonicalUrl;
  readonly task: FoundTask;
  readonly now: number;
}

async function seen(store: WhyStore, { job, found, task, now }: SeenUrl): Promise<WhyAnswer> {
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

/** Everything that is known about one URL of a job. */
export interface WhyFacts extends FoundTask {
  readonly job: Job;
  /** As it was submitted; the task's own URL when it was not. */
  readonly sourceUrl: string;
  readonly page: Page | null;
  readonly record: PageRecord | null;
  /** Its host; null where the URL does not wait for it. */
  readonly host: Pick<HostView, 'key' | 'state'> | null;
  readonly now: number;
}

/** The ledger of one URL as sentences, in the order of events. */
export function whySentences(facts: WhyFacts): string[] {
  const { entry, page, record } = facts;
  return [
    foundSentence(facts),
    ...attemptSentences(entry),
    ...stateSentences(facts),
    ...hostSentences(facts),
    ...(page === null ? [] : pageSentences(page, record)),
    ...(entry.state === 'done' || entry.state === 'failed' ? [] : stoppedSentences(facts)),
  ];
}

const FOUND: Readonly<Record<FoundBy, (on: string) => string>> = {
  seed: () => 'It is a start URL of the job',
  link: (on) => `A link on ${on} led to it`,
  sitemap: (on) => `The sitemap ${on} lists it`,
  redirect: (on) => `${on} redirects to it`,
  canonical: (on) => `${on} names it as its canonical address`,
  robots: (on) => `${on} names it as a sitemap`,
};

function foundSentence({ entry, sourceUrl }: WhyFacts): string {
  const how = FOUND[entry.foundBy](entry.foundOn ?? 'another page');
  const given = sourceUrl === entry.url ? '' : `, submitted as \`${sourceUrl}\``;
  const depth = entry.depth === 0 ? '' : `, ${times(entry.depth, 'link')} away from a start URL`;
  return `${how}${given}${depth}; the job has known it since ${entry.discoveredAt}.`;
}

/** Each attempt with its engine, proxy, identity, reason, response, evidence and cost. */
export function attemptSentences({ url, attempts }: Pick<LedgerEntry, 'url' | 'attempts'>): string[] {
  const host = URL.parse(url)?.host ?? url;
  return attempts.map(
    (attempt, index) => `Attempt ${index + 1}${claimWords(attempt)}: ${attemptWords(attempt, host)}`,
  );
}

/** Empty for an attempt of an earlier version, which recorded no wait. */
function claimWords({ at, ms, waitedMs }: Attempt): string {
  if (waitedMs === undefined) return '';
  const claimedAt = isoTime(Date.parse(at) - ms - waitedMs);
  return ` (claimed at ${claimedAt}, then ${seconds(waitedMs)} for robots.txt, the gate of the host and a free place)`;
}

function attemptWords(attempt: Attempt, host: string): string {
  const { engine, proxyTier, proxyId, identity = 'bot', reason, statusCode, bytes, ms, at, ledOn } = attempt;
  const { evidence, errorCode, outcome, vendor, hasSolver, microcredits = 0 } = attempt;
  const id = proxyId === undefined ? '' : ` (${proxyId})`;
  const way = proxyTier === null ? 'without a proxy' : `through a proxy of tier \`${proxyTier}\`${id}`;
  const who =
    hasSolver === true ? `identity \`${identity}\`, with a solver service` : `identity \`${identity}\``;
  const came =
    statusCode === null ? 'no response' : `status ${statusCode}, ${describeBytes(bytes)} in ${seconds(ms)}`;
  const whose = vendor === undefined ? '' : ` (${vendor})`;
  const result = errorCode === undefined ? `${outcome}${whose}` : `${errorCode}${whose}`;
  return [
    `engine \`${engine}\`, ${way}, ${who}.`,
    `${planSentence(reason, host)} [${reason}]`,
    withStop(`It ended at ${at}: ${came}, ${result}${evidence === undefined ? '' : `: ${evidence}`}`),
    ...(ledOn === true ? ['It led on to another host.'] : []),
    ...(microcredits === 0 ? [] : [`It cost ${times(creditsOf(microcredits), 'credit')}.`]),
  ].join(' ');
}

function stateSentences({ entry, job, readyAt, now }: WhyFacts): string[] {
  const { state, rule, errorCode, finishedAt } = entry;
  const why = ruleSentence(rule, entry, job);
  const because = why === null ? '' : ` ${why} [${rule}]`;
  switch (state) {
    case 'done':
      return [`It was fetched, and its page stored at ${finishedAt}.${because}`];
    case 'failed': {
      const meaning = errorCode === null ? '' : ` ${errorCode}: ${ERRORS[errorCode].meaning}`;
      return [`It was given up at ${finishedAt}.${meaning}${because}`];
    }
    case 'skipped':
      return [`It was skipped.${because}`];
    case 'denied':
      return [`It was not allowed to be fetched.${because}`];
    case 'cancelled':
      return ['The job was cancelled before it was fetched; resuming the job brings it back.'];
    case 'claimed':
      return ['A worker has claimed it and works on it, or waits for the host to admit its request.'];
    case 'waiting':
      if (readyAt !== null && readyAt <= now) {
        return [`It has been due since ${isoTime(readyAt)}, and waits for its turn at its host.${because}`];
      }
      return [`It waits until ${readyAt === null ? 'later' : isoTime(readyAt)}.${because}`];
    case 'ready':
      return ['It waits for its turn at its host.'];
  }
}

/** What the host itself waits for. The breaker does not hold back requests through a proxy of the caller's. */
function hostSentences({ host, job, now }: WhyFacts): string[] {
  if (host === null) return [];
  const { breaker, hold } = host.state;
  const isHeldByBreaker = breaker.phase !== 'closed' && job.options.page.proxy?.url == null;
  const isHeld =
    hold !== undefined && hold.until > now && !isReasonOf(hold.rule, 'breaker.open', 'breaker.probe');
  return [
    ...(isHeld ? [`${holdSentence(hold, host.key)} [${hold.rule}]`] : []),
    ...(isHeldByBreaker ? [breakerSentence(breaker, host.key, now)] : []),
  ];
}

function breakerSentence(breaker: BreakerState, host: string, now: number): string {
  const { window, failuresInARow = 0, openedAt, phase } = breaker;
  const failed = window.filter((isFailure) => isFailure).length;
  const why =
    failuresInARow >= BREAKER.failuresToOpen
      ? `the last ${failuresInARow} requests failed`
      : `${failed} of the last ${times(window.length, 'URL')} failed`;
  const next =
    phase === 'half-open' || probeAt(breaker) <= now
      ? 'One request tries the host now, and all others wait for its answer.'
      : `The host is tried again, with one request, at ${isoTime(probeAt(breaker))}.`;
  return `The circuit breaker of ${host} is open since ${isoTime(openedAt)}, because ${why} (a 5xx, or no answer). ${next} [breaker.open]`;
}

function pageSentences(page: Page, record: PageRecord | null): string[] {
  const { statusCode, contentType, bytes, contentHash, finalUrl, url, duplicateOf, errorMessage } = page;
  const { outcome, evidence, redirects = [] } = record ?? {};
  const sentences: string[] = [];
  if (redirects.length > 0) {
    const hops = redirects.map((hop) => `${hop.url} (${hop.statusCode})`).join(', ');
    sentences.push(`Redirects led from ${hops} to ${finalUrl}.`);
  } else if (finalUrl !== url) sentences.push(`The page came from ${finalUrl}.`);
  if (outcome !== undefined && outcome !== 'ok') {
    sentences.push(
      `The response was classified as ${outcome}${evidence === undefined ? '' : `: ${evidence}`}.`,
    );
  }
  if (errorMessage !== null) sentences.push(withStop(errorMessage));
  if (duplicateOf !== null) sentences.push(`It repeats ${duplicateOf}.`);
  sentences.push(
    contentHash === null
      ? 'No body is stored.'
      : `Its body (status ${statusCode}, ${contentType ?? 'no content type'}, ${describeBytes(bytes)}) is stored ` +
          `under the SHA-256 ${contentHash}.`,
  );
  return sentences;
}

const stoppedSentences = ({ job }: WhyFacts): string[] => {
  const stopped = stopSentence(job);
  return stopped === null ? [] : [`${stopped} [${job.stopReason}]`];
};

const seconds = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
const times = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
const withStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
