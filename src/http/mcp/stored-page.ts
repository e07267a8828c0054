import { urlPart } from '../../lib/url-part.ts';
import { type ApiCall, ApiFailure, dataOf } from './api-call.ts';
import { readCursor } from './cursor.ts';
import { HEAD_TOKENS } from './listing.ts';
import { type PageAnswer, type PageFormat, pageParts, STORED_FORMATS } from './page-text.ts';
import type { Part, ToolContext } from './tool.ts';

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
