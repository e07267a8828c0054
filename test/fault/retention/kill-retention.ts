import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sweepBlobs } from '../../../src/capabilities/jobs/maintenance/blob-sweep.ts';
import { deleteAccounts, purgeAll } from '../../../src/capabilities/retention/apply-retention.ts';
import type { AccountId, ContentHash, JobId } from '../../../src/core/model/ids.ts';
import { openStorage, type Storage } from '../../../src/wiring/storage.ts';
import { randomFrom } from '../../site/random.ts';
import { type RetentionPlace, storagePlaceOf } from './random-pages.ts';

export interface KillRetentionOptions extends Omit<RetentionPlace, 'dataDir'> {
  /** Pages to be stored over all lives of the process. */
  readonly pages: number;
  readonly seed: number;
  /** The longest life of a process. */
  readonly mostMs: number;
  readonly say?: (line: string) => void;
}

export interface RetentionVerdict {
  readonly kills: number;
  readonly pagesStored: number;
  /** That are left when the last process was killed. */
  readonly pagesKept: number;
  readonly referencesKept: number;
  /** References to blobs that are not there. */
  readonly dangling: number;
  /** Blobs without references after a sweep. */
  readonly leaked: number;
  readonly bytesBefore: number;
  /** On disk, when all jobs were deleted and the space was given back. */
  readonly bytesAfter: number;
  readonly blobsAfter: number;
  /** Accounts whose deletion had begun when the last process was killed, and was ended after it. */
  readonly deletionsLeft: number;
  /** Accounts beside the default one, and jobs of theirs, when all were deleted. */
  readonly accountsAfter: number;
}

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
const DEFAULT = 'default' as AccountId;

/** Stores, deletes and kills until enough pages were stored, and looks at what is left. */
export async function killRetention(options: KillRetentionOptions): Promise<RetentionVerdict> {
  const { pages, seed, mostMs, databaseUrl, s3Url, say = () => undefined } = options;
  const random = randomFrom(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'scrapifie-retention-'));
  const place = { dataDir, databaseUrl, s3Url };
  try {
    // The first opening makes the schema.
    await (await openStorage(storagePlaceOf(place))).close();
    let kills = 0;
    let pagesStored = 0;
    while (pagesStored < pages) {
      pagesStored += await liveOnce(
        place,
        Math.floor(random() * 1e6),
        200 + random() * mostMs,
        pages - pagesStored,
      );
      kills += 1;
      say(`${pagesStored} pages stored, ${kills} kills`);
    }
    const storage = await openStorage(storagePlaceOf(place));
    const judged = await judge(storage, dataDir).finally(() => storage.close());
    return { kills, pagesStored, ...judged, bytesAfter: await bytesOf(dataDir) };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** One life, ended by SIGKILL after the time or when it has stored enough; the pages that it had stored. */
async function liveOnce(place: RetentionPlace, seed: number, ms: number, enough: number): Promise<number> {
  const args = [CHILD, '--dir', place.dataDir, '--seed', String(seed)];
  if (place.databaseUrl !== undefined) args.push('--database-url', place.databaseUrl);
  if (place.s3Url !== undefined) args.push('--s3-url', place.s3Url);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (piece: Buffer) => {
    errors = (errors + piece.toString()).slice(-10_000);
  });
  const exited = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('exit', (_, signal) => resolve(signal));
  });
  let stored = 0;
  const begun = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    stored += Number(line);
    begun.resolve();
    if (stored >= enough) done.resolve();
  });
  await Promise.race([begun.promise, exited]);
  await Promise.race([delay(ms, undefined, { ref: false }), done.promise, exited]);
  child.kill('SIGKILL');
  const signal = await exited;
  if (signal !== 'SIGKILL') throw new Error(`The process ended by itself:\n${errors}`);
  return stored;
}

