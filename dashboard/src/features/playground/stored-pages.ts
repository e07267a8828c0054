import { queryOptions } from '@tanstack/react-query';
import { asApiError } from '../../api/api-error.ts';
import { dataOf, pathOf } from '../../api/client.ts';
import type { Body, Page } from '../../api/types.ts';

/** A page of a job that was read once more, or why it could not be. */
export type ReadPage = Page;

/**
 * Reads stored pages of a job once more, without a request to the site, and stops after `most` of them: closing the
 * connection ends the work of the server.
 */
export async function readStoredPages(
  jobId: string,
  body: Body<'reextractJob'>,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<readonly ReadPage[]> {
  const own = new AbortController();
  const response = await fetch(pathOf('/v1/jobs/{id}/reextract', { id: jobId }), {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', 'x-scrapifie-dashboard': '1' },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, own.signal]),
  }).catch((cause: unknown) => {
    throw signal.aborted ? cause : asApiError(cause);
  });
  if (!response.ok || response.body === null) await dataOf(response);
  const pages: ReadPage[] = [];
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    const chunk = decoder.decode(bytes, { stream: true });
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') pages.push(JSON.parse(line));
    if (pages.length >= most) break;
  }
  own.abort();
  return pages.slice(0, most);
}

export type StoredFormat = 'markdown' | 'html' | 'text' | 'links' | 'metadata' | 'rawHtml';

/** A format of the page of a scrape that the request did not ask for. */
export const storedFormatQuery = (jobId: string, format: StoredFormat) =>
  queryOptions({
    queryKey: ['playground', 'stored', jobId, format],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<ReadPage | null> =>
      (await readStoredPages(jobId, { formats: [format] }, { most: 1, signal }))[0] ?? null,
  });
