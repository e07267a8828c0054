import { isIPv4 } from 'node:net';
import type { JobId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { PageLink } from '../../../core/model/page.ts';
import { isReasonOf } from '../../../core/model/reasons.ts';
import type { LedgerEntry } from '../../../core/model/task.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import { createCanonicalizer, parseStoredSeed } from '../../../crawl/frontier/canonical.ts';
import { compileScope } from '../../../crawl/frontier/scope.ts';
import { isLoggedIn } from '../../../crawl/frontier/traps.ts';

export interface MapLink {
  readonly url: string;
  /**
   * What the start page calls it (its own title, or the text of the link), else the title that an earlier crawl of the
   * account has found there; null where both have none.
   */
  readonly title: string | null;
}

export interface MapResult {
  readonly id: JobId;
  readonly urls: readonly string[];
  /** Each of `urls` with its title. */
  readonly pages: readonly MapLink[];
  /** More were found than the answer may hold; the ledger has them. */
  readonly isTruncated: boolean;
}

/** Which of the URLs that were found the answer has. */
export interface MapQuery {
  readonly limit: number;
  /** Words that a URL or its title must have; null: no condition. */
  readonly search: string | null;
}

/** A page of the map that was fetched. */
interface StartPage {
  readonly url: string;
  readonly title: string | null;
  readonly links: readonly PageLink[];
}

/** Decides which entries of the ledger belong to the list: what the patterns leave out is not listed, the start neither. */
export function mapFilter({ options: { scope }, seeds }: Pick<Job, 'options' | 'seeds'>) {
  const isInScope = compileScope(scope, seeds);
  const canonical = createCanonicalizer(scope);
  return ({ kind, state, rule, url }: LedgerEntry): boolean => {
    if (kind !== 'page') return false;
    // Discovered URLs were judged when they were found; a start URL is fetched whatever the patterns say.
    if (isReasonOf(rule, 'map.listed')) return true;
    const found = canonical(url);
    if (state !== 'done' || found === null) return false;
    const { hostKey } = found;
    return isInScope({ url: found.url, hostKey, depth: 0, foundBy: 'link', isNofollow: false }).inScope;
  };
}

/** The titles that the fetched pages give, by canonical URL. */
export function titlesOf(
  pages: readonly StartPage[],
  { options: { scope } }: Pick<Job, 'options'>,
): ReadonlyMap<string, string> {
  const canonical = createCanonicalizer(scope);
  const titles = new Map<string, string>();
  const put = (url: string, title: string | null) => {
    const key = canonical(url)?.url ?? url;
    const text = title?.replace(/\s+/g, ' ').trim() ?? '';
    if (text !== '' && !titles.has(key)) titles.set(key, text);
  };
  for (const { url, title } of pages) put(url, title);
  for (const { links } of pages) for (const { url, text } of links) put(url, text);
  return titles;
}

/**
 * The URLs with all words of the search in host name, path, query or title, those with words in the title first. The digits
 * of an IP address and of a port are the same for every page of a site, and say nothing about it.
 */
export function searchLinks(links: readonly MapLink[], search: string | null): readonly MapLink[] {
  const words = (search ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return links;
  return links
    .flatMap((link) => {
      const title = (link.title ?? '').toLowerCase();
      const address = searchedPart(link.url).toLowerCase();
      if (!words.every((word) => address.includes(word) || title.includes(word))) return [];
      return [{ link, score: words.filter((word) => title.includes(word)).length }];
    })
    .sort((one, other) => other.score - one.score)
    .map(({ link }) => link);
}

/** An address without its scheme and port, and without its host where that is an IP address. */
function searchedPart(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return readable(url);
  const { hostname, pathname, search, hash } = parsed;
  const isAddress = hostname.startsWith('[') || isIPv4(hostname);
  return `${isAddress ? '' : hostname}${readable(pathname + search + hash)}`;
}

function readable(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** Crawls that are looked at, pages of each, and how many are read at once. */
const JOBS_LOOKED_AT = 20;
const CRAWLS_READ = 3;
const PAGES_READ = 1_000;
const PAGES_AT_ONCE = 200;

/**
 * The titles of these URLs by the last crawls that the account made of the same host. Crawls that were logged in give
 * none: their titles may be personal.
 */
export async function knownTitles(
  store: Pick<JobStore, 'listJobs' | 'listPages'>,
  { accountId, seeds }: Pick<Job, 'accountId' | 'seeds'>,
  urls: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  if (urls.size === 0) return titles;
  const hosts = hostsOf(seeds);
  const { items } = await store.listJobs({ accountId, kind: 'crawl', limit: JOBS_LOOKED_AT });
  const crawls = items.filter(
    (job) => !isLoggedIn(job.options.page) && [...hostsOf(job.seeds)].some((host) => hosts.has(host)),
  );
  for (const { id: jobId } of crawls.slice(0, CRAWLS_READ)) {
    let cursor: string | undefined;
    for (let read = 0; read < PAGES_READ && titles.size < urls.size; read += PAGES_AT_ONCE) {
      const pages = await store.listPages({ jobId, state: 'done', limit: PAGES_AT_ONCE, cursor });
      for (const { url, title } of pages.items) {
        const text = title?.replace(/\s+/g, ' ').trim() ?? '';
        if (text !== '' && urls.has(url) && !titles.has(url)) titles.set(url, text);
      }
      cursor = pages.nextCursor ?? undefined;
      if (cursor === undefined) break;
    }
  }
  return titles;
}

const hostsOf = (seeds: readonly string[]): ReadonlySet<string> =>
  new Set(seeds.flatMap((seed) => parseStoredSeed(seed)?.host ?? []));
