import type { ContentHash } from '../../core/model/ids.ts';
import type { ArtifactRef, Page } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Snapshot } from '../../core/ports/snapshot-store.ts';
import type { ReadOptions } from '../../crawl/read/page-reading.ts';
import type { Extraction } from '../jobs/extraction.ts';
import { type PageResult, rawTextOf, readRecord } from '../jobs/results/page-result.ts';

/**
 * What a page had at one time, read from what is stored when it is asked for. Every method returns null when the body, or
 * the picture, is not kept any more.
 */
export interface PageContent {
  readonly url: string;
  readonly finalUrl: string;
  readonly title: string | null;
  readonly contentType: string | null;
  readonly contentHash: ContentHash | null;
  readonly fetchedAt: number;
  /** What `extract` of its job found; null: nothing. */
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly screenshot: ArtifactRef | null;
  body(): Promise<Uint8Array | null>;
  /** The document as text: as the browser had it where the page was rendered, else as the server sent it. */
  html(): Promise<string | null>;
  /** Text of the whole page, or of its main content only. */
  text(part?: ContentPart): Promise<string | null>;
  markdown(part?: ContentPart): Promise<string | null>;
  /** Any formats and extraction, read again from the body. */
  read(wanted: ReadOptions): Promise<PageResult | null>;
  /** The bytes of the screenshot. */
  picture(): Promise<Uint8Array | null>;
}

export type ContentPart = 'whole' | 'main';

export interface PageContents {
  ofSnapshot(snapshot: Snapshot): PageContent;
  /** A page of a job, whether or not there is a snapshot of it. */
  ofPage(page: Page): PageContent;
}

type StoredContent = Pick<
  PageContent,
  'url' | 'finalUrl' | 'title' | 'contentType' | 'contentHash' | 'fetchedAt' | 'record' | 'screenshot'
> & { readonly charset: string | null };

export interface PageContentsDeps {
  readonly blobs: Pick<Blobs, 'get'>;
  readonly extraction: Pick<Extraction, 'read'>;
}

export function createPageContents({ blobs, extraction }: PageContentsDeps): PageContents {
  function contentOf({ charset, ...stored }: StoredContent): PageContent {
    const { url, contentType, contentHash, screenshot } = stored;
    const body = async () => (contentHash === null ? null : blobs.get(contentHash));

    async function read(wanted: ReadOptions): Promise<PageResult | null> {
      const bytes = await body();
      if (bytes === null) return null;
      return extraction.read({ url, body: bytes, contentType: typeWith(contentType, charset) }, wanted);
    }
    const wanted = (format: 'text' | 'markdown', part: ContentPart): ReadOptions => ({
      formats: [format],
      extract: null,
      ...(part === 'main' ? {} : { parts: { onlyMain: false, includeTags: [], excludeTags: [] } }),
    });

    return {
      ...stored,
      body,
      read,
      async html() {
        const bytes = await body();
        return bytes === null ? null : rawTextOf({ contentType, charset }, bytes);
      },
      text: async (part = 'whole') => (await read(wanted('text', part)))?.text ?? null,
      markdown: async (part = 'whole') => (await read(wanted('markdown', part)))?.markdown ?? null,
      picture: async () => (screenshot === null ? null : blobs.get(screenshot.contentHash)),
    };
  }

  return {
    ofSnapshot: ({ firstSeenAt, ...snapshot }) => contentOf({ ...snapshot, fetchedAt: firstSeenAt }),
    ofPage(page) {
      const { url, finalUrl, title, contentType, charset, fetchedAt, expired = [] } = page;
      const { extracted = null, rendered } = readRecord(page.record);
      return contentOf({
        ...{ url, finalUrl, title, contentType, charset, fetchedAt },
        contentHash: expired.includes('bodies') ? null : page.contentHash,
        record: extracted,
        screenshot: expired.includes('artifacts') ? null : (rendered?.screenshot ?? null),
      });
    },
  };
}

/** What the body was decoded by, whatever decided it then. */
function typeWith(contentType: string | null, charset: string | null): string | null {
  if (charset === null) return contentType;
  return `${(contentType ?? 'text/html').split(';', 1)[0]?.trim()}; charset=${charset}`;
}
