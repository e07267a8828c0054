import { ERRORS, type ErrorCode } from '../errors/registry.ts';
import type { ReasonSpec, ReasonsOf } from './reason-spec.ts';
import { type StopReason, TASK_REASONS, type TaskReason } from './task-reasons.ts';

/** Why the gate of a host admits no request now. */
export const HOLD_REASONS = {
  'hours.closed': { words: 'The policy allows the host only in certain hours.', code: 'OUTSIDE_HOURS' },
  'rate.retry-after': { words: 'The host has asked for a pause (Retry-After).', code: 'HOST_RATE_LIMITED' },
  'breaker.open': { words: 'The host failed too often.', code: 'CIRCUIT_OPEN' },
  'breaker.probe': {
    words: 'One request tries the host, and all others wait for its answer.',
    code: 'CIRCUIT_OPEN',
  },
  'concurrency.host': { words: 'As many requests as the policy allows at once are under way.' },
  'rate.crawl-delay': {
    words: 'The robots.txt of the host asks for a pause between requests (Crawl-delay).',
    holdWords:
      'The robots.txt of {host} asks for a pause between requests (Crawl-delay); the next one is sent at {at}.',
    code: 'HOST_RATE_LIMITED',
  },
  'rate.min-delay': {
    words: 'The policy asks for a pause between requests.',
    holdWords: 'The policy for {host} asks for a pause between requests; the next one is sent at {at}.',
    code: 'HOST_RATE_LIMITED',
  },
  'rate.bucket': {
    words: 'The policy sets a rate for the host.',
    holdWords: 'The policy for {host} sets a rate at which the next request is sent at {at}.',
    code: 'HOST_RATE_LIMITED',
  },
} as const satisfies Readonly<Record<string, ReasonSpec>>;

export type HoldReason = ReasonsOf<typeof HOLD_REASONS>;

/** Why an attempt was made the way it was made, or why no further one was. */
export const PLAN_REASONS = {
  'cache.hit': {
    words: 'A page that is stored already answers it, as `maxAge` allows; no request was sent.',
  },
  'plan.cheapest': { words: 'It is the cheapest way to fetch a page.' },
  'plan.requested': { words: 'The request names this engine.' },
  'plan.needs': { parameter: 'text', words: 'The options of the request need {quoted}.' },
  'plan.remembered': { words: 'This way has worked on {host} before.' },
  'plan.probe': { words: 'A cheaper way is tried now and then, in case {host} has changed.' },
  'plan.retry': { parameter: 'text', words: 'The attempt before ended with {what}, which may pass.' },
  'plan.render': {
    parameter: 'text',
    words: 'The page is empty without its scripts, so a browser renders it.',
  },
  'plan.escalate': {
    parameter: 'text',
    words: '{host} refused the attempt before ({what}), so a dearer way is tried.',
  },
  'plan.solve': { parameter: 'text', words: 'A solver service is asked about the {what}.' },
  'plan.none': { words: 'No way had been chosen yet.' },
  'plan.over': { parameter: 'end', words: 'The attempt settles it ({what}).' },
  'plan.attempts-spent': { parameter: 'count', words: 'All {what} attempts are used up.' },
  'plan.way-gone': {
    parameter: 'text',
    words: 'The attempt before ended with {what}, and its way is no longer there.',
  },
  'plan.nothing-left': { parameter: 'text', words: 'No other way is left ({what}).' },
  'plan.no-proxy-tier': {
    parameter: 'text',
    words: 'There is no proxy of the tier `{what}` here (SCRAPIFIE_PROXY_FILE).',
    wordsFor: { any: 'No proxies are set up here (SCRAPIFIE_PROXY_FILE).' },
  },
  'plan.no-engine': {
    parameter: 'text',
    words: 'The engine `{what}` is not installed here.',
    wordsFor: { auto: 'No engine is installed here.' },
  },
  'plan.not-allowed': {
    parameter: 'text',
    words: 'The policy for {host} does not allow engine `{what}`.',
    wordsFor: { auto: 'The policy for {host} allows no engine that is installed here.' },
  },
  'plan.cannot': {
    parameter: 'text',
    words: 'No engine that the policy for {host} allows can do this: {quoted}.',
  },
  'plan.no-identity': { parameter: 'text', words: 'No engine here can present the identity `{what}`.' },
  'plan.consent-required': {
    parameter: 'text',
    words: 'The policy for {host} does not consent to {quoted}.',
  },
  'plan.no-worker': {
    parameter: 'text',
    words: 'No process that runs the engine {quoted} answers at the moment.',
  },
} as const satisfies Readonly<Record<string, ReasonSpec>>;

