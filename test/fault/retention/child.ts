import { parseArgs } from 'node:util';
import { sweepBlobs } from '../../../src/jobs/blob-sweep.ts';
import type { AccountId } from '../../../src/model/ids.ts';
import { PAGE_PARTS, type RetentionLimits, UNLIMITED_RETENTION } from '../../../src/model/retention.ts';
import { applyRetention, purgeAll } from '../../../src/retention/apply-retention.ts';
import { openStorage } from '../../../src/wiring/storage.ts';
import { randomFrom } from '../../site/random.ts';
import { storagePlaceOf, storeJob } from './random-pages.ts';

/**
 * Stores jobs while it deletes others, by hand and by retention, and in between removes blobs that nothing refers to.
 * Never ends by itself: it is killed. Each line it writes is a number of pages that are stored for good.
 */
const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: '.' },
    seed: { type: 'string', default: '1' },
    'database-url': { type: 'string' },
    's3-url': { type: 'string' },
  },
});
const random = randomFrom(Number(values.seed));
const storage = await openStorage(
  storagePlaceOf({ dataDir: values.dir, databaseUrl: values['database-url'], s3Url: values['s3-url'] }),
);
const { store } = storage;
const accountId = 'default' as AccountId;
const pick = (most: number) => Math.floor(random() * most);

/** Everything may go at any time: the youngest page is as old as it gets. */
function someLimits(): RetentionLimits {
  const kind = PAGE_PARTS[pick(3)] ?? 'bodies';
  const choices: readonly Partial<RetentionLimits>[] = [
    { ages: { [`${kind}Ms`]: pick(3_000) } },
    { ages: { ledgerMs: pick(3_000) } },
    { maxJobs: 5 + pick(20) },
    { maxBytes: pick(20_000_000) },
    {},
  ];
  return { ...UNLIMITED_RETENTION, ...choices[pick(choices.length)] };
}

async function deleteSome(): Promise<void> {
  const { items } = await store.listJobs({ accountId, limit: 50 });
  for (const job of items.filter(() => random() < 0.1)) {
    if (job.finishedAt === null) await store.cancelJob(job.id);
    await store.deleteJob(job.id).catch(() => false);
  }
  await applyRetention({ store, limitsOf: someLimits, eventsMs: 0 });
  await purgeAll(store, undefined, pick(20));
}

for (;;) {
  const size = random() < 0.1 ? 1_500 : 20 + pick(400);
  const stored = storeJob(storage, size, random, (count) => process.stdout.write(`${count}\n`));
  await Promise.all([stored, deleteSome()]);
  // No page is on its way now: what nothing refers to may go at any age.
  if (random() < 0.3) await sweepBlobs(storage, { graceMs: 0 });
}
