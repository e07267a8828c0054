// Makes an ended job of many pages in an empty data folder, without fetching: node large-job.ts FOLDER PAGES. Prints its id as JSON.
import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { draftCrawl } from '../../src/capabilities/jobs/accept/job-draft.ts';
import { createJobIds } from '../../src/capabilities/jobs/job-id.ts';
import { crawlRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import type { NewTask, Task } from '../../src/core/model/task.ts';
import type { HostLease } from '../../src/core/ports/host-store.ts';
import type { Completion } from '../../src/core/ports/ledger-store.ts';
import { createCanonicalizer } from '../../src/crawl/frontier/canonical.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';

const ORIGIN = 'https://large.example';
/** Pages that one page leads to. */
const LINKS = 2_000;
const CLAIMED = 1_000;
const LEASE_MS = 3_600_000;

const [, , folder = '', wanted = ''] = process.argv;
mkdirSync(folder, { recursive: true });
const store = await createSqliteStore({ path: join(folder, 'scrapifie.db') });
await store.migrate();

const { options, kind, seeds, tasks } = draftCrawl(
  crawlRequestSchema.parse({ urls: [`${ORIGIN}/`], maxPages: null, sitemap: 'skip' }),
  () => false,
);
const canonical = createCanonicalizer(options.scope);
let discovered = 1;
let ended = 0;

function nextLinks(from: Task): NewTask[] {
  const count = Math.min(LINKS, Number(wanted) - discovered);
  const first = discovered;
  discovered += count;
  return Array.from({ length: count }, (_, at) => {
    const number = first + at;
    const url = `${ORIGIN}/section-${number % 97}/page-${number}`;
    const known = canonical(url);
    if (known === null) throw new Error(`${url} is no URL.`);
    const { urlKey, hostKey } = known;
    const found = { depth: from.depth + 1, foundBy: 'link', foundOn: from.id } as const;
    return { kind: 'page', url, urlKey, hostKey, ...found, state: 'ready', rule: null };
  });
}

/** Each hundredth page has failed, so that lists have something to filter. */
function endOf(lease: HostLease, task: Task): Completion {
  ended += 1;
  const hasFailed = ended % 100 === 50;
  const statusCode = hasFailed ? 503 : 200;
  const at = new Date().toISOString();
  const attempt = { engine: 'http', proxyTier: null, reason: 'plan.cheapest', statusCode, at } as const;
  const bytes = 4_000 + ((ended * 7_919) % 60_000);
  return {
    lease,
    taskId: task.id,
    jobSeq: task.jobSeq,
    end: hasFailed
      ? { state: 'failed', rule: 'attempt.error', errorCode: 'HTTP_ERROR' }
      : { state: 'done', rule: null },
    trace: [{ ...attempt, outcome: hasFailed ? 'error' : 'ok', ms: 5 + (ended % 900), bytes }],
    bytes,
    page: {
      url: task.url,
      finalUrl: task.url,
      statusCode,
      contentType: 'text/html; charset=utf-8',
      charset: 'utf-8',
      fetchedAt: Date.now(),
      depth: task.depth,
      contentHash: null,
      textHash: hash('sha256', task.url).slice(0, 32),
      bytes,
      title: `Page ${ended} of a large site`,
      etag: null,
      lastModified: null,
      duplicateOf: null,
      errorCode: hasFailed ? 'HTTP_ERROR' : null,
      errorMessage: null,
      record: null,
    },
    discovered: discovered < Number(wanted) ? nextLinks(task) : [],
  };
}

const id = createJobIds(Date.now, Math.random)();
const accountId = await store.defaultAccount();
await store.createJob({ id, accountId, kind, options, seeds }, tasks);
const host = tasks[0]?.hostKey;
const lease = host === undefined ? null : await store.acquireHost(host, 'bench', LEASE_MS);
if (lease === null) throw new Error('The host could not be acquired.');
for (;;) {
  const claimed = await store.claimTasks(lease, CLAIMED, []);
  if (claimed.length === 0) break;
  const { rejected } = await store.commit(claimed.map((task) => endOf(lease, task)));
  if (rejected.length > 0) throw new Error(`${rejected.length} completions were rejected.`);
}
await store.releaseHost(lease, lease.state, 0);
const job = await store.getJob(id);
if (job === null || job.finishedAt === null) throw new Error('The job has not ended.');
await store.close();
process.stdout.write(`${JSON.stringify({ id })}\n`);
