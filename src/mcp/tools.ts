import { z } from 'zod';
import { ApiFailure, dataOf } from './api-call.ts';
import { cursorOf, readCursor } from './cursor.ts';
import { PAGE_FORMATS, type PageAnswer, type PageFormat, pageParts } from './page-text.ts';
import { portionOf, tokensIn } from './token-budget.ts';
import {
  DEFAULT_TOKENS,
  json,
  MOST_TOKENS,
  type Part,
  type Tool,
  type ToolContext,
  text,
  tool,
} from './tool.ts';

const url = z.string().max(8_192).describe('Absolute URL');
const maxTokens = z.int().min(200).max(MOST_TOKENS).default(DEFAULT_TOKENS).describe('Size of the result');
const cursor = z.string().max(2_000).optional().describe('From an earlier result, to go on');
const jobId = z.string().max(100).describe('Job id');

/** Room for the heading of a result, which is not cut. */
const HEAD_TOKENS = 150;
const LISTED_AT_ONCE = 100;

const scrape = tool({
  name: 'scrape',
  title: 'Read a page',
  description: 'Fetches one web page and returns its content. Renders it in a browser where needed.',
  input: z.object({
    url,
    format: z.enum(PAGE_FORMATS).default('markdown'),
    onlyMainContent: z.boolean().default(true),
    waitForSelector: z.string().max(500).optional().describe('CSS; renders the page'),
    maxAge: z.int().min(0).optional().describe('ms; a stored copy this young is enough'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ cursor: from, maxTokens: most, format, ...wanted }, context) {
    if (from !== undefined) return goOn(from, most, context);
    const { url: address, onlyMainContent, waitForSelector, maxAge } = wanted;
    const body = {
      url: address,
      formats: [format],
      onlyMainContent,
      ...(waitForSelector === undefined ? {} : { wait: { selector: waitForSelector } }),
      ...(maxAge === undefined ? {} : { maxAge }),
    };
    const page = await dataOf<PageAnswer>(context.api, {
      method: 'POST',
      path: '/v1/scrape',
      body,
      signal: context.signal,
    });
    return pageParts(page, { format, jobId: page.id ?? '', start: 0, maxTokens: most - HEAD_TOKENS });
  },
});

/** The next part of a page that a job has stored. */
async function goOn(from: string, most: number, { api, signal }: ToolContext): Promise<readonly Part[]> {
  const { job, url: address, format, start } = readCursor(from);
  const isPlace = typeof job === 'string' && typeof address === 'string' && Number.isInteger(start);
  if (!isPlace || !PAGE_FORMATS.includes(format as PageFormat)) {
    throw new ApiFailure('VALIDATION_FAILED', 'The cursor is not one of a page.', []);
  }
  const page = await storedPage(api, job as string, address as string, signal);
  const place = { format: format as PageFormat, jobId: job as string, start: start as number };
  return pageParts(page, { ...place, maxTokens: most - HEAD_TOKENS });
}

export async function storedPage(
  api: ToolContext['api'],
  job: string,
  address: string,
  signal: AbortSignal | undefined,
): Promise<PageAnswer> {
  const path = `/v1/jobs/${encodeURIComponent(job)}/results`;
  const { items } = await dataOf<{ items: PageAnswer[] }>(api, {
    method: 'GET',
    path,
    query: { url: address },
    signal,
  });
  const [page] = items;
  if (page === undefined) throw new ApiFailure('NOT_FOUND', `The job ${job} has no page ${address}.`, []);
  return page;
}

const map = tool({
  name: 'map',
  title: 'List URLs of a site',
  description: 'Lists URLs of a site from its sitemap and links, without reading the pages.',
  input: z.object({
    url,
    search: z.string().max(200).optional().describe('Words that URLs or titles must have'),
    limit: z.int().min(1).max(5_000).default(200),
    maxTokens,
  }),
  isReadOnly: true,
  async run({ url: address, search, limit, maxTokens: most }, { api, signal }) {
    const body = { url: address, limit, ...(search === undefined ? {} : { search }) };
    const mapped = await dataOf<{ pages: { url: string; title: string | null }[]; isTruncated: boolean }>(
      api,
      {
        method: 'POST',
        path: '/v1/map',
        body,
        signal,
      },
    );
    const lines = mapped.pages.map(({ url: each, title }) => (title === null ? each : `${each} ${title}`));
    const { text: listed, next } = portionOf(lines.join('\n'), 0, most - HEAD_TOKENS);
    const isCut = next !== null || mapped.isTruncated;
    return [
      text(`${mapped.pages.length} URLs${isCut ? '; not all are shown: use `search`' : ''}\n\n${listed}`),
    ];
  },
});

const crawl = tool({
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
  }),
  isReadOnly: false,
  async run({ url: address, ...limits }, { api, signal }) {
    const body = { urls: [address], options: { formats: ['markdown'] }, search: true, ...limits };
    const job = await dataOf<{ id: string; status: string }>(api, {
      method: 'POST',
      path: '/v1/crawl',
      body,
      signal,
    });
    return [
      text(
        `Job ${job.id} is ${job.status}. Call crawl_status with this id to follow it and to list its pages.`,
      ),
    ];
  },
});

