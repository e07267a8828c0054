import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ContentHash, HostKey, JobId, UrlKey } from '../src/model/ids.ts';
import { packRecord } from '../src/model/page-record.ts';
import type { Store } from '../src/ports/store.ts';
import { rebuildIndex } from '../src/query/search/keep-index.ts';
import { createSearches } from '../src/query/search/searches.ts';
import { openSearch } from '../src/wiring/open-search.ts';
import { openStore } from '../src/wiring/open-store.ts';
import { OPTIONS } from '../test/contract/store/fixtures.ts';
import { createRandom, KINDS, pageOf } from './search/corpus.ts';

/**
 * How long full-text search takes, snippets included, over many pages, and what indexing costs:
 * `node bench/search.ts --pages 100000 --searches 400 [--database postgres://…]`. Without a database it is SQLite in a
 * folder that is removed at the end; the tables of a database stay, so give one that is empty.
 */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '100000' },
    searches: { type: 'string', default: '400' },
    database: { type: 'string' },
  },
});
const [pages, searches] = [Number(values.pages), Number(values.searches)];
const BAR_MS = 100;
const PAGES_PER_JOB = 1_000;
const HITS = 20;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'scrapifie-search-bench-'));
const place = { dataDir: folder, databaseUrl: values.database, databasePool: 4 };
const store = await openStore(place, () => undefined, Date.now);
const index = openSearch(place);
const accountId = await store.defaultAccount();

/** Stores a job with pages as a crawl does. */
async function storeJob(on: Store, first: number, count: number): Promise<void> {
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

const median = (times: readonly number[]) => quantile(times, 0.5);
function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
const ms = (time: number) => `${time.toFixed(1)} ms`;

try {
  say(`${values.database === undefined ? 'SQLite' : 'PostgreSQL'}, ${pages} pages of 600 words`);
  for (let first = 0; first < pages; first += PAGES_PER_JOB) {
    await storeJob(store, first, Math.min(PAGES_PER_JOB, pages - first));
  }
  const beganAt = performance.now();
  const cpu = process.cpuUsage();
  const indexed = await rebuildIndex({ store, index });
  const { user, system } = process.cpuUsage(cpu);
  const tookMs = performance.now() - beganAt;
  say(
    `indexed ${indexed}: ${ms(tookMs / indexed)} a page, ${ms((user + system) / 1_000 / indexed)} of this process's processor`,
  );
  if (values.database === undefined) {
    const bytes = statSync(join(folder, 'search.db')).size;
    say(`the index has ${(bytes / 1e6).toFixed(1)} MB, ${Math.round(bytes / indexed)} bytes a page`);
  }
  const service = createSearches(store, index);
  const scope = { accountId, hasPrivate: false };
  const random = createRandom(42);
  const all: number[] = [];
  const rows = Object.entries(KINDS).map(([kind, make]) => ({ kind, make, times: [] as number[], hits: 0 }));
  await service.run(scope, { q: 'warm up', limit: HITS });
  for (let n = 0; n < searches; n += 1) {
    const row = rows[n % rows.length] as (typeof rows)[number];
    const q = row.make(random);
    const startedAt = performance.now();
    const { items } = await service.run(scope, { q, limit: HITS });
    const took = performance.now() - startedAt;
    row.times.push(took);
    row.hits += items.length;
    all.push(took);
  }
  for (const { kind, times, hits } of rows) {
    const figures = [
      `median ${ms(median(times))}`,
      `95 % ${ms(quantile(times, 0.95))}`,
      `most ${ms(Math.max(...times))}`,
    ];
    say(`  ${kind.padEnd(34)} ${figures.join('  ')}  ${(hits / times.length).toFixed(1)} hits`);
  }
  const isMet = median(all) < BAR_MS;
  say(
    `all: median ${ms(median(all))}, 95 % ${ms(quantile(all, 0.95))}; bar: median < ${BAR_MS} ms, ${isMet ? 'met' : 'MISSED'}`,
  );
  process.exitCode = isMet ? 0 : 1;
} finally {
  await index.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}
