import type { UrlKey } from '../../core/model/ids.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import { type NewPage, WITHOUT_CONTENT } from '../../core/model/page.ts';
import { PROVISIONAL_REASONS } from '../../core/model/reasons.ts';
import type { FoundBy, NewTask, TaskKind } from '../../core/model/task.ts';
import type { Extracted } from '../../extract/scan/extract-page.ts';
import { type Canonicalizer, type CanonicalUrl, createCanonicalizer } from '../frontier/canonical.ts';
import { RecentKeys } from '../frontier/known-urls.ts';
import { routeOf } from '../frontier/routes.ts';
import { compileScope, type ScopeCheck } from '../frontier/scope.ts';
import { readSitemap, type SitemapEnd } from '../frontier/sitemap.ts';
import { isLoggedIn, LOG_OUT_RULE, logsOut, QueryTraps } from '../frontier/traps.ts';
import type { PageReading, ReadRequest } from './page-reading.ts';

/** A job's rules about URLs, compiled once per thread. */
export interface JobRules {
  readonly canonical: Canonicalizer;
  readonly isInScope: ScopeCheck;
  readonly generation: number;
  /** URLs that this thread has reported: most links of a page are on every other page of the site too. */
  readonly reported: RecentKeys<UrlKey>;
  /** Links as written whose URLs were reported: looking them up is cheaper than canonicalizing them. */
  readonly seenLinks: RecentKeys<string>;
  /** Reported with a provisional decision: a better one is still worth reporting. */
  readonly reportedProvisionally: RecentKeys<UrlKey>;
  /** Null when the job does not look for them. */
  readonly traps: QueryTraps | null;
  /** The job has a session or sends credentials: links that log out are not followed. */
  readonly isLoggedIn: boolean;
}

/** `traps` are those of the job's rules before, which go on counting. */
export function compileRules(job: ReadRequest['job'], traps: QueryTraps | null = null): JobRules {
  return {
    traps: job.options.scope.avoidQueryTraps === true ? (traps ?? new QueryTraps()) : null,
    generation: job.generation,
    isLoggedIn: traitsOfKind(job.kind).follows === 'everything' && isLoggedIn(job.options.page),
    reported: new RecentKeys(),
    seenLinks: new RecentKeys(10_000),
    reportedProvisionally: new RecentKeys(),
    canonical: createCanonicalizer(job.options.scope),
    isInScope: compileScope(job.options.scope, job.seeds),
  };
}

/** The URLs a page leads to, each with the decision about it, and the page it repeats, if it says so. */
export function findTasks(
  request: ReadRequest,
  extracted: Extracted,
  rules: JobRules,
): { tasks: NewTask[]; duplicateOf: string | null } {
  const { task, response } = request;
  const tasks: NewTask[] = [];
  // Links of an error page are no content of the site.
  if (response.statusCode >= 400) return { tasks, duplicateOf: null };
  const { reported, reportedProvisionally, seenLinks } = rules;
  const report = (found: NewTask) => {
    const isProvisional = found.rule !== null && PROVISIONAL_REASONS.has(found.rule);
    if (isProvisional && reportedProvisionally.has(found.urlKey)) return;
    (isProvisional ? reportedProvisionally : reported).add(found.urlKey);
    tasks.push(found);
  };
  const isKnown = (key: UrlKey) => key === task.urlKey || reported.has(key);
  const original = originalOf(request, extracted, rules);
  if (original !== null && !isKnown(original.urlKey)) {
    // Not to be fetched as well; unless the job knows it already, this row keeps later links to it out.
    report({
      kind: 'page',
      url: original.url,
      urlKey: original.urlKey,
      hostKey: original.hostKey,
      depth: task.depth,
      foundBy: 'canonical',
      foundOn: task.id,
      state: 'skipped',
      rule: `duplicate.canonical:${task.url}`,
    });
  }
  if (isFollowed(request)) {
    const depth = task.depth + 1;
    for (const link of extracted.links) {
      if (seenLinks.has(link.url)) continue;
      const found = rules.canonical(link.url, response.finalUrl);
      if (found === null || isKnown(found.urlKey)) {
        // Not this page's own address: for another page it would be a link.
        if (found?.urlKey !== task.urlKey) seenLinks.add(link.url);
        continue;
      }
      const isNofollow = extracted.robots.isNofollow || hasToken(link.rel, 'nofollow');
      const how = { kind: 'page', depth, foundBy: 'link', isNofollow, linkText: link.text } as const;
      report(judged(found, how, request, rules));
      if (reported.has(found.urlKey)) seenLinks.add(link.url);
    }
  }
  return { tasks, duplicateOf: original?.url ?? null };
}

/** Whether the links of the page are the job's next URLs. */
function isFollowed({ job, task }: ReadRequest): boolean {
  const { follows } = traitsOfKind(job.kind);
  if (follows === 'start') return task.depth === 0;
  if (follows === 'nothing' || job.options.scope.sitemap === 'only') return false;
  return routeOf(job.options, task.url)?.follow ?? true;
}

