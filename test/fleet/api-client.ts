import { expect, vi } from 'vitest';

/** An answer of the API, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly success: boolean;
    readonly data?: Readonly<Record<string, unknown>>;
    readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
  };
  /** How long it took. */
  readonly ms: number;
}

interface ResultList {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor: string | null;
}

export interface ApiClient {
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Accepts a job and resolves with its id. */
  accept(path: string, body: unknown): Promise<string>;
  /** Resolves with the job once it has ended. */
  ended(id: string, timeoutMs?: number): Promise<Readonly<Record<string, unknown>>>;
  /** Resolves with all pages of a job. */
  pages(id: string): Promise<Readonly<Record<string, unknown>>[]>;
}

const REQUEST_MS = 60_000;
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'partially_completed', 'failed', 'cancelled']);

/** Talks to the API at whatever origin it has at the moment. */
export function createApiClient(origin: () => string, apiKey: string): ApiClient {
  async function send(method: string, path: string, more: RequestInit = {}): Promise<Answer> {
    const startedAt = performance.now();
    const response = await fetch(origin() + path, {
      ...more,
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...more.headers },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : { success: false },
      ms: performance.now() - startedAt,
    };
  }
  const get = (path: string) => send('GET', path);
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    send('POST', path, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  return {
    get,
    post,
    async accept(path, body) {
      const { status, text, body: answer } = await post(path, body);
      expect(status, text).toBe(202);
      return String(answer.data?.id);
    },
    ended: (id, timeoutMs = REQUEST_MS) =>
      vi.waitFor(
        async () => {
          const { body, text } = await get(`/v1/jobs/${id}`);
          const { data = {} } = body;
          if (!ENDED.has(data.status)) throw new Error(`Has not ended: ${text}`);
          return data;
        },
        { timeout: timeoutMs, interval: 250 },
      ),
    async pages(id) {
      const found: Readonly<Record<string, unknown>>[] = [];
      for (let cursor = ''; ; ) {
        const { body, text } = await get(`/v1/jobs/${id}/results?limit=100${cursor}`);
        if (!body.success) throw new Error(text);
        const { items, nextCursor } = body.data as unknown as ResultList;
        found.push(...items);
        if (nextCursor === null) return found;
        cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
      }
    },
  };
}

/** The answer of an open page about the process itself. */
export async function look(origin: string, path: string): Promise<Answer> {
  return createApiClient(() => origin, 'none').get(path);
}
