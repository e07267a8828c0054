import type { UrlKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { isReasonOf, whatOf } from '../../core/model/reasons.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import type { SitePage } from '../../core/ports/site-store.ts';
import type { JobStore } from '../../core/ports/store.ts';
import { type Canonicalizer, createCanonicalizer } from '../../crawl/frontier/canonical.ts';
import {
  type Absence,
  absenceByParent,
  incompleteness,
  isWholeCrawl,
  NOT_FOUND_ANYWHERE,
  PARENTS_UNKNOWN,
  scopeDifference,
} from './coverage.ts';

/** Parents of parents that are looked at. */
const MOST_PARENTS = 20;

/** Why URLs are in one of two crawls only. */
export interface Absences {
  keyOf(url: string): UrlKey | null;
  /** Says why the crawl lacks a URL that it never saw; `foundOn` led to the URL in the other crawl. */
  ofUnknown(job: Job, foundOn: string | null, isSeed: boolean): Promise<Absence>;
  /** Says why the crawl lacks a URL that redirects to a page which it has under another URL; null for any other URL. */
  redirectOf(entry: SitePage): Absence | null;
  /** The final URL of the later page, when it is not that of the earlier one; else null. */
  movedTo(before: string, now: string): string | null;
}

export function createAbsences(store: Pick<JobStore, 'findTask'>, previous: Job, current: Job): Absences {
  const canonical: Canonicalizer = createCanonicalizer(current.options.scope);
  const keyOf = (url: string): UrlKey | null => canonical(url)?.urlKey ?? null;
  const otherOf = (job: Job): Job => (job === current ? previous : current);

  const entryOf = async (job: Job, url: string): Promise<LedgerEntry | null> => {
    const urlKey = keyOf(url);
    return urlKey === null ? null : ((await store.findTask(job.id, urlKey))?.entry ?? null);
  };

  async function byParents(job: Job, foundOn: string | null): Promise<Absence> {
    let url = foundOn;
    for (let hops = 0; url !== null && hops < MOST_PARENTS; hops += 1) {
      const parent = await entryOf(job, url);
      const absence = absenceByParent(
        parent === null ? null : readElsewhere(parent),
        job === current ? 'current' : 'previous',
      );
      if (absence !== null) return absence;
      url = (await entryOf(otherOf(job), url))?.foundOn ?? null;
    }
    return PARENTS_UNKNOWN;
  }

  return {
    keyOf,
    async ofUnknown(job, foundOn, isSeed) {
      const isSeedOnly = isSeed && foundOn === null;
      const early = incompleteness(job) ?? scopeDifference(job, otherOf(job));
      if (early !== null) return early;
      if (isWholeCrawl(job)) return NOT_FOUND_ANYWHERE;
      return isSeedOnly ? PARENTS_UNKNOWN : byParents(job, foundOn);
    },
    redirectOf({ rule }) {
      const target = whatOf(rule, 'duplicate.redirect');
      if (target === null) return null;
      return {
        isProven: true,
        code: 'redirected',
        message: `It redirects to ${target}, which has a row of its own.`,
      };
    },
    movedTo(before, now) {
      const [old, target] = [keyOf(before), keyOf(now)];
      return old === null || target === null || old === target ? null : now;
    },
  };
}

/** A parent that is stored under another URL was read, and one that is gone leads nowhere. */
function readElsewhere(parent: LedgerEntry): LedgerEntry {
  const isDuplicate =
    parent.state === 'skipped' && isReasonOf(parent.rule, 'duplicate.redirect', 'duplicate.canonical');
  const status = parent.attempts.at(-1)?.statusCode ?? null;
  const isGone = parent.state === 'failed' && (status === 404 || status === 410);
  return isDuplicate || isGone ? { ...parent, state: 'done' } : parent;
}