interface FoundHow {
  readonly kind: TaskKind;
  readonly depth: number;
  readonly foundBy: FoundBy;
  readonly isNofollow: boolean;
  readonly linkText?: string;
}

/** A found URL with the rule that decided about it. A job for a list of URLs does not fetch the pages that it finds. */
function judged(
  found: CanonicalUrl,
  { linkText, ...how }: FoundHow,
  { job, task, fetchedAt }: ReadRequest,
  rules: JobRules,
): NewTask {
  const decision = rules.isInScope({ url: found.url, hostKey: found.hostKey, ...how });
  const isListed = decision.inScope && traitsOfKind(job.kind).isListOfUrls && how.kind === 'page';
  const isLink = decision.inScope && how.kind === 'page' && how.foundBy === 'link';
  // A sitemap names pages that its author wants found.
  const trap = isLink ? (rules.traps?.trapIn(found.url, fetchedAt) ?? null) : null;
  // The next pages would be those of a visitor who is not logged in.
  const isLogOut =
    rules.isLoggedIn && decision.inScope && how.kind === 'page' && logsOut(found.url, linkText);
  const reason = isLogOut ? LOG_OUT_RULE : trap === null ? null : (`scope.trap:${trap}` as const);
  const rule = decision.inScope ? (reason ?? (isListed ? 'map.listed' : null)) : decision.rule;
  return {
    kind: how.kind,
    url: found.url,
    urlKey: found.urlKey,
    hostKey: found.hostKey,
    depth: how.depth,
    foundBy: how.foundBy,
    foundOn: task.id,
    state: rule === null ? 'ready' : 'skipped',
    rule,
  };
}

/** What rel=canonical names, when the job heeds it: another page of the same host and of the job. */
function originalOf(
  { job, task, response }: ReadRequest,
  extracted: Extracted,
  rules: JobRules,
): CanonicalUrl | null {
  if (!job.options.scope.followCanonical || extracted.canonical === null || task.kind !== 'page') return null;
  if (extracted.canonical === response.finalUrl) return null;
  const named = rules.canonical(extracted.canonical, response.finalUrl);
  const here = rules.canonical(response.finalUrl);
  if (named === null || here === null || named.urlKey === here.urlKey || named.urlKey === task.urlKey)
    return null;
  if (named.hostKey !== here.hostKey) return null;
  const how = { depth: task.depth, foundBy: 'canonical', isNofollow: false } as const;
  return rules.isInScope({ url: named.url, hostKey: named.hostKey, ...how }).inScope ? named : null;
}

function hasToken(list: string, token: string): boolean {
  return list.includes(token) && list.split(/\s+/).includes(token);
}

/** An index may name sitemaps, and those should not name further ones; some do, a little. */
const DEEPEST_SITEMAP = 4;

/** Reads the URLs out of a sitemap or feed. It is a means, not a result: no page of it is kept. */
export async function readSitemapTask(
  request: ReadRequest,
  rules: JobRules,
): Promise<Omit<PageReading, 'ms'>> {
  const { task, response } = request;
  const discovered: NewTask[] = [];
  const seen = new Set<UrlKey>([task.urlKey]);
  const isAnswer = response.statusCode >= 200 && response.statusCode < 300;
  const end = isAnswer ? await collect() : { reason: null, truncated: false, count: 0 };

  async function collect(): Promise<SitemapEnd> {
    const items = readSitemap(once(response.body));
    for (;;) {
      const next = await items.next();
      if (next.done === true) return next.value;
      const found = rules.canonical(next.value.url, response.finalUrl);
      if (found === null || seen.has(found.urlKey)) continue;
      seen.add(found.urlKey);
      const isSitemap = next.value.kind === 'sitemap';
      if (isSitemap && task.depth >= DEEPEST_SITEMAP) continue;
      discovered.push(
        judged(
          found,
          {
            kind: isSitemap ? 'sitemap' : 'page',
            // Pages of a sitemap are one step from where the job began, however deep the index nests.
            depth: isSitemap ? task.depth + 1 : 1,
            foundBy: 'sitemap',
            isNofollow: false,
          },
          request,
          rules,
        ),
      );
    }
  }

  return {
    page: pageOf(request),
    discovered,
    outcome: isAnswer ? 'ok' : 'error',
    evidence: end.reason === null ? null : `sitemap: ${end.reason}`,
    vendor: null,
    isNoindex: false,
    leadsTo: null,
    yield: { textLength: 0, linkCount: discovered.length },
    sitemapProblem: end.reason,
  };
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}

function pageOf({ task: { url, depth }, response, fetchedAt }: ReadRequest): NewPage {
  const { finalUrl, statusCode, contentType, body } = response;
  const bytes = body.byteLength;
  return { ...WITHOUT_CONTENT, url, finalUrl, statusCode, contentType, fetchedAt, depth, bytes };
}
