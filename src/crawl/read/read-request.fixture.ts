import type { Incarnation, JobSeq, TaskId, UrlKey } from '../../core/model/ids.ts';
import type { PageOptions, Scope } from '../../core/model/job.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import { createCanonicalizer } from '../frontier/canonical.ts';
import type { ReadRequest } from './page-reading.ts';

export const FETCHED_AT = Date.UTC(2026, 0, 1);

export interface RequestChanges {
  readonly kind?: JobKind;
  readonly scope?: Partial<Scope>;
  readonly page?: Partial<PageOptions>;
  readonly seeds?: readonly string[];
  readonly generation?: number;
  readonly incarnation?: string;
  readonly task?: Partial<ReadRequest['task']>;
  readonly response?: Partial<Omit<ReadRequest['response'], 'body'>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const canonical = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });

export function keyOf(url: string): UrlKey {
  const found = canonical(url);
  if (found === null) throw new Error(`${url} cannot be fetched.`);
  return found.urlKey;
}

/** A page of http://site.test/ that was fetched well, unless told otherwise. */
export function requestFor(changes: RequestChanges = {}): ReadRequest {
  const url = changes.task?.url ?? 'http://site.test/page';
  const body = changes.body ?? '<title>A page</title><p>Text.';
  return {
    job: {
      seq: 1 as JobSeq,
      kind: changes.kind ?? 'crawl',
      seeds: changes.seeds ?? ['http://site.test/'],
      generation: changes.generation ?? 0,
      incarnation: (changes.incarnation ?? 'a') as Incarnation,
      options: {
        page: {
          engine: 'auto',
          formats: ['metadata', 'links'],
          headers: {},
          cookies: {},
          method: 'GET',
          body: null,
          timeoutMs: 1_000,
          maxAttempts: 1,
          maxBodyBytes: 1_000_000,
          obeyRobots: true,
          render: null,
          session: null,
          proxy: null,
          identity: null,
          extract: null,
          isInline: false,
          ...changes.page,
        },
        scope: {
          maxDepth: null,
          allowedDomains: [],
          allowSubdomains: false,
          allowExternal: false,
          include: [],
          exclude: [],
          ignoreQueryParameters: [],
          keepFragment: false,
          sitemap: 'skip',
          obeyNofollow: true,
          obeyNoindex: true,
          followCanonical: true,
          ...changes.scope,
        },
      },
    },
    task: { id: 7 as TaskId, kind: 'page', url, urlKey: keyOf(url), depth: 1, ...changes.task },
    response: {
      finalUrl: url,
      statusCode: 200,
      contentType: 'text/html; charset=utf-8',
      headers: {},
      ...changes.response,
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    },
    fetchedAt: FETCHED_AT,
  };
}
