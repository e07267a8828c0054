import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a SearXNG was asked. */
export type Asked = Readonly<Record<string, string>>;

export interface SearxngServer {
  readonly url: string;
  readonly asked: Asked[];
  close(): Promise<void>;
}

export interface SearxngOptions {
  /** Formats that its settings allow; `html` alone is what a new installation has. */
  readonly formats: readonly string[];
  /** Hits in all, ten on a page. */
  readonly hits: number;
  /** Where hits lead to. */
  readonly origin: string;
  /** Entries before the hits, as broken engines give them. */
  readonly broken?: readonly unknown[];
}

const PER_PAGE = 10;
const CATEGORIES = ['general', 'news', 'images', 'science'];

/**
 * Answers `GET /search` as SearXNG does: 403 for a format that is not allowed, 400 without words, and the fields that its
 * engines give by category.
 */
export async function startSearxng({
  formats,
  hits,
  origin,
  broken = [],
}: SearxngOptions): Promise<SearxngServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://searxng');
    const given = Object.fromEntries(searchParams);
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (pathname !== '/search') return answer(404, {});
    asked.push(given);
    if (!formats.includes(given.format ?? 'html')) return answer(403, {});
    if ((given.q ?? '') === '') return answer(400, {});
    const category = CATEGORIES.includes(given.categories ?? '') ? given.categories : 'general';
    const from = (Number(given.pageno ?? 1) - 1) * PER_PAGE;
    const count = Math.max(0, Math.min(PER_PAGE, hits - from));
    const results = Array.from({ length: count }, (_, at) => {
      const hit = {
        url: `${origin}/docs/one?hit=${from + at}`,
        title: `Hit ${from + at}`,
        content: `About ${given.q}`,
        engine: 'test',
        category,
      };
      if (category === 'news') return { ...hit, publishedDate: '2026-11-01T00:00:00' };
      if (category !== 'images') return { ...hit, publishedDate: null, thumbnail: '' };
      return { ...hit, img_src: `${origin}/picture-${from + at}.png`, resolution: '640 x 480' };
    });
    return answer(200, {
      query: given.q,
      number_of_results: 0,
      results: [...broken, ...results],
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: [],
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
