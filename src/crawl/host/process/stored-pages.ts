import { isDeepStrictEqual } from 'node:util';
import { isScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { runsScripts } from '../../../core/model/engine-traits.ts';
import type { ContentHash, JobId, UrlKey } from '../../../core/model/ids.ts';
import type { PageOptions } from '../../../core/model/job.ts';
import { FETCH_OPTIONS } from '../../../core/model/plain-options.ts';
import type { Task } from '../../../core/model/task.ts';
import type { Blobs } from '../../../core/ports/blobs.ts';
import type { StoredPage, StoredPageStore } from '../../../core/ports/job-store.ts';
import type { FetchResponse } from '../../../fetch/engine.ts';
import type { RunningJob } from './running-job.ts';

/** A stored page with its body. */
export interface StoredResponse {
  readonly page: StoredPage;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Pages that earlier jobs of the account have stored, for jobs that may use them. */
export interface StoredPages {
  /** The page that answers the task without a request, as `maxAge` of its job allows; null when there is none. */
  fresh(task: Task, running: RunningJob): Promise<StoredResponse | null>;
  /** The page that the crawl before has stored for the URL, when its body is there; null when there is none. */
  earlier(task: Task, running: RunningJob): Promise<StoredPage | null>;
  /** The body of a stored page; null when it is gone. */
  body(hash: ContentHash): Promise<Uint8Array<ArrayBuffer> | null>;
}

export interface StoredPagesParts {
  readonly store: StoredPageStore;
  readonly blobs: Pick<Blobs, 'get' | 'has'>;
  readonly now: () => number;
}

const MOST_CANDIDATES = 5;

export function createStoredPages({ store, blobs, now }: StoredPagesParts): StoredPages {
  const lookUp = createLookUp((job, keys) => store.pagesOf(job, keys));

  async function body(hash: ContentHash): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = await blobs.get(hash);
    // A body of its own: it is given away to the thread that reads it.
    return bytes === null ? null : new Uint8Array(bytes);
  }

  return {
    body,
    fresh: (task, running) =>
      orNull(async () => {
        const { page: wanted } = running.job.options;
        const { maxAgeMs = 0 } = wanted;
        if (maxAgeMs <= 0 || !isShareable(wanted)) return null;
        const found = await store.recentPages({
          accountId: running.job.accountId,
          urlKey: task.urlKey,
          since: now() - maxAgeMs,
          limit: MOST_CANDIDATES,
        });
        for (const page of found) {
          if (page.url !== task.url || !answers(page, wanted)) continue;
          const bytes = page.contentHash === null ? null : await body(page.contentHash);
          if (bytes !== null) return { page, body: bytes };
        }
        return null;
      }),
    earlier: (task, running) =>
      orNull(async () => {
        const { refreshes, page: wanted } = running.job.options;
        if (refreshes === undefined || !isShareable(wanted)) return null;
        const page = await lookUp(refreshes, task.urlKey);
        if (page === null || page.contentHash === null || runsScripts(page.engine)) return null;
        if (page.etag === null && page.lastModified === null) return null;
        return isShareable(page.options) && (await blobs.has(page.contentHash)) ? page : null;
      }),
  };
}

/** Stored pages save requests: where they cannot be read, the page is requested. */
async function orNull<T>(look: () => Promise<T | null>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    return null;
  }
}

/**
 * Whether the page is the same for every client. A page that was requested with headers, cookies, a session, a proxy or
 * actions may belong to one client, and such a request is never answered by a stored page.
 */
export function isShareable({ method, headers, cookies, session, proxy, render }: PageOptions): boolean {
  const isPlain = Object.keys(headers).length === 0 && Object.keys(cookies).length === 0;
  return isPlain && method === 'GET' && session === null && proxy === null && render?.actions === undefined;
}

/** Whether the page was fetched as it is wanted now. How it is read may differ: it is read again. */
function answers(page: StoredPage, wanted: PageOptions): boolean {
  const had = page.options;
  if (had.isReusable === false || !isShareable(had) || page.bytes > wanted.maxBodyBytes) return false;
  // Pictures and recorded answers are no part of the body, nor is the document before its scripts ran.
  const { render } = wanted;
  if (render?.screenshot !== undefined || render?.pdf === true || render?.captureXhr === true) return false;
  if (runsScripts(page.engine) && wanted.formats.includes('rawHtml')) return false;
  return FETCH_OPTIONS.every((name) => isDeepStrictEqual(had[name], wanted[name]));
}

interface LookUp {
  readonly job: JobId;
  readonly key: UrlKey;
  readonly resolve: (page: StoredPage | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks for the pages of all tasks that start together at once: a page costs a part of a round trip. */
function createLookUp(
  ask: StoredPageStore['pagesOf'],
): (job: JobId, key: UrlKey) => Promise<StoredPage | null> {
  let waiting: LookUp[] = [];

  async function askTogether(job: JobId, lookUps: readonly LookUp[]): Promise<void> {
    try {
      const pages = await ask(
        job,
        lookUps.map(({ key }) => key),
      );
      const found = new Map(pages.map((page) => [page.urlKey, page]));
      for (const { key, resolve } of lookUps) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of lookUps) reject(error);
    }
  }

  function askAll(): void {
    const asked = Map.groupBy(waiting, ({ job }) => job);
    waiting = [];
    for (const [job, lookUps] of asked) void askTogether(job, lookUps);
  }

  return (job, key) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(askAll);
      waiting.push({ job, key, resolve, reject });
    });
}

/** A stored page as a response. One that a browser has shown is read as such: its scripts have run. */
export function storedResponse({ page, body }: StoredResponse): FetchResponse {
  const { url, finalUrl, statusCode, contentType, etag, lastModified, fetchedAt } = page;
  const extra = { screenshot: null, pdf: null, xhr: [], consoleErrors: [], actions: [], storage: null };
  return {
    url,
    finalUrl,
    statusCode: statusCode ?? 200,
    headers: { etag: etag ?? undefined, 'last-modified': lastModified ?? undefined },
    contentType,
    body,
    wireBytes: 0,
    redirects: [],
    redirectedTo: null,
    ms: 0,
    httpVersion: '1.1',
    ...(runsScripts(page.engine) ? { rendered: { rawBody: null, extra, failure: null } } : {}),
    stored: { reason: 'cache', storedAt: fetchedAt },
  };
}
