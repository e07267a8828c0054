import type { ComparisonOptions, PageComparison } from '../../extract/diff/compare-pages.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import type { HtmlDiff } from '../../extract/diff/html-diff.ts';
import type { HtmlDocument } from '../../extract/diff/html-document.ts';
import type { JsonDiff } from '../../extract/diff/json-diff.ts';
import type { PageView, WatchedPage } from '../../extract/diff/watched-page.ts';

/** What the thread can be asked, and what it answers. */
export interface DiffTasks {
  readonly pages: {
    readonly given: {
      readonly a: PageView;
      readonly b: PageView;
      readonly rules: DiffRules;
      readonly options: ComparisonOptions;
    };
    readonly found: PageComparison;
  };
  /** Whether one page is the same as any of the others, by the rules: the number of the first one, else null. */
  readonly sameAs: {
    readonly given: {
      readonly page: PageView;
      readonly others: readonly PageView[];
      readonly rules: DiffRules;
    };
    readonly found: number | null;
  };
  /** What the rules leave of a page. */
  readonly watch: {
    readonly given: { readonly page: PageView; readonly rules: DiffRules };
    readonly found: WatchedPage;
  };
  readonly html: {
    readonly given: { readonly a: HtmlDocument; readonly b: HtmlDocument; readonly rules: DiffRules };
    readonly found: HtmlDiff;
  };
  /** Compares two JSON texts, leaving out the ignored fields of their objects. */
  readonly json: {
    readonly given: { readonly a: string; readonly b: string; readonly ignoredFields: readonly string[] };
    readonly found: JsonDiff;
  };
}
