import { parentPort, workerData } from 'node:worker_threads';
import { isScrapifieError } from '../errors/scrapifie-error.ts';
import type { PageRecord } from '../model/page.ts';
import { unpackRecord } from '../model/page-record.ts';
import { searchTextOf } from '../model/search-document.ts';
import { lowerThreadPriority } from '../observe/thread-priority.ts';
import { textOfBody } from '../pages/body-text.ts';
import type { SearchIndex } from '../ports/search-index.ts';
import type { FoundPage, SearchablePage } from '../ports/search-store.ts';
import type { IndexAnswer, IndexCall, PageWithBody, SearchThreadData } from './open-search.ts';

/** The entry of a thread that works on the full-text index: it opens the index by itself. */
if (parentPort === null) throw new Error('The search thread has no parent.');
const port = parentPort;
const { place, isPatient } = workerData as SearchThreadData;
/** Each loads what it needs: the client of PostgreSQL costs as much as indexing a hundred pages. */
async function openIndex(): Promise<SearchIndex> {
  if (!('url' in place)) {
    return (await import('../drivers/search-sqlite/search-sqlite.ts')).openSqliteSearch(place.path);
  }
  const { openPostgresSearch } = await import('../drivers/search-postgres/search-postgres.ts');
  return openPostgresSearch({ url: place.url, poolSize: 2 });
}
const index = await openIndex();

if (isPatient) lowerThreadPriority();

const bodyTextOf = ({ page, body }: PageWithBody<SearchablePage | FoundPage>) =>
  body === null || page.body === null ? '' : textOfBody(body, page.body);

/** Calls that come with bodies; all others are for the index as they are. */
const WITH_BODIES = {
  put: (part: readonly PageWithBody<SearchablePage>[]) =>
    index.put(part.map((each) => ({ ...each.page, bodyText: () => bodyTextOf(each) }))),
  textsOf: async (part: readonly PageWithBody<FoundPage>[]) =>
    part.map((each) => {
      const record = JSON.parse(unpackRecord(each.page.record).toString('utf8')) as PageRecord;
      return searchTextOf(record, () => bodyTextOf(each));
    }),
};

async function answer({ id, method, values }: IndexCall): Promise<IndexAnswer> {
  try {
    const call = { ...index, ...WITH_BODIES }[method] as (...given: unknown[]) => Promise<unknown>;
    return { id, result: await call(...values) };
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { id, failure: { code: isScrapifieError(error) ? error.code : null, message, stack } };
  }
}

/** One call after the other: what was put is there for those that come later. */
let last: Promise<void> = Promise.resolve();
port.on('message', (call: IndexCall) => {
  last = last.then(async () => {
    port.postMessage(await answer(call));
    if (call.method === 'close') port.close();
  });
});