export type PlanReason = ReasonsOf<typeof PLAN_REASONS>;

/**
 * The one registry of reasons: why a URL was treated as it was (`rule` of the ledger), why a job ended early (`stopReason`), why an
 * attempt was made as it was (`reason`), and what a host is held by. A reason is stored and shown as its name, with what it names
 * behind it: `scope.exclude:/admin/`. Keys that may read a job see all of its reasons.
 */
const REASONS = { ...TASK_REASONS, ...PLAN_REASONS, ...HOLD_REASONS };

export type ReasonName = keyof typeof REASONS;
export type { StopReason };
/** A text that is a reason; every other text does not compile. */
export type Reason = TaskReason | PlanReason | HoldReason;
/** What decided of a URL, as the ledger has it. */
export type LedgerReason = TaskReason | PlanReason;
/** Why an attempt was made. The store refused what the last one brought where that is the reason. */
export type AttemptReason = PlanReason | 'store.refused';

export const REASON_NAMES = Object.keys(REASONS) as ReasonName[];
export const reasonSpec = (name: ReasonName): ReasonSpec => REASONS[name];

/** A reason that was read: its name, and what it names; null for a reason that names nothing. */
export interface ReadReason {
  readonly name: ReasonName;
  readonly what: string | null;
  /** True when the reason speaks of the URL that a redirect led to. */
  readonly isRedirected: boolean;
}

const REDIRECTED = ' (redirect)';
/** What each name with a parameter begins with; the longest first, so that `robots` does not stand for `robots.unreachable`. */
const BEGINNINGS = REASON_NAMES.filter((name) => reasonSpec(name).parameter !== undefined)
  .map((name) => [`${name}${reasonSpec(name).separator ?? ':'}`, name] as const)
  .sort(([a], [b]) => b.length - a.length);

/** Returns null for a text that is no reason of this version. The name alone is read as well, without its parameter. */
export function readReason(text: string): ReadReason | null {
  const isRedirected = text.endsWith(REDIRECTED);
  const reason = isRedirected ? text.slice(0, -REDIRECTED.length) : text;
  if (Object.hasOwn(REASONS, reason)) return { name: reason as ReasonName, what: null, isRedirected };
  const [beginning, name] = BEGINNINGS.find(([each]) => reason.startsWith(each)) ?? [];
  return beginning === undefined || name === undefined
    ? null
    : { name, what: reason.slice(beginning.length), isRedirected };
}

/** What a stored reason of this name names; null for every other reason, and for one that names nothing. */
export function whatOf(text: string | null, name: ReasonName): string | null {
  const read = text === null ? null : readReason(text);
  return read?.name === name ? read.what : null;
}

/** True for a reason of one of these names, whatever it names. */
export function isReasonOf(text: string | null, ...names: readonly ReasonName[]): boolean {
  const read = text === null ? null : readReason(text);
  return read !== null && names.includes(read.name);
}

/** The code that the reason names, or that stands for it; null when no code does. */
export function codeOfReason(text: string): ErrorCode | null {
  const read = readReason(text);
  if (read === null) return null;
  const { namesCode, code } = reasonSpec(read.name);
  if (namesCode === true && Object.hasOwn(ERRORS, read.what ?? '')) return read.what as ErrorCode;
  return code ?? null;
}

const namesWith = (has: (spec: ReasonSpec) => boolean): ReasonName[] =>
  REASON_NAMES.filter((name) => has(reasonSpec(name)));

/** For the stores: a URL that one of these keeps out becomes ready when another way leads to it. */
export const PROVISIONAL_REASONS: ReadonlySet<string> = new Set(
  namesWith(({ isProvisional }) => isProvisional === true),
);
/** For the stores: URLs that one of these skipped are ready again when their job is resumed. */
export const UNDONE_BY_RESUME: readonly string[] = namesWith(
  ({ isUndoneByResume }) => isUndoneByResume === true,
);
