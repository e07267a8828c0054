import { setTimeout as delay } from 'node:timers/promises';

export interface ApiCrawl {
  readonly pages: number;
  readonly failed: number;
  /** From the acceptance of the job to its end, by the store's clock. */
  readonly seconds: number;
}

interface JobView {
  readonly id: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly progress: { readonly pages: number; readonly failed: number };
}

const LOOK_MS = 250;
const LIMIT_MS = 600_000;

/** One crawl as a client would do it: a request, and looks at the job until it has ended. */
export async function crawlThroughApi(
  { origin, apiKey }: { readonly origin: string; readonly apiKey: string },
  urls: readonly string[],
  concurrency: number,
  options: Readonly<Record<string, unknown>> = {},
): Promise<ApiCrawl> {
  const ask = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text.slice(0, 300)}`);
    return (JSON.parse(text) as { data: T }).data;
  };
  const { id } = await ask<JobView>('/v1/crawl', {
    ...{ urls, concurrency, maxPages: null, sitemap: 'skip' },
    ...options,
  });
  for (const endAt = performance.now() + LIMIT_MS; performance.now() < endAt; ) {
    const { createdAt, finishedAt, progress } = await ask<JobView>(`/v1/jobs/${id}`);
    if (finishedAt !== null) {
      const seconds = (Date.parse(finishedAt) - Date.parse(createdAt)) / 1_000;
      return { pages: progress.pages, failed: progress.failed, seconds };
    }
    await delay(LOOK_MS);
  }
  throw new Error(`The crawl did not end within ${LIMIT_MS} ms.`);
}
