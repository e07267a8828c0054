import { queryOptions } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { Page } from '../../../api/types.ts';
import { readStoredPages } from '../stored-pages.ts';
import type { Rules } from './rule-draft.ts';

/** Stored pages that rules are tried on: the page of a scrape, or the first pages of a crawl. */
export interface Sample {
  readonly jobId: string;
  readonly label: string;
  readonly most: number;
}

/** What the rules yield over the pages of a sample. */
export const previewQuery = ({ jobId, most }: Sample, rules: Rules) =>
  queryOptions({
    queryKey: ['playground', 'rules', jobId, most, rules],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
    queryFn: ({ signal }) => readStoredPages(jobId, { formats: [], extract: { rules } }, { most, signal }),
  });

/** Jobs with several pages that rules can be tried on. */
export const recentJobsQuery = queryOptions({
  queryKey: ['jobs', 'for-rules'],
  queryFn: async ({ signal }) => {
    const { items } = await api.get('/v1/jobs', { query: { limit: 50 }, signal });
    return items.filter(({ kind }) => kind === 'crawl' || kind === 'batch').slice(0, 12);
  },
});

/** Fetches a page to try rules on; one that is stored and young enough answers without a request. */
export async function fetchSample(url: string): Promise<Sample> {
  const answer = await api.post('/v1/scrape', { body: { url, formats: ['metadata'], maxAge: '1h' } });
  return { jobId: answer.id, label: url, most: 1 };
}

/** Pages that a page links to and whose address has the same form: `/shop/2` for `/shop/1`. */
export function similarPages(page: Pick<Page, 'finalUrl' | 'links'>, most: number): readonly string[] {
  const own = URL.parse(page.finalUrl);
  if (own === null) return [];
  const formOf = (url: URL) => url.pathname.replace(/\d+/g, '0').split('/').slice(0, -1).join('/');
  const found = new Set<string>();
  for (const link of page.links ?? []) {
    const url = URL.parse(link.url);
    if (url === null || url.host !== own.host || url.pathname === own.pathname || url.pathname === '/')
      continue;
    if (url.pathname.split('/').length !== own.pathname.split('/').length || formOf(url) !== formOf(own))
      continue;
    url.hash = '';
    found.add(url.href);
    if (found.size >= most) break;
  }
  return [...found];
}
