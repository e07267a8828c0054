import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { urlPart } from '../../../lib/url-part.ts';
import { dataOf } from '../api-call.ts';
import { nextPageParts, pageParts, resourceUri, storedPage } from '../stored-page.ts';
import { cursor, jobId, json, type LinkPart, maxTokens, type ToolContext, text, tool, url } from '../tool.ts';
import {
  HEAD_TOKENS,
  LISTED_AT_ONCE,
  type Listed,
  listParts,
  listPlaceOf,
  readCursor,
} from '../tool-result.ts';

/** Tools around crawls: start, follow, search and compare. */

/** Assistants give up on a call after a minute. */
const MOST_WAIT_SECONDS = 50;
const LOOK_MS = 500;

interface JobAnswer {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly stopReason: string | null;
  readonly finishedAt: string | null;
  readonly progress: Readonly<Record<string, number>>;
}

export const startedText = ({ id, status }: Pick<JobAnswer, 'id' | 'status'>): string =>
  `Job ${id} is ${status}. Call crawl_status with this id to follow it and to list its pages.`;

export const crawl = tool({
  name: 'crawl',
  title: 'Start a crawl',
  description:
    'Starts to read the pages of a site and returns a job id at once. Follow it with crawl_status.',
  input: z.object({
    url,
    maxPages: z.int().min(1).max(100_000).default(100),
    maxDepth: z.int().min(0).max(100).optional(),
    include: z.array(z.string().max(500)).max(20).optional().describe('Globs of paths, such as /blog/*'),
    exclude: z.array(z.string().max(500)).max(20).optional(),
    snapshots: z.boolean().default(false).describe('Keep the history of each page'),
  }),
  isReadOnly: false,
  async run({ url: address, ...limits }, { api, signal }) {
    const body = { urls: [address], options: { formats: ['markdown'] }, search: true, ...limits };
    const job = await dataOf<JobAnswer>(api, { method: 'POST', path: '/v1/crawl', body, signal });
    return [text(startedText(job))];
  },
});

export const crawlStatus = tool({
  name: 'crawl_status',
  title: 'Follow a crawl',
  description: 'Status of a job and its pages as links; `page` returns the content of one of them.',
  input: z.object({
    id: jobId,
    page: z.string().max(8_192).optional().describe('URL of a page of the job to return'),
    wait: z
      .int()
      .min(0)
      .max(MOST_WAIT_SECONDS)
      .default(0)
      .describe('Seconds to wait for the end, with progress'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ id, page, wait, maxTokens: most, cursor: from }, context) {
    const { api, signal } = context;
    if (page !== undefined) {
      const found = await storedPage(api, id, page, signal);
      return pageParts(found, { format: 'markdown', jobId: id, start: 0, maxTokens: most - HEAD_TOKENS });
    }
    // Pages and lists have cursors of different kinds.
    if (from !== undefined && typeof readCursor(from).url === 'string')
      return nextPageParts(from, most, context);
    const job = await followed(id, wait * 1_000, context);
    const place = listPlaceOf(from);
    const path = `/v1/jobs/${urlPart(id)}/urls`;
    const query = { state: 'done', limit: LISTED_AT_ONCE, cursor: place.list };
    const all = await dataOf<Listed<ListedUrl>>(api, { method: 'GET', path, query, signal });
    // Sitemaps and the like are URLs of the job too, but nothing of them can be read.
    const listed = { ...all, items: all.items.filter(({ kind }) => kind === 'page') };
    const show = ({ url: address }: { url: string }): LinkPart => ({
      type: 'resource_link',
      uri: resourceUri(id, address),
      name: address,
      mimeType: 'text/markdown',
    });
    return [
      text(statusOf(job)),
      ...listParts(listed, place, { most, show, empty: 'No page is stored yet.', isFromSites: true }),
    ];
  },
});

interface ListedUrl {
  readonly url: string;
  readonly kind: string;
}

/** The job when it has ended, or after the time; tells the client how far it is meanwhile. */
async function followed(
  id: string,
  forMs: number,
  { api, signal, progress }: ToolContext,
): Promise<JobAnswer> {
  const path = `/v1/jobs/${urlPart(id)}`;
  const endAt = performance.now() + forMs;
  for (let told = -1; ; ) {
    const job = await dataOf<JobAnswer>(api, { method: 'GET', path, signal });
    const { pages = 0, known = 0 } = job.progress;
    if (pages > told) await progress(pages, known, `${pages} pages`);
    told = pages;
    if (job.finishedAt !== null || performance.now() >= endAt) return job;
    await pause(LOOK_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** What tells a model how far a job is. */
const COUNTS = ['pages', 'known', 'open', 'failed', 'skipped', 'denied'] as const;

function statusOf({ id, kind, status, stopReason, progress }: JobAnswer): string {
  const counts = COUNTS.map((name) => `${name} ${progress[name] ?? 0}`);
  const why = stopReason === null ? '' : ` (${stopReason})`;
  return `Job ${id}, ${kind}: ${status}${why}\n${counts.join(', ')}`;
}

interface Hit {
  readonly url: string;
  readonly jobId: string;
  readonly fetchedAt: string;
  readonly title: { readonly text: string } | null;
  readonly snippet: { readonly text: string };
}

export const search = tool({
  name: 'search',
  title: 'Search stored pages',
  description: 'Full-text search over pages that earlier crawls have stored; not over the web.',
  input: z.object({
    query: z.string().max(500).describe('Words, "a phrase", -without'),
    host: z.string().max(255).optional(),
    limit: z.int().min(1).max(50).default(10),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ query: q, host, limit, maxTokens: most, cursor: from }, { api, signal }) {
    const place = listPlaceOf(from);
    const query = { q, host, limit, cursor: place.list };
    const found = await dataOf<Listed<Hit>>(api, { method: 'GET', path: '/v1/search', query, signal });
    return listParts(found, place, {
      most,
      show: ({ url: each, title, snippet, jobId: job, fetchedAt }) =>
        `${title?.text ?? '(no title)'}\n${each}\njob ${job}, fetched ${fetchedAt}\n${snippet.text}\n`,
      empty: 'No stored page has these words. Crawl the site first, or use other words.',
      isFromSites: true,
    });
  },
});

export const diff = tool({
  name: 'diff',
  title: 'Compare two crawls',
  description: 'Lists pages that were added, removed, moved or changed between two jobs over the same site.',
  input: z.object({
    id: jobId,
    against: z.string().max(100).describe('The earlier job'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ id, against, maxTokens: most, cursor: from }, { api, signal }) {
    const place = listPlaceOf(from);
    const path = `/v1/jobs/${urlPart(id)}/diff`;
    const type = 'ADDED,REMOVED,MODIFIED,MOVED,REVERTED';
    const query = { against, type, limit: LISTED_AT_ONCE, cursor: place.list };
    const changes = await dataOf<Listed<unknown>>(api, { method: 'GET', path, query, signal });
    return listParts(changes, place, {
      most,
      show: json,
      empty: 'No page has changed here.',
      isFromSites: true,
    });
  },
});
