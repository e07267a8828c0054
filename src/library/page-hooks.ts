import { type PageResult, rawTextOf } from '../capabilities/jobs/results/page-result.ts';
import type { ErrorCode } from '../core/errors/registry.ts';
import type { Page } from '../core/model/page.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import { documentOf, type PageDocument } from '../extract/rules/page-document.ts';

/** A page of a crawl, as the loop, the pipeline and `onPage` get it. */
export interface CrawledPage<Extracted = Readonly<Record<string, unknown>>>
  extends Omit<PageResult, 'extracted' | 'error'> {
  /** What `extract` or `extractor` found; null when it found nothing or the page is no text. */
  readonly extracted?: Extracted | null;
  /** Why there is no page, or why a hook did not handle it. */
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: unknown;
  };
}

/** Returns the page, a changed copy of it, or null, which drops it: neither later steps nor the loop get it. */
export type PipelineStep<Extracted> = (
  page: CrawledPage<Extracted>,
) => CrawledPage<Extracted> | null | Promise<CrawledPage<Extracted> | null>;

/** Code of the caller that is called with each page, in this order. It runs in the thread of the caller. */
export interface PageHooks<Extracted> {
  /**
   * Reads the document of a page; the value becomes `extracted`. It is called for pages that are text and arrived without
   * an error. An extractor that throws costs this one page its value: the page has the error PLUGIN_FAILED.
   */
  readonly extractor?: (document: PageDocument, page: PageResult) => Extracted | Promise<Extracted>;
  /** Steps that each page passes. A step that throws gives the page the error PLUGIN_FAILED, and ends its pipeline. */
  readonly pipeline?: readonly PipelineStep<Extracted>[];
  /** Awaited before the next page is read. An error that it throws ends the crawl, as one in the body of the loop does. */
  readonly onPage?: (page: CrawledPage<Extracted>) => void | Promise<void>;
}

const MOST_MESSAGE_CHARS = 500;

const failed = (what: string, thrown: unknown) => ({
  code: 'PLUGIN_FAILED' as const,
  message: `${what} threw: ${thrown instanceof Error ? thrown.message : String(thrown)}`.slice(
    0,
    MOST_MESSAGE_CHARS,
  ),
});

/** Calls the hooks with one page. Returns null for a page that the pipeline dropped. */
export async function applyHooks<Extracted>(
  result: CrawledPage<Extracted>,
  stored: Page | null,
  blobs: Blobs,
  { extractor, pipeline = [], onPage }: PageHooks<Extracted>,
): Promise<CrawledPage<Extracted> | null> {
  let page = result;
  if (extractor !== undefined) page = await extracted(page, stored, blobs, extractor);
  for (const step of pipeline) {
    try {
      const next = await step(page);
      if (next === null) return null;
      page = next;
    } catch (error) {
      page = { ...page, error: failed('A step of the pipeline', error) };
      break;
    }
  }
  await onPage?.(page);
  return page;
}

async function extracted<Extracted>(
  page: CrawledPage<Extracted>,
  stored: Page | null,
  blobs: Blobs,
  extractor: NonNullable<PageHooks<Extracted>['extractor']>,
): Promise<CrawledPage<Extracted>> {
  const html = stored === null || page.error !== undefined ? null : await textOf(stored, blobs);
  if (html === null) return { ...page, extracted: null };
  try {
    const document = documentOf(page.finalUrl, html, () => performance.now());
    return { ...page, extracted: await extractor(document, page as PageResult) };
  } catch (error) {
    return { ...page, extracted: null, error: failed('The extractor', error) };
  }
}

/** The document as it was read: of a page that a browser rendered, the rendered one. Null for bodies that are no text. */
async function textOf(page: Page, blobs: Blobs): Promise<string | null> {
  const body = page.contentHash === null ? null : await blobs.get(page.contentHash);
  return body === null ? null : rawTextOf(page, body);
}
