import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId, UrlKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { isReasonOf } from '../../core/model/reasons.ts';
import type { SitePage, SiteStore } from '../../core/ports/job-pages-store.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { changedNames, type PageComparison, withoutBytes } from '../../extract/diff/compare-pages.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { type Absence, absenceOfKnown, createAbsences } from './coverage.ts';
import { type MovedPages, orderOf } from './moved-pages.ts';
import type { PageComparer } from './page-comparer.ts';
import { type EarlierVersions, isComparable, type KnownPage, knownPage, readPage } from './page-version.ts';
import type { MissingReason, SiteChange } from './site-change.ts';

export type SiteCompareStore = SiteStore & Pick<JobStore, 'findTask'>;

export interface SiteComparison {
  readonly previous: Job;
  readonly current: Job;
  readonly rules: DiffRules;
  readonly moved: MovedPages;
  /** Begins behind this URL. */
  readonly after?: UrlKey | undefined;
}

/** A URL that was looked at; null where neither crawl has a page of it. */
export interface SiteStep {
  readonly urlKey: UrlKey;
  readonly change: SiteChange | null;
}

/** Rows of one crawl in memory. */
const ROWS_AT_ONCE = 50;
const TEXT_OPTIONS = { by: 'word', contextChars: 60, shownChars: 4_000 } as const;

/**
 * Compares two crawls URL by URL, in the order of their keys, with a few pages of each in memory. The order is the same
 * whenever it is asked for, so a comparison can go on where another one ended.
 */
