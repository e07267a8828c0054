import { z } from 'zod';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { defined } from '../../../lib/defined.ts';

/** One hit of a web search. Fields that the engine did not give are missing. */
export interface WebHit {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly date?: string;
  readonly imageUrl?: string;
  readonly imageWidth?: number;
  readonly imageHeight?: number;
}

export interface WebQuery {
  readonly query: string;
  readonly category: 'general' | 'news' | 'images' | 'science';
  readonly limit: number;
  readonly language: string | null;
  readonly timeRange: 'day' | 'week' | 'month' | 'year' | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const MOST_PAGES = 10;
const MOST_BYTES = 8_388_608;

const text = z.string().catch('');
const maybe = z.string().optional().catch(undefined);
const resultSchema = z.object({
  url: z.string().refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url)),
  title: text,
  content: text,
  publishedDate: maybe,
  img_src: maybe,
  thumbnail: maybe,
  thumbnail_src: maybe,
  resolution: maybe,
});
type Result = z.output<typeof resultSchema>;
/** Engines sometimes give results without a web address; the others are still good. */
const answerSchema = z.object({ results: z.array(resultSchema.nullable().catch(null)) });

/** Asks a SearXNG for as many pages of hits as the limit needs. Throws SEARCH_UNAVAILABLE. */
export async function searchWeb(base: string, query: WebQuery): Promise<WebHit[]> {
  const hits = new Map<string, WebHit>();
  const signal = AbortSignal.any([query.signal, AbortSignal.timeout(query.timeoutMs)]);
  for (let page = 1; page <= MOST_PAGES && hits.size < query.limit; page += 1) {
    const before = hits.size;
    for (const result of await askFor(base, query, page, signal)) {
      const key = query.category === 'images' ? (result.img_src ?? result.url) : result.url;
      if (!hits.has(key)) hits.set(key, hitOf(result));
    }
    if (hits.size === before) break;
  }
  return [...hits.values()].slice(0, query.limit);
}

async function askFor(base: string, query: WebQuery, page: number, signal: AbortSignal): Promise<Result[]> {
  const { url, authorization } = placeOf(base);
  url.search = new URLSearchParams({
    q: query.query,
    format: 'json',
    categories: query.category,
    pageno: String(page),
    ...(query.language === null ? {} : { language: query.language }),
    ...(query.timeRange === null ? {} : { time_range: query.timeRange }),
  }).toString();
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { accept: 'application/json', ...(authorization === null ? {} : { authorization }) },
      redirect: 'error',
      signal,
    });
  } catch (error) {
    if (query.signal.aborted) throw error;
    throw unavailable('did not answer', error);
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw unavailable(
      response.status === 403
        ? 'refuses JSON: add `json` to `search.formats` in its settings'
        : `answered ${response.status}`,
    );
  }
  const parsed = answerSchema.safeParse(await jsonOf(response).catch(() => null));
  if (!parsed.success) throw unavailable('answered something else than its results');
  return parsed.data.results.filter((result) => result !== null);
}

/** A login in the address is sent as a header: addresses with one cannot be fetched. */
function placeOf(base: string): { url: URL; authorization: string | null } {
  const url = new URL(`${base.replace(/\/+$/, '')}/search`);
  const { username, password } = url;
  if (username === '') return { url, authorization: null };
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  url.username = '';
  url.password = '';
  return { url, authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

async function jsonOf({ body }: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`More than ${MOST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function hitOf(result: Result): WebHit {
  const { url, title, content, publishedDate, img_src, thumbnail, thumbnail_src, resolution } = result;
  const imageUrl = img_src ?? thumbnail_src ?? thumbnail;
  const [, width, height] = /(\d+)\s*[x×]\s*(\d+)/.exec(resolution ?? '') ?? [];
  return {
    url,
    title,
    description: content,
    ...defined({ date: publishedDate }),
    ...(imageUrl === undefined || imageUrl === '' ? {} : { imageUrl }),
    ...(width === undefined ? {} : { imageWidth: Number(width), imageHeight: Number(height) }),
  };
}

const unavailable = (what: string, cause?: unknown) =>
  new ScrapifieError('SEARCH_UNAVAILABLE', `The search engine (SCRAPIFIE_SEARXNG_URL) ${what}.`, { cause });
