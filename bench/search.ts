import { statSync } from 'node:fs';
import { join } from 'node:path';
import { rebuildIndex } from '../src/capabilities/query/search/search-reader.ts';
import { createSearches } from '../src/capabilities/query/search/searches.ts';
import type { ContentHash, HostKey, JobId, UrlKey } from '../src/core/model/ids.ts';
import { packRecord } from '../src/core/model/page-record.ts';
import type { Store } from '../src/core/ports/store.ts';
import { openSearch } from '../src/wiring/open-search.ts';
import { openStore } from '../src/wiring/storage.ts';
import { OPTIONS } from '../test/contract/store/fixtures.ts';
import type { BenchOptions, Part } from './part.ts';
import { type StoreUnderTest, withBothStores } from './postgres.ts';
import { figure } from './report.ts';
import { quantile } from './sample.ts';
import { createRandom, KINDS, pageOf } from './search/corpus.ts';

const FULL = { pages: 100_000, searches: 400 };
const QUICK = { pages: 2_000, searches: 40 };
const MOST_MEDIAN_MS = 100;
const PAGES_PER_JOB = 1_000;
const HITS = 20;

/** Stores a job with pages as a crawl does. */
async function storeJob(on: Store, first: number, count: number): Promise<void> {
  const accountId = await on.defaultAccount();
  const host = `h${first}.test`;
  const tasks = Array.from({ length: count }, (_, n) => ({
    kind: 'page' as const,
    url: `https://${host}/${n}`,
    urlKey: `${first}-${n}`.padStart(22, '0') as UrlKey,
    hostKey: host as HostKey,
    depth: 0,
    foundBy: 'seed' as const,
    foundOn: null,
    state: 'ready' as const,
    rule: null,
  }));
  const options = { ...OPTIONS, search: true as const };
  const id = crypto.randomUUID() as string as JobId;
  await on.createJob({ id, accountId, kind: 'crawl', options, seeds: [] }, tasks);
  const lease = await on.acquireHost(host as HostKey, 'bench', 600_000);
  if (lease === null) throw new Error('The host could not be acquired.');
  const claimed = await on.claimTasks(lease, count, []);
  const completions = claimed.map((task, n) => {
    const { title, record } = pageOf(first + n);
    const packed = packRecord(record);
    return {
      lease,
      taskId: task.id,
      jobSeq: task.jobSeq,
      end: { state: 'done' as const, rule: null },
      trace: [],
      bytes: packed.byteLength,
      discovered: [],
      page: {
        url: task.url,
        finalUrl: task.url,
        statusCode: 200,
        contentType: 'text/html',
        charset: 'utf-8',
        fetchedAt: Date.now(),
        depth: 0,
        contentHash: (first + n).toString(16).padStart(64, '0') as ContentHash,
        textHash: null,
        bytes: packed.byteLength,
        title,
        etag: null,
        lastModified: null,
        duplicateOf: null,
        errorCode: null,
        errorMessage: null,
        record: packed,
      },
    };
  });
  for (let at = 0; at < completions.length; at += 100) await on.commit(completions.slice(at, at + 100));
}

interface KindFigures {
  readonly kind: string;
  readonly times: number[];
  hits: number;
}

interface SearchFigures {
  readonly name: string;
  readonly indexMsPerPage: number;
  /** Size of SQLite's file; null for tables in a database. */
  readonly indexBytes: number | null;
  readonly kinds: readonly KindFigures[];
}

async function measure({ name, place }: StoreUnderTest, sizes: typeof FULL): Promise<SearchFigures> {
  const store = await openStore(place, () => undefined, Date.now);
  const index = openSearch({ ...place, s3Url: undefined, spillBytes: 0 });
  try {
    for (let first = 0; first < sizes.pages; first += PAGES_PER_JOB) {
      await storeJob(store, first, Math.min(PAGES_PER_JOB, sizes.pages - first));
    }
    const beganAt = performance.now();
    const indexed = await rebuildIndex({ store, index });
    const indexMsPerPage = (performance.now() - beganAt) / indexed;
    const service = createSearches(store, index);
    const scope = { accountId: await store.defaultAccount(), hasPrivate: false };
    const random = createRandom(42);
    const made = Object.entries(KINDS).map(([kind, make]) => ({
      make,
      figures: { kind, times: [], hits: 0 } as KindFigures,
    }));
    await service.run(scope, { q: 'warm up', limit: HITS });
    for (let n = 0; n < sizes.searches; n += 1) {
      const { make, figures } = made[n % made.length] as (typeof made)[number];
      const q = make(random);
      const startedAt = performance.now();
      const { items } = await service.run(scope, { q, limit: HITS });
      figures.times.push(performance.now() - startedAt);
      figures.hits += items.length;
    }
    const isFile = place.databaseUrl === undefined;
    const indexBytes = isFile ? statSync(join(place.dataDir, 'search.db')).size : null;
    return { name, indexMsPerPage, indexBytes, kinds: made.map(({ figures }) => figures) };
  } finally {
    await index.close();
    await store.close();
  }
}

/** How long full-text search takes, snippets included, over many pages, and what indexing costs. */
export const search: Part = {
  name: 'search',
  async run({ isQuick, scratch, say }: BenchOptions) {
    const sizes = isQuick ? QUICK : FULL;
    const all = await withBothStores(scratch, (under) => measure(under, sizes));
    const timesOf = ({ kinds }: SearchFigures) => kinds.flatMap(({ times }) => times);
    for (const each of all) say(`${each.name}: median ${figure(quantile(timesOf(each), 0.5))} ms`);
    return {
      title: 'Search',
      about: `Full-text searches with ${HITS} snippets over ${figure(sizes.pages)} pages of 600 words, ${sizes.searches} of them in each store.`,
      tables: all.map(({ name, kinds }) => ({
        columns: [name, 'median ms', '95 % ms', 'most ms', 'hits'],
        rows: kinds.map(({ kind, times, hits }) => [
          kind,
          ...[0.5, 0.95, 1].map((share) => figure(quantile(times, share))),
          figure(hits / times.length),
        ]),
      })),
      bars: all.map((each) => ({
        claim: `median of a search over ${figure(sizes.pages)} pages, ${each.name}`,
        measured: quantile(timesOf(each), 0.5),
        atMost: MOST_MEDIAN_MS,
        unit: 'ms',
      })),
      notes: all.map(
        ({ name, indexMsPerPage, indexBytes }) =>
          `${name}: indexing took ${figure(indexMsPerPage)} ms a page${indexBytes === null ? '' : `, and the index has ${figure(indexBytes / sizes.pages)} bytes a page`}.`,
      ),
      data: all,
    };
  },
};
