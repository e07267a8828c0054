import type {
  ComparisonOptions,
  PageComparison,
  PageView,
  WatchedPage,
} from '../../extract/diff/compare-pages.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import type { HtmlDiff, HtmlDocument } from '../../extract/diff/html-diff.ts';
import type { JsonDiff } from '../../extract/diff/json-diff.ts';
import { siblingModule } from '../../lib/threads/thread.ts';
import { createThreadLane, type ThreadLane, type ThreadLaneOptions } from './thread-lane.ts';

/** What the thread can be asked, and what it answers. */
export interface DiffTasks {
  pages(given: {
    readonly a: PageView;
    readonly b: PageView;
    readonly rules: DiffRules;
    readonly options: ComparisonOptions;
  }): PageComparison;
  /** Whether one page is the same as any of the others, by the rules: the number of the first one, else null. */
  sameAs(given: {
    readonly page: PageView;
    readonly others: readonly PageView[];
    readonly rules: DiffRules;
  }): number | null;
  /** What the rules leave of a page. */
  watch(given: { readonly page: PageView; readonly rules: DiffRules }): WatchedPage;
  html(given: { readonly a: HtmlDocument; readonly b: HtmlDocument; readonly rules: DiffRules }): HtmlDiff;
  /** Compares two JSON texts, leaving out the ignored fields of their objects. */
  json(given: {
    readonly a: string;
    readonly b: string;
    readonly ignoredFields: readonly string[];
  }): JsonDiff;
}

/** The thread that compares pages. */
export type DiffLane = ThreadLane<DiffTasks>;

export const createDiffLane = (options?: ThreadLaneOptions): DiffLane =>
  createThreadLane('diff', siblingModule('./thread.ts', import.meta.url), options);
