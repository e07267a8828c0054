import type { PageRecord } from '../core/model/page.ts';
import { unpackRecord } from '../core/model/page-record.ts';
import { searchTextOf } from '../core/model/search-words.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Search, SearchIndex } from '../core/ports/search-index.ts';
import type { FoundPage, SearchablePage } from '../core/ports/search-store.ts';
import { textOfBody } from '../crawl/read/body-text.ts';
import { isTextual } from '../crawl/read/read-page.ts';

/** Bodies in memory at once, apart from one that has more by itself. */
const MOST_BODY_BYTES = 8 * 1_024 * 1_024;
/** Bodies that are asked for at the same time. */
const READS_AT_ONCE = 16;

type GetBody = Blobs['get'];

/** The index, with the texts of pages read from their bodies. */
export function withBodies(index: SearchIndex, get: GetBody): Search {
  return {
    ...index,
    async put(pages) {
      for await (const part of partsOf(pages, get)) {
        await index.put(part.map((each) => ({ ...each.page, bodyText: () => bodyTextOf(each) })));
      }
    },
    async textsOf(pages) {
      const texts: string[] = [];
      // What was found is shown without its text while bodies cannot be read.
      for await (const part of partsOf(pages, (hash) => get(hash).catch(() => null))) {
        for (const each of part) {
          const record = JSON.parse(unpackRecord(each.page.record).toString('utf8')) as PageRecord;
          texts.push(searchTextOf(record, () => bodyTextOf(each)));
        }
      }
      return texts;
    },
  };
}

interface WithBody<Kind extends SearchablePage | FoundPage> {
  readonly page: Kind;
  /** The stored body; null when it is missing or has no text. */
  readonly body: Uint8Array | null;
}

/** The pages in their order with their bodies, in parts whose bodies are in memory together. */
async function* partsOf<Kind extends SearchablePage | FoundPage>(
  pages: readonly Kind[],
  get: GetBody,
): AsyncGenerator<readonly WithBody<Kind>[]> {
  const read = async (page: Kind): Promise<WithBody<Kind>> => {
    const hasText = page.body !== null && isTextual(page.body.contentType);
    return { page, body: hasText && page.body !== null ? await get(page.body.contentHash) : null };
  };
  for (let start = 0; start < pages.length; ) {
    let end = start;
    let bytes = 0;
    do bytes += bytesOf(pages[end++]);
    while (end < pages.length && bytes + bytesOf(pages[end]) <= MOST_BODY_BYTES);
    const part: WithBody<Kind>[] = [];
    for (; start < end; start += READS_AT_ONCE) {
      const some = pages.slice(start, Math.min(end, start + READS_AT_ONCE));
      part.push(...(await Promise.all(some.map(read))));
    }
    start = end;
    yield part;
  }
}

const bytesOf = (page: SearchablePage | FoundPage | undefined): number => page?.body?.bytes ?? 0;

const bodyTextOf = ({ page, body }: WithBody<SearchablePage | FoundPage>): string =>
  body === null || page.body === null ? '' : textOfBody(body, page.body);
