import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { sweepBlobs } from '../../../src/capabilities/jobs/maintenance/blob-sweep.ts';
import {
  applyRetention,
  deleteAccounts,
  purgeAll,
} from '../../../src/capabilities/retention/apply-retention.ts';
import { isScrapifieError } from '../../../src/core/errors/scrapifie-error.ts';
import type { AccountId } from '../../../src/core/model/ids.ts';
import { PAGE_PARTS, type RetentionLimits, UNLIMITED_RETENTION } from '../../../src/core/model/retention.ts';
import { NO_LIMITS } from '../../../src/core/ports/account-store.ts';
import { openStorage } from '../../../src/wiring/storage.ts';
import { randomFrom } from '../../site/random.ts';
import { storagePlaceOf, storeJob } from './random-pages.ts';

/**
 * Stores jobs of several accounts while it deletes others, by hand, by retention and with their account, and in between
 * removes blobs that nothing refers to.
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
const DEFAULT = 'default' as AccountId;
/** Beside the default account, which is never deleted. */
const MOST_TENANTS = 4;
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

/** Returns an account that is not being deleted, accounts of earlier lives included. */
async function someAccount(): Promise<AccountId> {
  if (random() < 0.4) return DEFAULT;
  const tenants = (await store.listAccounts({ limit: 100 })).items.filter(
    ({ id, deletingSince }) => id !== DEFAULT && deletingSince === null,
  );
  if (tenants.length >= MOST_TENANTS) return tenants[pick(tenants.length)]?.id ?? DEFAULT;
  const id = `tenant-${randomUUID()}` as string as AccountId;
  await store.createAccount({ id, name: 'Tenant', plan: 'custom', limits: NO_LIMITS }, null);
  return id;
}

async function deleteSome(): Promise<void> {
  if (random() < 0.25) {
    const id = await someAccount();
    if (id !== DEFAULT) await store.beginAccountDeletion(id);
  }
  // Often not to its end: the next round goes on, or the next process.
  await deleteAccounts(store, { mostSteps: 1 + pick(8) });
  const { items } = await store.listJobs({ accountId: await someAccount(), limit: 50 });
  for (const job of items.filter(() => random() < 0.1)) {
    if (job.finishedAt === null) await store.cancelJob(job.id);
    await store.deleteJob(job.id).catch(() => false);
  }
  await applyRetention({ store, limitsOf: someLimits, eventsMs: 0 });
  await purgeAll(store, undefined, pick(20));
}

for (;;) {
  const size = random() < 0.1 ? 1_500 : 20 + pick(400);
  const stored = storeJob(storage, await someAccount(), size, random, (count) =>
    process.stdout.write(`${count}\n`),
  ).catch((error) => {
    // The account is being deleted meanwhile.
    if (!isScrapifieError(error)) throw error;
  });
  await Promise.all([stored, deleteSome()]);
  // No page is on its way now: what nothing refers to may go at any age.
  if (random() < 0.3) await sweepBlobs(storage, { graceMs: 0 });
}
