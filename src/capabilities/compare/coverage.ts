import { ERRORS } from '../../core/errors/registry.ts';
import type { UrlKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import { isReasonOf, whatOf } from '../../core/model/reasons.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import type { SitePage } from '../../core/ports/job-pages-store.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { type Canonicalizer, createCanonicalizer } from '../../crawl/frontier/canonical.ts';
import { ruleSentence, stopSentence } from '../jobs/results/outcome-words.ts';
import type { MissingReason } from './site-change.ts';

/** What a crawl says about a URL of which it has no page. */
export interface Absence {
  /** True: the crawl proves that the page is not there. False: it says nothing about the page. */
  readonly isProven: boolean;
  readonly code: string;
  readonly message: string;
}

const proven = (code: string, message: string): Absence => ({ isProven: true, code, message });
const unknown = (code: string, message: string): Absence => ({ isProven: false, code, message });

const GONE: ReadonlySet<number | null> = new Set([404, 410]);

/** What the crawl says about a URL that it knows and has no real page of. */
export function absenceOfKnown(entry: SitePage, outcome: string | undefined, job: Job): Absence {
  const { state, rule, errorCode, page } = entry;
  if (state === 'failed' && GONE.has(page?.statusCode ?? null))
    return proven(`http-${page?.statusCode}`, `The host answered with status ${page?.statusCode}.`);
  switch (state) {
    case 'done':
      return unknown(`page:${outcome ?? 'none'}`, pageSentence(outcome));
    case 'failed':
      return unknown(`failed:${errorCode ?? 'INTERNAL'}`, ERRORS[errorCode ?? 'INTERNAL'].meaning);
    case 'denied':
    case 'skipped':
      return unknown(codeOfRule(rule), ruleSentence(rule, { ...entry, depth: 0 }, job) ?? 'It was left out.');
    case 'cancelled':
      return unknown('job-cancelled', 'The job was cancelled before it was fetched.');
    default:
      return unknown('job-running', 'The job has not fetched it yet.');
  }
}

/** Without what follows a colon, which may be any text. */
const codeOfRule = (rule: string | null): string => (rule ?? 'left-out').split(/[: ]/, 1)[0] ?? 'left-out';

const PAGE_SENTENCES: Readonly<Record<string, string>> = {
  'soft-404': 'The host answered with a page that says that there is none.',
  'login-wall': 'The host asked to log in.',
  empty: 'The host answered with an empty page.',
  'needs-javascript': 'The host answered with a page that scripts have to fill.',
  blocked: 'The host showed a block page.',
  captcha: 'The host showed a challenge.',
};

const pageSentence = (outcome: string | undefined): string =>
  PAGE_SENTENCES[outcome ?? ''] ?? 'What the host answered is no page.';

/** Whether the crawl got to its end within its scope; null when it did. */
export function incompleteness(job: Job): Absence | null {
  if (job.status === 'cancelled' && job.stopReason === null)
    return unknown('job-cancelled', 'The job was cancelled before its end.');
  if (job.stopReason !== null)
    return unknown(`job-stopped:${job.stopReason}`, stopSentence(job) ?? 'The job stopped early.');
  if (job.finishedAt === null) return unknown('job-running', 'The job has not ended yet.');
  if (job.status === 'failed') return unknown('job-failed', 'The job could fetch nothing.');
  return null;
}

/** Whether both crawls look for pages in the same way, so that what one finds the other would find; null when they do. */
export function scopeDifference(one: Job, other: Job): Absence | null {
  if (!traitsOfKind(one.kind).isOfSite || !traitsOfKind(other.kind).isOfSite)
    return unknown('not-requested', 'It is not among the URLs of the job, which follows no links.');
  const startsOf = ({ seeds }: Job): string => JSON.stringify([...seeds].sort());
  const isSame =
    startsOf(one) === startsOf(other) &&
    JSON.stringify(one.options.scope) === JSON.stringify(other.options.scope);
  if (isSame) return null;
  return unknown('other-scope', 'The two jobs start at other URLs, or follow links by other rules.');
}

/** A page or sitemap that led to the URL in one crawl, as the other crawl has it. */
type ParentEntry = Pick<LedgerEntry, 'url' | 'kind' | 'state' | 'errorCode'>;

/**
 * What follows for a URL that the crawl does not know from the parent of it; null when the parent is not known either.
 * `crawl` is the one without the URL.
 */
export function absenceByParent(parent: ParentEntry | null, crawl: MissingReason['crawl']): Absence | null {
  if (parent === null) return null;
  const name = `${parent.kind === 'sitemap' ? 'sitemap' : 'page'} ${parent.url}`;
  const [elsewhere, here] =
    crawl === 'previous'
      ? ['which leads to it in the later crawl', 'led']
      : ['which led to it in the earlier crawl', 'leads'];
  if (parent.state === 'done')
    return proven(
      'not-linked',
      `Neither the ${name}, ${elsewhere}, nor another page that was read ${here} to it.`,
    );
  const why = parent.errorCode === null ? parent.state : `${parent.state}, ${parent.errorCode}`;
  const code = parent.kind === 'sitemap' ? 'sitemap-not-read' : 'parent-not-read';
  return unknown(code, `The ${name}, ${elsewhere}, was not read (${why}).`);
}

/** No other page was left unread, so that none of them can lead to the URL. */
function isWholeCrawl({ counters: { failed, denied, cancelled, open } }: Job): boolean {
  return failed + denied + cancelled + open === 0;
}

const NOT_FOUND_ANYWHERE = proven('not-linked', 'No page and no sitemap of the crawl leads to it.');
const PARENTS_UNKNOWN = unknown(
  'parent-not-read',
  'Some pages of the crawl could not be read, and one of them may lead to it.',
);

/** Parents of parents that are looked at. */
const MOST_PARENTS = 20;

/** Why URLs are in one of two crawls only. */
interface Absences {
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
