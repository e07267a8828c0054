import { workerData } from 'node:worker_threads';
import type { PageRecord } from '../core/model/page.ts';
import { unpackRecord } from '../core/model/page-record.ts';
import { searchTextOf } from '../core/model/search-words.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { FoundPage, Search, SearchablePage, SearchIndex } from '../core/ports/search-store.ts';
import { isTextual, textOfBody } from '../crawl/read/read-page.ts';
import { answerCalls, lowerThreadPriority, notify } from '../lib/threads/answer-calls.ts';
import { type OpenBlobs, openBlobs } from './open-blobs.ts';
import type { IndexMethods, IndexNotice, SearchThreadData } from './open-search.ts';

/** The entry of a thread that works on the full-text index: it opens the index by itself. */
const { place, blobs: blobsPlace, isPatient, mends } = workerData as SearchThreadData;

/** Bodies in memory at once, apart from one that has more by itself. */
const MOST_BODY_BYTES = 8 * 1_024 * 1_024;
/** Bodies that are asked for at the same time. */
const READS_AT_ONCE = 16;

/** Each loads what it needs: the client of PostgreSQL costs as much as indexing a hundred pages. */
async function openIndex(): Promise<SearchIndex> {
  if (!('url' in place)) {
    const { openSqliteSearch } = await import('../drivers/search-sqlite/search-sqlite.ts');
    const tell = (rebuilt: string | null) => notify<IndexNotice>({ rebuilt });
    return openSqliteSearch(
      place.path,
      mends ? { onRebuilt: ({ message }) => tell(message), onBehind: () => tell(null) } : {},
    );
  }
  const { openPostgresSearch } = await import('../drivers/search-postgres/search-postgres.ts');
  return openPostgresSearch({ url: place.url, readUrl: place.readUrl, poolSize: 2 });
}
const nothing = () => undefined;
/** Opened for the first body; where that fails, again for the next one. */
let blobs: Promise<OpenBlobs> | undefined;

const bytesOf = (page: SearchablePage | FoundPage | undefined): number => page?.body?.bytes ?? 0;

const bodyTextOf = ({ page, body }: WithBody<SearchablePage | FoundPage>): string =>
  body === null || page.body === null ? '' : textOfBody(body, page.body);

const index = withBodies(await openIndex(), async (hash) => {
  blobs ??= openBlobs(blobsPlace, { isFirst: false, onAway: nothing, onReturn: nothing });
  const opening = blobs;
  const opened = await opening.catch((error: unknown) => {
    if (blobs === opening) blobs = undefined;
    throw error;
  });
  return opened.get(hash);
});

if (isPatient) lowerThreadPriority();

answerCalls<IndexMethods>({
  put: (pages) => index.put(pages),
  textsOf: (pages) => index.textsOf(pages),
  remove: (query) => index.remove(query),
  beginRebuild: () => index.beginRebuild(),
  endRebuild: () => index.endRebuild(),
  find: (query) => index.find(query),
  listJobs: (query) => index.listJobs(query),
  async close() {
    await (await blobs)?.close();
    await index.close();
  },
});

type GetBody = Blobs['get'];

/** The index, with the texts of pages read from their bodies. */
function withBodies(index: SearchIndex, get: GetBody): Search {
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