export async function* compareSites(
  store: SiteCompareStore,
  comparer: PageComparer,
  earlier: EarlierVersions,
  { previous, current, rules, moved, after }: SiteComparison,
): AsyncGenerator<SiteStep> {
  const absences = createAbsences(store, previous, current);

  async function pageWithKey(jobId: JobId, urlKey: UrlKey): Promise<KnownPage | null> {
    const [entry] = await store.listSitePages({ jobId, urlKeys: [urlKey], limit: 1 });
    return realPage(entry);
  }

  /** The page of an entry; where it was stored under the URL that redirects to it, that page. */
  async function pageOf(entry: SitePage | undefined, job: Job): Promise<KnownPage | null> {
    const own = realPage(entry);
    if (own !== null || entry === undefined || entry.foundOn === null) return own;
    if (entry.rule !== 'duplicate.redirect' && !isReasonOf(entry.rule, 'duplicate.canonical')) return null;
    const urlKey = absences.keyOf(entry.foundOn);
    return urlKey === null ? null : pageWithKey(job.id, urlKey);
  }

  const timesOf = (a: KnownPage | null, b: KnownPage | null) => ({
    previousAt: a?.side.fetchedAt ?? null,
    currentAt: b?.side.fetchedAt ?? endOf(current),
  });

  function changeOf(url: string, a: KnownPage | null, b: KnownPage | null): SiteChange {
    return {
      type: 'UNCHANGED',
      url,
      previousUrl: null,
      previous: a?.side ?? null,
      current: b?.side ?? null,
      ...timesOf(a, b),
      reason: null,
      changed: [],
      comparison: null,
    };
  }

  async function compared(
    url: string,
    a: KnownPage,
    b: KnownPage,
    previousUrl: string | null,
  ): Promise<SiteChange> {
    const change = { ...changeOf(url, a, b), previousUrl };
    const found = await comparisonOf(a, b);
    if ('code' in found) return { ...change, type: 'NOT_COVERED', reason: found };
    const { picture, ...rest } = found;
    const comparison = { ...rest, picture: picture === null ? null : withoutBytes(picture) };
    const isReverted = found.isChanged && previousUrl === null && (await isEarlier(url, a, b));
    const type =
      previousUrl !== null ? 'MOVED' : isReverted ? 'REVERTED' : found.isChanged ? 'MODIFIED' : 'UNCHANGED';
    return { ...change, type, changed: changedNames(found), comparison };
  }

  /** One page that cannot be compared is no reason to end the comparison of all others. */
  async function comparisonOf(a: KnownPage, b: KnownPage): Promise<PageComparison | MissingReason> {
    try {
      const found = await comparer.compare(a.version, b.version, rules, TEXT_OPTIONS);
      if (found !== null) return found;
    } catch (error) {
      if (!isScrapifieError(error) || error.code !== 'EXTRACTION_FAILED') throw error;
      return { crawl: 'current', code: 'not-comparable', message: error.message };
    }
    const crawl = a.version.contentHash === null ? 'previous' : 'current';
    return { crawl, code: 'body-gone', message: 'The body or the picture of one of the pages is not there.' };
  }

  async function isEarlier(url: string, a: KnownPage, b: KnownPage): Promise<boolean> {
    const versions = await earlier(current.accountId, url, a.side.fetchedAt);
    const others = versions.map(({ version }) => version);
    return others.length > 0 && (await comparer.findSame(b.version, others, rules)) !== null;
  }

  /** A page that the crawl before has no page of: compared with what was seen last before it, where that is known. */
  async function came(url: string, now: KnownPage, absence: Absence): Promise<SiteChange> {
    if (absence.isProven) return missing(url, null, now, absence);
    const [known] = await earlier(current.accountId, url, now.side.fetchedAt);
    return known === undefined ? missing(url, null, now, absence) : compared(url, known, now, null);
  }

  function missing(url: string, a: KnownPage | null, b: KnownPage | null, absence: Absence): SiteChange {
    const { isProven, code, message } = absence;
    const crawl = a === null ? 'previous' : 'current';
    const type = !isProven ? 'NOT_COVERED' : crawl === 'previous' ? 'ADDED' : 'REMOVED';
    const told = `${crawl === 'previous' ? 'Earlier' : 'Later'} crawl: ${message}`;
    return { ...changeOf(url, a, b), type, reason: { crawl, code, message: told } };
  }

  async function step(a: SitePage | undefined, b: SitePage | undefined): Promise<SiteChange | null> {
    const url = a?.url ?? b?.url ?? '';
    const urlKey = a?.urlKey ?? b?.urlKey;
    if (urlKey !== undefined && moved.old.has(urlKey)) return null;
    const movedFrom = urlKey === undefined ? undefined : moved.from.get(urlKey);
    // A URL without a page of its own is listed only where the other crawl has one.
    const [ownA, ownB] = [realPage(a), realPage(b)];
    const before = ownA ?? (ownB === null ? null : await pageOf(a, previous));
    const now = ownB ?? (ownA === null ? null : await pageOf(b, current));
    if (now !== null && movedFrom !== undefined) {
      const old = await pageWithKey(previous.id, movedFrom);
      if (old !== null) return compared(url, old, now, old.url);
    }
    if (before !== null && now !== null) {
      const to = absences.movedTo(before.side.finalUrl, now.side.finalUrl);
      return to === null ? compared(url, before, now, null) : movedOrChanged(url, to, before, now);
    }
    if (before !== null) return missing(url, before, null, await absenceIn(current, b, a));
    if (now !== null) return came(url, now, await absenceIn(previous, a, b));
    return null;
  }

  /**
   * A URL that redirects in one of the crawls, or elsewhere: when the content is the same it has moved from where it was
   * read before, unless that is a page still; else the redirect is among the changes.
   */
  async function movedOrChanged(url: string, to: string, a: KnownPage, b: KnownPage): Promise<SiteChange> {
    const change = await compared(url, a, b, null);
    if (change.type === 'UNCHANGED') {
      const from = a.side.finalUrl;
      const fromKey = absences.keyOf(from);
      const isElsewhere = fromKey !== null && fromKey !== absences.keyOf(url);
      const still = isElsewhere ? await pageWithKey(current.id, fromKey) : null;
      return still !== null ? change : { ...change, type: 'MOVED', url: to, previousUrl: from };
    }
    return { ...change, changed: [...change.changed, 'final_url'] };
  }

  /** Why the page of one crawl is not in the other. */
  function absenceIn(
    job: Job,
    entry: SitePage | undefined,
    other: SitePage | undefined,
  ): Promise<Absence> | Absence {
    if (entry === undefined)
      return absences.ofUnknown(job, other?.foundOn ?? null, other?.foundBy === 'seed');
    const redirect = absences.redirectOf(entry);
    if (redirect !== null) return redirect;
    const outcome = entry.page === null ? undefined : readPage(entry.page).outcome;
    return absenceOfKnown(entry, outcome, job);
  }

  const before = eachSitePage(store, previous.id, after);
  const behind = eachSitePage(store, current.id, after);
  let [one, other] = [await before.next(), await behind.next()];
  while (one.done !== true || other.done !== true) {
    const order = orderOf(one.value?.urlKey, other.value?.urlKey);
    const a = order <= 0 ? one.value : undefined;
    const b = order >= 0 ? other.value : undefined;
    const urlKey = (a ?? b)?.urlKey;
    if (urlKey !== undefined) yield { urlKey, change: await step(a, b) };
    if (order <= 0) one = await before.next();
    if (order >= 0) other = await behind.next();
  }
}

async function* eachSitePage(
  store: SiteStore,
  jobId: JobId,
  from: UrlKey | undefined,
): AsyncGenerator<SitePage, undefined> {
  for (let after = from; ; ) {
    const pages = await store.listSitePages({ jobId, after, limit: ROWS_AT_ONCE });
    yield* pages;
    after = pages.at(-1)?.urlKey;
    if (pages.length < ROWS_AT_ONCE) return undefined;
  }
}

function realPage(entry: SitePage | undefined): KnownPage | null {
  if (entry === undefined || entry.state !== 'done' || entry.page === null) return null;
  const read = readPage(entry.page);
  return isComparable(read) ? knownPage(read) : null;
}

const endOf = ({ finishedAt, startedAt, createdAt }: Job): number => finishedAt ?? startedAt ?? createdAt;