interface JobAnswer {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly stopReason: string | null;
  readonly progress: Readonly<Record<string, number>>;
}

const crawlStatus = tool({
  name: 'crawl_status',
  title: 'Follow a crawl',
  description: 'Status of a job and its pages as links; `page` returns the content of one of them.',
  input: z.object({
    id: jobId,
    page: z.string().max(8_192).optional().describe('URL of a page of the job to return'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ id, page, maxTokens: most, cursor: from }, context) {
    const { api, signal } = context;
    if (page !== undefined) {
      const found = await storedPage(api, id, page, signal);
      return pageParts(found, { format: 'markdown', jobId: id, start: 0, maxTokens: most - HEAD_TOKENS });
    }
    const place = from === undefined ? {} : readCursor(from);
    if (typeof place.url === 'string') return goOn(from as string, most, context);
    const path = `/v1/jobs/${encodeURIComponent(id)}`;
    const job = await dataOf<JobAnswer>(api, { method: 'GET', path, signal });
    const { pages = 0, known = 0 } = job.progress;
    await context.progress(pages, known, `${pages} pages`);
    return [text(statusOf(job)), ...(await listedPages(id, place, most, context))];
  },
});

function statusOf({ id, kind, status, stopReason, progress }: JobAnswer): string {
  const counts = Object.entries(progress).filter(([, value]) => typeof value === 'number');
  const why = stopReason === null ? '' : ` (${stopReason})`;
  return `Job ${id}, ${kind}: ${status}${why}\n${counts.map(([name, value]) => `${name} ${value}`).join(', ')}`;
}

/** Links to pages, as many as the tokens allow. */
async function listedPages(
  id: string,
  place: Readonly<Record<string, unknown>>,
  most: number,
  { api, signal }: ToolContext,
): Promise<readonly Part[]> {
  const path = `/v1/jobs/${encodeURIComponent(id)}/urls`;
  const after = typeof place.list === 'string' ? place.list : undefined;
  const skipped = typeof place.skip === 'number' ? place.skip : 0;
  const query = { state: 'done', limit: LISTED_AT_ONCE, cursor: after };
  const { items, nextCursor } = await dataOf<{ items: { url: string }[]; nextCursor: string | null }>(api, {
    method: 'GET',
    path,
    query,
    signal,
  });
  const parts: Part[] = [];
  let tokens = HEAD_TOKENS;
  for (const [index, { url: address }] of items.entries()) {
    if (index < skipped) continue;
    const link = {
      type: 'resource_link',
      uri: resourceUri(id, address),
      name: address,
      mimeType: 'text/markdown',
    } as const;
    tokens += tokensIn(json(link));
    if (tokens > most && parts.length > 0) {
      const more = cursorOf({ skip: index, ...(after === undefined ? {} : { list: after }) });
      return [...parts, text(`More pages: call again with cursor ${more}`)];
    }
    parts.push(link);
  }
  return nextCursor === null
    ? parts
    : [...parts, text(`More pages: call again with cursor ${cursorOf({ list: nextCursor })}`)];
}

/** The address of a page as a resource. */
export const resourceUri = (job: string, address: string): string =>
  `scrapifie://jobs/${encodeURIComponent(job)}/pages/${encodeURIComponent(address)}`;

const extract = tool({
  name: 'extract',
  title: 'Extract data',
  description: 'Reads structured data from a page: by a known type, or by CSS selectors for fields.',
  input: z.object({
    url,
    type: z
      .enum(['auto', 'product', 'article', 'job_posting', 'company_website', 'organization', 'breadcrumbs'])
      .optional(),
    fields: z
      .record(z.string().max(100), z.string().max(1_000))
      .optional()
      .describe('Field name → CSS selector'),
    maxTokens,
  }),
  isReadOnly: true,
  async run({ url: address, type, fields, maxTokens: most }, { api, signal }) {
    const wanted = {
      ...(type === undefined && fields !== undefined ? {} : { type: type ?? 'auto' }),
      ...(fields === undefined ? {} : { rules: fields }),
    };
    const body = { url: address, formats: ['metadata'], extract: wanted };
    const page = await dataOf<{
      extracted: unknown;
      extractedType?: string | null;
      extractProblems?: unknown[];
    }>(api, {
      method: 'POST',
      path: '/v1/scrape',
      body,
      signal,
    });
    const found = {
      type: page.extractedType ?? null,
      data: page.extracted ?? null,
      problems: page.extractProblems ?? [],
    };
    return [text(portionOf(json(found), 0, most).text)];
  },
});

const screenshot = tool({
  name: 'screenshot',
  title: 'Take a screenshot',
  description: 'Renders a page in a browser and returns a picture of it.',
  input: z.object({ url, fullPage: z.boolean().default(false) }),
  isReadOnly: true,
  async run({ url: address, fullPage }, { api, signal }) {
    const body = { url: address, formats: ['screenshot'], inline: true, screenshot: { fullPage } };
    const page = await dataOf<{ screenshot: { base64: string | null; contentType: string } | null }>(api, {
      method: 'POST',
      path: '/v1/scrape',
      body,
      signal,
    });
    const picture = page.screenshot;
    if (picture?.base64 == null) throw new ApiFailure('NOT_FOUND', 'The page gave no picture.', []);
    return [{ type: 'image', data: picture.base64, mimeType: picture.contentType }];
  },
});

interface Hit {
  readonly url: string;
  readonly jobId: string;
  readonly fetchedAt: string;
  readonly title: { readonly text: string } | null;
  readonly snippet: { readonly text: string };
}

const search = tool({
  name: 'search',
  title: 'Search stored pages',
  description: 'Full-text search over pages that earlier crawls have stored; not over the web.',
  input: z.object({
    query: z.string().max(500).describe('Words, "a phrase", -without'),
    host: z.string().max(255).optional(),
    limit: z.int().min(1).max(50).default(10),
    maxTokens,
  }),
  isReadOnly: true,
  async run({ query, host, limit, maxTokens: most }, { api, signal }) {
    const path = '/v1/search';
    const { items } = await dataOf<{ items: Hit[] }>(api, {
      method: 'GET',
      path,
      query: { q: query, host, limit },
      signal,
    });
    if (items.length === 0)
      return [text('No stored page has these words. Crawl the site first, or use other words.')];
    const lines = items.map(
      ({ url: each, title, snippet, jobId: job, fetchedAt }) =>
        `${title?.text ?? '(no title)'}\n${each}\njob ${job}, fetched ${fetchedAt}\n${snippet.text}`,
    );
    return [text(portionOf(lines.join('\n\n'), 0, most).text)];
  },
});

const diff = tool({
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
    const path = `/v1/jobs/${encodeURIComponent(id)}/diff`;
    const place = from === undefined ? {} : readCursor(from);
    const list = typeof place.list === 'string' ? place.list : undefined;
    const skipped = typeof place.skip === 'number' ? place.skip : 0;
    const query = {
      against,
      type: 'ADDED,REMOVED,MODIFIED,MOVED,REVERTED',
      limit: LISTED_AT_ONCE,
      cursor: list,
    };
    const answer = await dataOf<{ items: unknown[]; nextCursor: string | null }>(api, {
      method: 'GET',
      path,
      query,
      signal,
    });
    const lines: string[] = [];
    let tokens = HEAD_TOKENS;
    for (const [index, change] of answer.items.entries()) {
      if (index < skipped) continue;
      const line = json(change);
      tokens += tokensIn(line);
      if (tokens > most && lines.length > 0) {
        const more = cursorOf({ skip: index, ...(list === undefined ? {} : { list }) });
        return [text(`${lines.join('\n')}\nMore: call again with cursor ${more}`)];
      }
      lines.push(portionOf(line, 0, most).text);
    }
    const { nextCursor } = answer;
    const more =
      nextCursor === null ? [] : [`More: call again with cursor ${cursorOf({ list: nextCursor })}`];
    return [text([...(lines.length === 0 ? ['No page has changed here.'] : lines), ...more].join('\n'))];
  },
});

/** What every client sees. */
export const DEFAULT_TOOLS: readonly Tool[] = [
  scrape,
  map,
  crawl,
  crawlStatus,
  extract,
  search,
  diff,
  screenshot,
];