async function judge(storage: Storage, dataDir: string) {
  const { store, blobs } = storage;
  // Owners of hosts are dead; in a store that processes share their leases run out.
  await store.releaseAllHosts().catch(() => 0);
  const deletionsLeft = await endDeletions(storage);
  await purgeAll(store);
  const referenced = await referencesOf(storage);
  const present = await hashesOf(storage);
  const dangling = [...referenced].filter((hash) => !present.has(hash)).length;
  await sweep(storage);
  const left = await hashesOf(storage);
  const leaked = [...left].filter((hash) => !referenced.has(hash)).length;
  const lost = [...referenced].filter((hash) => !left.has(hash)).length;
  let pagesKept = 0;
  const bytesBefore = await bytesOf(dataDir);
  for (const { id } of await tenantsOf(storage)) {
    const { items } = await store.listJobs({ accountId: id, limit: 1_000 });
    for (const job of items) pagesKept += await pagesOf(storage, job.id);
    await store.beginAccountDeletion(id);
  }
  await endDeletions(storage);
  for (;;) {
    const { items } = await store.listJobs({ accountId: DEFAULT, limit: 100 });
    if (items.length === 0) break;
    for (const job of items) {
      pagesKept += await pagesOf(storage, job.id);
      if (job.finishedAt === null) await endJob(storage, job.id);
      await store.deleteJob(job.id);
    }
  }
  await purgeAll(store);
  const before = Number.MAX_SAFE_INTEGER;
  while ((await store.deleteEvents({ before, limit: 10_000 })) > 0);
  await sweep(storage);
  await blobs.compact();
  await store.compact();
  return {
    pagesKept,
    referencesKept: referenced.size,
    dangling: dangling + lost,
    leaked,
    bytesBefore,
    blobsAfter: (await hashesOf(storage)).size,
    deletionsLeft,
    accountsAfter: (await tenantsOf(storage)).length,
  };
}

const pagesOf = async ({ store }: Storage, jobId: JobId): Promise<number> =>
  (await store.listPages({ jobId, limit: 10_000 })).items.length;

const tenantsOf = async ({ store }: Storage) =>
  (await store.listAccounts({ limit: 1_000 })).items.filter(({ id }) => id !== DEFAULT);

/** Deletes the accounts that are marked to their end. Returns how many there were. */
async function endDeletions(storage: Storage): Promise<number> {
  let deleted = 0;
  for (;;) {
    deleted += (await deleteAccounts(storage.store)).length;
    const [first] = await storage.store.listAccountDeletions(1);
    if (first === undefined) return deleted;
    // The account has jobs whose owner is dead.
    const { items } = await storage.store.listJobs({ accountId: first.id, limit: 100 });
    for (const job of items) if (job.finishedAt === null) await endJob(storage, job.id);
  }
}

/** A process that was killed while it swept leaves its lease, which runs out. */
async function sweep(storage: Storage): Promise<void> {
  while ((await sweepBlobs(storage, { graceMs: 0 })) === null) await delay(200);
}

/** The owner of its host is dead; its claimed tasks are free once another has the host. */
async function endJob({ store }: Storage, id: JobId): Promise<void> {
  await store.cancelJob(id);
  for (;;) {
    const job = await store.getJob(id);
    if (job === null || job.finishedAt !== null) return;
    const host = `${id}.example` as Parameters<Storage['store']['acquireHost']>[0];
    const lease = await store.acquireHost(host, 'retention', 1_000);
    if (lease !== null) await store.releaseHost(lease, lease.state, 0);
    await store.cancelJob(id);
    if (lease === null) await delay(100);
  }
}

async function referencesOf({ store }: Storage): Promise<Set<ContentHash>> {
  const found = new Set<ContentHash>();
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await store.listReferences({ limit: 1_000, cursor });
    for (const hash of items) found.add(hash);
    if (nextCursor === null) return found;
    cursor = nextCursor;
  }
}

const hashesOf = async ({ blobs }: Storage): Promise<Set<ContentHash>> =>
  new Set((await Array.fromAsync(blobs.list())).map(({ hash }) => hash));

async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => stat(join(entry.parentPath, entry.name)).then(({ blocks }) => blocks * 512)),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
