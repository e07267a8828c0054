import type { Exchange } from './exchange.ts';

/** An exchange as a plain page has it; what is given takes the place of its parts. */
export function exchangeLike(given: Partial<Exchange> = {}): Exchange {
  return {
    key: ['page', 'job-1', given.url ?? 'one', 1],
    url: 'https://a.example/',
    finalUrl: given.url ?? 'https://a.example/',
    method: 'GET',
    requestHeaders: [['accept', 'text/html']],
    fetchedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    statusCode: 200,
    headers: [['content-type', 'text/html; charset=utf-8']],
    redirects: [],
    body: Buffer.from('<p>Hello</p>'),
    contentType: 'text/html; charset=utf-8',
    isNotModified: false,
    rendered: null,
    error: null,
    page: {
      depth: 0,
      title: 'Hello',
      outcome: 'ok',
      evidence: null,
      contentHash: null,
      textHash: null,
      duplicateOf: null,
    },
    ...given,
  };
}
