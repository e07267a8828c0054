import { hash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createComparisons } from '../../src/capabilities/compare/comparisons.ts';
import { type ChangeCounts, noCounts } from '../../src/capabilities/compare/site-change.ts';
import { type ContentHash, DEFAULT_ACCOUNT, type HostKey, type JobId } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import type { NewPage } from '../../src/core/model/page.ts';
import type { NewTask, Task } from '../../src/core/model/task.ts';
import type { Completion } from '../../src/core/ports/ledger-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { createCanonicalizer } from '../../src/crawl/frontier/canonical.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import { DEFAULT_RULES } from '../../src/extract/diff/diff-rules.ts';
import { completion, DONE, FAILED, newPage, newTask, OPTIONS } from '../contract/store/fixtures.ts';

export interface LargeDiff {
  readonly expected: ChangeCounts;
  readonly counts: ChangeCounts;
  readonly pages: number;
  readonly seconds: number;
  /** What the process held beyond what it held before the first row, at most. */
  readonly grownMb: number;
}

const ORIGIN = 'https://large.test';
const HOST = 'large.test' as HostKey;
const CLAIMED = 500;
const LEASE_MS = 3_600_000;
const canonical = createCanonicalizer(OPTIONS.scope);

/** What becomes of a page between the two crawls, by its number. */
function fateOf(page: number): keyof ChangeCounts {
  const fates = ['MODIFIED', 'ADDED', 'REMOVED', 'MOVED', 'NOT_COVERED'] as const;
  return fates[page % 100] ?? 'UNCHANGED';
}

/** The paths of a crawl, with the number of the page each. */
function* pathsOf(pages: number, isLater: boolean): Generator<readonly [string, number]> {
  for (let page = 0; page < pages; page += 1) {
    const fate = fateOf(page);
    if (fate === (isLater ? 'REMOVED' : 'ADDED')) continue;
    yield [fate === 'MOVED' && isLater ? `/moved/${page}` : `/page/${page}`, page];
  }
}

const taskOf = (url: string, foundOn: Task | null): NewTask =>
  newTask(url, {
    urlKey: canonical(url)?.urlKey ?? newTask(url).urlKey,
    ...(foundOn === null ? {} : { foundBy: 'link', foundOn: foundOn.id, depth: 1 }),
  });

const sha = (text: string): ContentHash => hash('sha256', text) as ContentHash;

/** The bytes of each page differ in both crawls; its text only where it is to be modified. */
function pageOf(task: Task, page: number, isLater: boolean): NewPage {
  const text = `text ${page} ${fateOf(page) === 'MODIFIED' && isLater ? 'later' : ''}`;
  const textHash = sha(text).slice(0, 32);
  return newPage(task, { contentHash: sha(`${text} ${isLater}`), textHash, title: 'A page', record: null });
}

async function crawl(store: Store, pages: number, isLater: boolean): Promise<Job> {
  const id = randomUUID() as string as JobId;
  const start = `${ORIGIN}/`;
  const job = { id, accountId: DEFAULT_ACCOUNT, kind: 'crawl', options: OPTIONS, seeds: [start] } as const;
  await store.createJob(job, [taskOf(start, null)]);
  const lease = await store.acquireHost(HOST, 'one', LEASE_MS);
  if (lease === null) throw new Error('The host could not be acquired.');
  const [first] = await store.claimTasks(lease, 1, []);
  if (first === undefined) throw new Error('The start page could not be claimed.');
  const numbers = new Map([...pathsOf(pages, isLater)].map(([path, page]) => [`${ORIGIN}${path}`, page]));
  const discovered = [...numbers.keys()].map((url) => taskOf(url, first));
  await store.commit([
    completion(lease, first, DONE, { page: newPage(first, { record: null }), discovered }),
  ]);
  for (;;) {
    const tasks = await store.claimTasks(lease, CLAIMED, []);
    if (tasks.length === 0) break;
    const ends = tasks.map((task): Completion => {
      const page = numbers.get(task.url) ?? 0;
      if (isLater && fateOf(page) === 'NOT_COVERED') return completion(lease, task, FAILED);
      return completion(lease, task, DONE, { page: pageOf(task, page, isLater) });
    });
    await store.commit(ends);
  }
  await store.releaseHost(lease, lease.state, 0);
  const ended = await store.getJob(id);
  if (ended === null || ended.finishedAt === null) throw new Error('The crawl has not ended.');
  return ended;
}

/** Two crawls of a large site are compared, with bodies that are made when they are asked for. */
export async function diffLargeSite(pages: number): Promise<LargeDiff> {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-large-diff-'));
  const store = await createSqliteStore({ path: join(folder, 'scrapifie.db') });
  await store.migrate();
  const blobs = { get: async (wanted: ContentHash) => Buffer.from(`<p>The page ${wanted}`) };
  const comparisons = createComparisons({ store, blobs });
  try {
    const [previous, current] = [await crawl(store, pages, false), await crawl(store, pages, true)];
    const expected = noCounts();
    // The start page is in both.
    expected.UNCHANGED += 1;
    for (let page = 0; page < pages; page += 1) expected[fateOf(page)] += 1;
    const counts = noCounts();
    globalThis.gc?.();
    const startedAt = performance.now();
    const heldMb = process.memoryUsage.rss() / 1_048_576;
    let mostMb = heldMb;
    for await (const { type } of comparisons.changes({ previous, current, rules: DEFAULT_RULES })) {
      counts[type] += 1;
      mostMb = Math.max(mostMb, process.memoryUsage.rss() / 1_048_576);
    }
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { expected, counts, pages, seconds, grownMb: Math.round(mostMb - heldMb) };
  } finally {
    await comparisons.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}
