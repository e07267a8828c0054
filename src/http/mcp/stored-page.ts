import { urlPart } from '../../lib/url-part.ts';
import { type ApiCall, ApiFailure, dataOf } from './api-call.ts';
import { type Part, type ToolContext, text } from './tool.ts';
import { cursorOf, HEAD_TOKENS, portionOf, readCursor, siteText } from './tool-result.ts';

export const PAGE_FORMATS = ['markdown', 'text', 'html', 'links', 'metadata'] as const;
/** `extracted`: the data that a call of the tool extract has found. */
const STORED_FORMATS = [...PAGE_FORMATS, 'extracted'] as const;
type PageFormat = (typeof STORED_FORMATS)[number];

/** A page as the API answers it. */
export interface PageAnswer {
  readonly id?: string;
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly title: string | null;
  readonly fetchedAt: string;
  readonly markdown?: string | null;
  readonly text?: string | null;
  readonly html?: string | null;
  readonly links?: readonly { readonly url: string; readonly text: string }[];
  readonly metadata?: unknown;
  readonly extracted?: unknown;
  readonly extractedType?: string | null;
  readonly extractProblems?: readonly unknown[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** The whole content of a page in one format. */
export function contentOf(page: PageAnswer, format: PageFormat): string {
  if (format === 'links')
    return (page.links ?? []).map(({ url, text: label }) => `${label} ${url}`.trim()).join('\n');
  if (format === 'metadata') return JSON.stringify(page.metadata ?? null, null, 1);
  if (format === 'extracted') {
    const { extracted = null, extractedType = null, extractProblems = [] } = page;
    return JSON.stringify({ type: extractedType, data: extracted, problems: extractProblems });
  }
  return page[format] ?? '';
}

/** A page within the tokens, with where it goes on. */
export function pageParts(
  page: PageAnswer,
  {
    format,
    jobId,
    start,
    maxTokens,
  }: { format: PageFormat; jobId: string; start: number; maxTokens: number },
): readonly Part[] {
  const { text: content, next } = portionOf(contentOf(page, format), start, maxTokens);
  const head = [
    `URL: ${page.finalUrl}`,
    `Status: ${page.statusCode ?? '(none)'}, fetched ${page.fetchedAt}, job ${jobId}`,
    ...(page.error === undefined ? [] : [`Problem: ${page.error.code}: ${page.error.message}`]),
    ...(next === null
      ? []
      : [`More: call again with cursor ${cursorOf({ job: jobId, url: page.url, format, start: next })}`]),
  ];
  const title = `Title: ${page.title ?? '(none)'}`;
  return [text(`${head.join('\n')}\n${siteText(`${title}\n\n${content}`)}`)];
}

/** A page that a job has stored. Throws NOT_FOUND. */
export async function storedPage(
  api: ApiCall,
  job: string,
  address: string,
  signal: AbortSignal | undefined,
): Promise<PageAnswer> {
  const path = `/v1/jobs/${urlPart(job)}/results`;
  const query = { url: address };
  const { items } = await dataOf<{ items: PageAnswer[] }>(api, { method: 'GET', path, query, signal });
  const [page] = items;
  if (page === undefined) throw new ApiFailure('NOT_FOUND', `The job ${job} has no page ${address}.`, []);
  return page;
}

/** The next part of a page, from where an earlier result has ended. */
export async function nextPageParts(
  from: string,
  most: number,
  { api, signal }: ToolContext,
): Promise<readonly Part[]> {
  const { job, url: address, format, start } = readCursor(from);
  const isPlace = typeof job === 'string' && typeof address === 'string' && Number.isInteger(start);
  if (!isPlace || !STORED_FORMATS.includes(format as PageFormat)) {
    throw new ApiFailure('VALIDATION_FAILED', 'The cursor is not one of a page.', []);
  }
  const page = await storedPage(api, job as string, address as string, signal);
  const place = { format: format as PageFormat, jobId: job as string, start: start as number };
  return pageParts(page, { ...place, maxTokens: most - HEAD_TOKENS });
}

/** The address of a page as a resource. */
export const resourceUri = (job: string, address: string): string =>
  `scrapifie://jobs/${urlPart(job)}/pages/${urlPart(address)}`;
