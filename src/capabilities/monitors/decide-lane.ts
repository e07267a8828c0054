import type { ChangeRules, PageState } from '../../core/model/monitor.ts';
import type { PageComparison } from '../../extract/diff/compare-pages.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { siblingModule } from '../../lib/threads/thread.ts';
import { createThreadLane, type ThreadLane, type ThreadLaneOptions } from '../compare/thread-lane.ts';
import type { Decision, Observation } from './decide-change.ts';

type Threshold = Pick<DiffRules, 'threshold'>;

/** What the thread that decides can be asked, and what it answers. */
export interface DecideTasks {
  /** What a check means for a page, as `decideChange`. */
  decide(given: {
    readonly state: PageState;
    readonly observation: Observation;
    readonly rules: ChangeRules;
    readonly diff: Threshold;
  }): Decision;
  /** Calls `compareContents` in the thread. */
  compare(given: {
    readonly before: readonly string[];
    readonly after: readonly string[];
    readonly diff: Threshold;
  }): PageComparison;
  fingerprint(given: Pick<PageState, 'baseline' | 'slots'>): string;
}

export type DecideLane = ThreadLane<DecideTasks>;

/** No page that people read takes a second. */
const LIMIT_MS = 20_000;

/** A thread of its own for all work on the lines of pages, which strangers wrote: it must never hold up the program. */
export const createDecideLane = (options: ThreadLaneOptions = { limitMs: LIMIT_MS }): DecideLane =>
  createThreadLane('monitors', siblingModule('./thread.ts', import.meta.url), options);
