import { type JobKind, traitsOfKind } from './job-kinds.ts';

/** What decides whose turn a task is: its account, and within that its job, or that it is a single scrape. */
export interface Queued {
  readonly accountId: string;
  readonly jobSeq: number;
  /** Single scrapes of an account share one line; each other job has a line of its own. */
  readonly isScrape: boolean;
}

/** Which accounts and jobs a host has served last, as far as the next turn depends on it. */
export interface Turns {
  /** The account that was served last; null: none yet. */
  readonly account: string | null;
  /** For each account the last of its jobs that was served, and whether its last turn was a single scrape's. */
  readonly lines: Readonly<Record<string, Line>>;
}

/** `job` is 0 while no job but single scrapes was served. */
type Line = readonly [job: number, wasScrape: boolean];

export const NO_TURNS: Turns = { account: null, lines: {} };
const NO_LINE: Line = [0, false];
/** A host state keeps so many lines, those that were served last. */
const MOST_LINES = 64;

export const lineOf = ({ lines }: Turns, account: string): Line => lines[account] ?? NO_LINE;

/**
 * Below zero when the first of two waiting tasks has its turn before the second.
 *
 * Accounts take turns, in the order of their ids, beginning after the one that was served last. So between two requests of
 * an account that waits, each other account has one at most, however many tasks and jobs it has. The turns of an account
 * alternate between its single scrapes and its other jobs, where it has both, and its other jobs take turns among
 * themselves. Within a line the caller's order holds.
 */
export function compareTurns(one: Queued, other: Queued, turns: Turns): number {
  if (one.accountId !== other.accountId) {
    const { account } = turns;
    return byCircle(one.accountId, other.accountId, account);
  }
  const [job, wasScrape] = lineOf(turns, one.accountId);
  if (one.isScrape !== other.isScrape) return one.isScrape === wasScrape ? 1 : -1;
  return one.isScrape ? 0 : byCircle(one.jobSeq, other.jobSeq, job);
}

/** Ascending, beginning after `last` and going on from the lowest. */
function byCircle<T extends string | number>(one: T, other: T, last: T | null): number {
  if (one === other) return 0;
  const isOneNext = last === null || one > last;
  const isOtherNext = last === null || other > last;
  if (isOneNext !== isOtherNext) return isOneNext ? -1 : 1;
  return one < other ? -1 : 1;
}

function isSameLine(one: Queued, other: Queued): boolean {
  if (one.accountId !== other.accountId || one.isScrape !== other.isScrape) return false;
  return one.isScrape || one.jobSeq === other.jobSeq;
}

/** After a task was served. */
export function turnsAfter(turns: Turns, { accountId, jobSeq, isScrape }: Queued): Turns {
  const [job, wasScrape] = lineOf(turns, accountId);
  const next = isScrape ? job : jobSeq;
  if (turns.account === accountId && next === job && wasScrape === isScrape) return turns;
  const { [accountId]: _, ...others } = turns.lines;
  const kept = Object.entries(others).slice(1 - MOST_LINES);
  return { account: accountId, lines: { ...Object.fromEntries(kept), [accountId]: [next, isScrape] } };
}

/** The tasks in the order of their turns. */
export function inTurn<T extends Queued>(tasks: readonly T[], turns: Turns): T[] {
  const lines: T[][] = [];
  for (const task of tasks) {
    const line = lines.find(([first]) => first !== undefined && isSameLine(first, task));
    if (line === undefined) lines.push([task]);
    else line.push(task);
  }
  const ordered: T[] = [];
  let after = turns;
  const positions = lines.map(() => 0);
  while (ordered.length < tasks.length) {
    let best: T | null = null;
    let bestAt = -1;
    for (const [at, line] of lines.entries()) {
      const next = line[positions[at] ?? 0];
      if (next === undefined) continue;
      if (best === null || compareTurns(next, best, after) < 0) [best, bestAt] = [next, at];
    }
    if (best === null) break;
    positions[bestAt] = (positions[bestAt] ?? 0) + 1;
    ordered.push(best);
    after = turnsAfter(after, best);
  }
  return ordered;
}

/** What each doubling of a job's size costs it. */
const DELAY_PER_DOUBLING_MS = 15_000;
/** The most a job can be put off: reached at about a million tasks. */
export const MAX_RANK_DELAY_MS = 300_000;

/**
 * The moment (epoch milliseconds, a whole number) at which a task is due for service. Hosts that wait for a worker are taken by
 * their best rank, and of one job the task with the lowest is served first; between accounts and jobs on one host `turns.ts`
 * decides.
 *
 * Jobs of an urgent kind, which are single scrapes, are due at once, before everything else: a client waits for the answer. All others are due the
 * later, the larger their job: of jobs that came together the smaller goes first. Because the delay has a maximum,
 * whatever comes more than MAX_RANK_DELAY_MS after a task is behind it, however small its job, so no stream of
 * small jobs can hold a large one up for longer than that.
 *
 * `size` is how many tasks the job is expected to have, Infinity when unknown; `now` is when the task was found.
 */
export function rankOf(job: { readonly kind: JobKind; readonly size: number }, now: number): number {
  if (traitsOfKind(job.kind).isUrgent) return 0;
  const delayMs = DELAY_PER_DOUBLING_MS * Math.log2(1 + Math.max(0, job.size));
  return Math.round(now + Math.min(delayMs, MAX_RANK_DELAY_MS));
}
