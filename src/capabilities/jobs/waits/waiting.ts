import type { ErrorCode } from '../../../core/errors/registry.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey, JobId } from '../../../core/model/ids.ts';
import { fillWords } from '../../../core/model/reason-spec.ts';
import { codeOfReason, readReason, reasonSpec } from '../../../core/model/reasons.ts';
import type { HostHold } from '../../../core/ports/host-store.ts';
import type { TaskWait } from '../../../core/ports/job-store.ts';

/** What open URLs of a job wait for. */
export interface Waiting {
  readonly host: HostKey;
  readonly code: ErrorCode;
  readonly message: string;
  /** When they may go on, by what is known now. */
  readonly until: number;
  /** How many URLs; of a large job, among its first and last thousand. */
  readonly tasks: number;
}

/** Entries of one answer. */
const MOST_SHOWN = 20;

/** What the sentence says the URLs of a host wait for; other codes wait for their next attempt. */
const SENTENCES: Readonly<Partial<Record<ErrorCode, (host: string, at: string) => string>>> = {
  HOST_RATE_LIMITED: (host, at) => `${host} asked to wait until ${at}.`,
  CIRCUIT_OPEN: (host, at) => `${host} failed too often; the next request is sent at ${at}.`,
  OUTSIDE_HOURS: (host, at) => `The policy for ${host} allows no requests before ${at}.`,
  NO_HEALTHY_PROXY: (host, at) => `No proxy can be used for ${host} before ${at}.`,
  ROBOTS_UNREACHABLE: (host, at) =>
    `The robots.txt of ${host} could not be read; it is requested again at ${at}.`,
  NO_WORKER: (_host, at) =>
    `No render worker that the page needs is running; the page waits for one and is looked at again at ${at}.`,
  BROWSER_UNAVAILABLE: (_host, at) => `No browser can be started here; the page is tried again at ${at}.`,
  BROWSERS_BUSY: (_host, at) => `All browsers are busy; the page is tried again at ${at}.`,
};

const otherwise = (code: ErrorCode) => (host: string, at: string) =>
  `The last attempt on ${host} ended with ${code}; the next one is made at ${at}.`;

function sentenceOf(code: ErrorCode, rule: string | null, host: HostKey, until: number): string {
  const at = new Date(until).toISOString();
  const read = rule === null ? null : readReason(rule);
  const words = read === null ? undefined : reasonSpec(read.name).holdWords;
  return words === undefined
    ? (SENTENCES[code] ?? otherwise(code))(host, at)
    : fillWords(words, { host: () => host, at: () => at });
}

/** Why the host is held, and until when. */
export const holdSentence = ({ rule, until }: HostHold, host: HostKey): string =>
  sentenceOf(codeOfReason(rule) ?? 'HOST_RATE_LIMITED', rule, host, until);

/** What one entry of the store waits for; null when its URLs are under way or due. */
function waitingOf(wait: TaskWait, now: number): Waiting | null {
  if (wait.state === 'claimed') return null;
  const { hostKey: host, tasks, readyAt, heldUntil, hold } = wait;
  // The host is offered again before its hours begin, only to look at the policy again.
  const held = heldUntil === null ? 0 : Math.max(heldUntil, hold?.until ?? 0);
  const until = Math.max(held, readyAt ?? 0);
  if (until <= now) return null;
  const rule = held >= (readyAt ?? 0) ? (hold?.rule ?? wait.rule) : wait.rule;
  const code = (rule === null ? null : codeOfReason(rule)) ?? 'HOST_RATE_LIMITED';
  return { host, code, message: sentenceOf(code, rule, host, until), until, tasks };
}

/** What the open URLs of a job wait for, the entry with the most URLs first. */
export function waitingFor(waits: readonly TaskWait[], now: number): readonly Waiting[] {
  const byCause = new Map<string, Waiting>();
  for (const wait of waits) {
    const found = waitingOf(wait, now);
    if (found === null) continue;
    const key = `${found.host} ${found.code}`;
    const known = byCause.get(key);
    // When retries are due at different times, the job goes on at the first of them.
    const first = known === undefined || found.until < known.until ? found : known;
    byCause.set(key, { ...first, tasks: found.tasks + (known?.tasks ?? 0) });
  }
  return [...byCause.values()].toSorted((a, b) => b.tasks - a.tasks).slice(0, MOST_SHOWN);
}

/** Codes for which a caller is told at once, however soon the next attempt is: a browser is not free any sooner. */
const TOLD_AT_ONCE: ReadonlySet<ErrorCode> = new Set(['BROWSERS_BUSY']);

/**
 * What keeps a job from ending within the caller's time: the wait of its open URLs that ends first. Null when a URL is
 * under way, is due, or may go on within `withinMs`.
 */
export function hopelessWait(waits: readonly TaskWait[], now: number, withinMs: number): Waiting | null {
  let first: Waiting | null = null;
  for (const wait of waits) {
    const found = waitingOf(wait, now);
    if (found === null) return null;
    if (first === null || found.until < first.until) first = found;
  }
  if (first === null) return null;
  return first.until - now > withinMs || TOLD_AT_ONCE.has(first.code) ? first : null;
}

/** The answer to a caller whose job cannot end in time. */
export function hopelessError({ host, code, message, until }: Waiting, jobId: JobId, now: number) {
  return new ScrapifieError(code, message, {
    retryAfterMs: Math.max(0, until - now),
    details: { jobId, host, until: new Date(until).toISOString() },
  });
}
