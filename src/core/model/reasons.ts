import { ERRORS, type ErrorCode } from '../errors/registry.ts';
import { HOLD_REASONS, type HoldReason } from './hold-reasons.ts';
import { PLAN_REASONS, type PlanReason } from './plan-reasons.ts';
import type { ReasonSpec } from './reason-spec.ts';
import { type StopReason, TASK_REASONS, type TaskReason } from './task-reasons.ts';

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
