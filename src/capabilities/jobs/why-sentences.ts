import { ERRORS } from '../../core/errors/registry.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import { creditsOf } from '../../core/model/credits.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { isReasonOf } from '../../core/model/reasons.ts';
import type { FoundBy, LedgerEntry } from '../../core/model/task.ts';
import type { HostView } from '../../core/ports/host-view.ts';
import type { BreakerState, FoundTask } from '../../core/ports/store.ts';
import { planSentence } from '../../crawl/plan/ladder/fetch-method.ts';
import { BREAKER, probeAt } from '../../crawl/politeness/breaker.ts';
import { describeBytes } from '../../lib/human-units.ts';
import { ruleSentence, stopSentence } from './rule-words.ts';
import { holdSentence } from './waiting.ts';

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
  const claimedAt = iso(Date.parse(at) - ms - waitedMs);
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
        return [`It has been due since ${iso(readyAt)}, and waits for its turn at its host.${because}`];
      }
      return [`It waits until ${readyAt === null ? 'later' : iso(readyAt)}.${because}`];
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
      : `The host is tried again, with one request, at ${iso(probeAt(breaker))}.`;
  return `The circuit breaker of ${host} is open since ${iso(openedAt)}, because ${why} (a 5xx, or no answer). ${next} [breaker.open]`;
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

const iso = (at: number): string => new Date(at).toISOString();
const seconds = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
const times = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
const withStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
