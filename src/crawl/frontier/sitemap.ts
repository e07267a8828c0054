import { decodeSitemap } from './sitemap-bytes.ts';
import type { SitemapItem, SitemapReader, SitemapStop } from './sitemap-item.ts';
import { createTextReader } from './sitemap-text.ts';
import { createXmlReader } from './sitemap-xml.ts';

export type { SitemapItem } from './sitemap-item.ts';

export interface SitemapLimits {
  /** Entries read of one file; language alternates belong to their entry. */
  readonly maxUrls: number;
  /** The most bytes of the file after decompression. */
  readonly maxBytes: number;
}

/** What sitemaps.org allows one file to have. */
export const SITEMAP_LIMITS: SitemapLimits = { maxUrls: 50_000, maxBytes: 52_428_800 };

/**
 * How reading ended. `reason` is null when the whole file was read; else `url-limit`, `byte-limit`, `html-page`,
 * `not-a-sitemap`, `empty`, `broken-gzip: …` or `broken-xml: …`.
 */
export interface SitemapEnd {
  readonly truncated: SitemapStop['truncated'];
  readonly reason: SitemapStop['reason'] | null;
  /** Number of items that were yielded. */
  readonly count: number;
}

/**
 * Reads a sitemap, sitemap index, RSS or Atom feed or list of URLs, gzipped or not, while it arrives, in memory that
 * does not grow with the file. Bad content never throws: what came before the break is yielded and the returned value
 * says why there is no more. Only a failure of `chunks` itself passes through. Ending early closes `chunks`.
 */
export async function* readSitemap(
  chunks: AsyncIterable<Uint8Array>,
  limits: SitemapLimits = SITEMAP_LIMITS,
): AsyncGenerator<SitemapItem, SitemapEnd, void> {
  const pieces = decodeSitemap(chunks, limits.maxBytes);
  let reader: SitemapReader | null = null;
  let count = 0;
  try {
    for (;;) {
      const piece = await pieces.next();
      if (piece.done !== true) {
        reader ??= chooseReader(piece.value, limits.maxUrls);
        reader.write(piece.value);
      } else if (piece.value !== null || reader === null) {
        const reason = piece.value ?? 'empty';
        return { truncated: reason !== 'empty', reason, count };
      } else reader.end();

      for (const item of reader.take()) {
        count++;
        yield item;
      }
      if (reader.stopped !== null) return { ...reader.stopped, count };
      if (piece.done === true) return { truncated: false, reason: null, count };
    }
  } finally {
    await pieces.return(null);
  }
}

function chooseReader(head: string, maxUrls: number): SitemapReader {
  return head.trimStart().startsWith('<') ? createXmlReader(maxUrls) : createTextReader(maxUrls);
}
