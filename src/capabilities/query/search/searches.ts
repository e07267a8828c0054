import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobId } from '../../../core/model/ids.ts';
import type { QueryScope } from '../../../core/ports/query-store.ts';
import {
  type FoundPage,
  type IndexHit,
  MOST_RANKED,
  parseSearch,
  type Search,
  SearchProblem,
  type SearchQuery,
  type SearchStore,
} from '../../../core/ports/search-store.ts';
import { invalidRequest } from '../../jobs/request/invalid-request.ts';
import { type MarkedText, markedText, snippetOf } from './snippet.ts';

export interface SearchRequest {
  readonly q: string;
  readonly host?: string | undefined;
  readonly jobId?: JobId | undefined;
  readonly limit: number;
  /** The `nextCursor` of the answer before. */
  readonly cursor?: string | undefined;
}

export interface SearchHit {
  readonly url: string;
  readonly jobId: JobId;
  readonly statusCode: number | null;
  readonly fetchedAt: string;
  readonly score: number;
  /** The marked title; null for a page that has no title. */
  readonly title: MarkedText | null;
  readonly snippet: MarkedText;
}

export interface SearchAnswer {
  readonly items: readonly SearchHit[];
  readonly nextCursor: string | null;
}

/** Full-text search over the pages of jobs with `search`. */
export interface Searches {
  /** Throws VALIDATION_FAILED for words that cannot be searched for, and for a cursor of another search. */
  run(scope: QueryScope, request: SearchRequest): Promise<SearchAnswer>;
}

/** Looks at the index for one answer: more than one only where the store no longer has what it named. */
const MOST_LOOKS = 5;

export function createSearches(
  store: Pick<SearchStore, 'readFoundPages'>,
  index: Pick<Search, 'find' | 'textsOf'>,
): Searches {
  return {
    async run(scope, request) {
      const words = wordsOf(request.q);
      const { limit, host, jobId } = request;
      let offset = offsetOf(request);
      const items: SearchHit[] = [];
      let isMore = true;
      for (let looks = 0; looks < MOST_LOOKS && isMore && items.length < limit; looks += 1) {
        const wanted = limit - items.length;
        const hits = await index.find({ ...scope, words, host, jobId, offset, limit: wanted + 1 });
        isMore = hits.length > wanted && offset + wanted < MOST_RANKED;
        const shown = hits.slice(0, wanted);
        offset += shown.length;
        items.push(...(await readHits(scope, shown, words)));
      }
      return { items, nextCursor: isMore ? `${offset}.${digestOf(request)}` : null };
    },
  };

  async function readHits(
    scope: QueryScope,
    hits: readonly IndexHit[],
    words: SearchQuery,
  ): Promise<SearchHit[]> {
    if (hits.length === 0) return [];
    const pages = await store.readFoundPages(scope, hits);
    const texts = await index.textsOf(pages);
    const byPlace = new Map(pages.map((page, at) => [`${page.jobId} ${page.pageSeq}`, { page, at }]));
    const found: SearchHit[] = [];
    for (const { jobId, pageSeq, score } of hits) {
      const place = byPlace.get(`${jobId} ${pageSeq}`);
      if (place !== undefined) found.push(hitOf(place.page, texts[place.at] ?? '', score, words));
      // The text of a page may be long, and other requests wait.
      await nextTurn();
    }
    return found;
  }
}

function wordsOf(q: string): SearchQuery {
  try {
    return parseSearch(q);
  } catch (error) {
    if (error instanceof SearchProblem) throw invalidRequest([{ field: 'q', message: error.message }]);
    throw error;
  }
}

function hitOf(page: FoundPage, text: string, score: number, words: SearchQuery): SearchHit {
  const { url, jobId, statusCode, title } = page;
  return {
    url,
    jobId,
    statusCode,
    fetchedAt: new Date(page.fetchedAt).toISOString(),
    score: Math.round(score * 1_000) / 1_000,
    title: title === null ? null : markedText(title, words),
    snippet: snippetOf(text, words),
  };
}

/** Tells searches apart; `limit` may change from answer to answer. */
const digestOf = ({ q, host, jobId }: SearchRequest) =>
  hash('sha256', JSON.stringify([q, host ?? null, jobId ?? null]), 'base64url').slice(0, 12);

function offsetOf(request: SearchRequest): number {
  const { cursor } = request;
  if (cursor === undefined) return 0;
  const [, offset, digest] = /^(\d{1,6})\.([\w-]{12})$/.exec(cursor) ?? [];
  if (offset !== undefined && digest === digestOf(request) && Number(offset) <= MOST_RANKED)
    return Number(offset);
  throw invalidRequest([{ field: 'cursor', message: 'Not a cursor of this search.' }]);
}
