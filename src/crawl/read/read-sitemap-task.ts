import type { UrlKey } from '../../core/model/ids.ts';
import type { NewPage } from '../../core/model/page.ts';
import type { NewTask } from '../../core/model/task.ts';
import { readSitemap, type SitemapEnd } from '../frontier/sitemap.ts';
import { type JobRules, judged } from './find-tasks.ts';
import type { PageReading, ReadRequest } from './page-reading.ts';

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

function pageOf({ task, response, fetchedAt }: ReadRequest): NewPage {
  return {
    url: task.url,
    finalUrl: response.finalUrl,
    statusCode: response.statusCode,
    contentType: response.contentType,
    charset: null,
    fetchedAt,
    depth: task.depth,
    contentHash: null,
    textHash: null,
    bytes: response.body.byteLength,
    title: null,
    etag: null,
    lastModified: null,
    duplicateOf: null,
    errorCode: null,
    errorMessage: null,
    record: null,
  };
}
