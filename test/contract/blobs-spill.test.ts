import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../src/core/model/ids.ts';
import type { Blob, Blobs } from '../../src/core/ports/blobs.ts';
import { createBlobsFs } from '../../src/drivers/blobs-fs/blobs-fs.ts';
import { createBlobsPostgres } from '../../src/drivers/blobs-postgres/blobs-postgres.ts';
import { createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import {
  createSpillingBlobs,
  type SpillingBlobs,
  type SpillingBlobsOptions,
  type SpillPlace,
} from '../../src/drivers/blobs-spill/spilling-blobs.ts';
import { blobOf, blobsContract, type CopyOptions, type OpenedBlobs } from './blobs-contract.ts';
import { newPostgresPlace, newS3Place } from './blobs-places.ts';
import { type BreakableLine, openLine } from './breakable-line.ts';
import { openFullableS3 } from './fullable-s3.ts';
import { openRawS3 } from './raw-s3.ts';

const CHANCE = { now: Date.now, random: Math.random };
const PATIENT = { timeout: 20_000 };
const ROOMY = { maxSpilledBytes: Number.POSITIVE_INFINITY };
const QUIET = { ...CHANCE, ...ROOMY, moves: false, onSpill: () => {}, onReturn: () => {} };

/** Where bodies go while the object store is away: opens the same place each time. */
interface SpillFolder {
  open(options?: CopyOptions): Promise<SpillPlace>;
  remove(): Promise<void>;
}

const SPILLS: Readonly<Record<string, () => Promise<SpillFolder>>> = {
  async PostgreSQL() {
    const url = await newPostgresPlace();
    return { open: (options = {}) => createBlobsPostgres({ url, ...options }), remove: async () => {} };
  },
  async 'a folder'() {
    const dir = await mkdtemp(join(tmpdir(), 'scrapifie-spill-'));
    return {
      open: (options = {}) => createBlobsFs({ dir, ...options }),
      remove: () => rm(dir, { recursive: true, force: true }),
    };
  },
};

const listed = async (blobs: Blobs) => [
  ...new Set((await Array.fromAsync(blobs.list())).map(({ hash }) => hash).toSorted()),
];
const codeOf = (error: unknown) => (isScrapifieError(error) ? error.code : String(error));
const hashesOf = (all: readonly Blob[]) => all.map(({ hash }) => hash).toSorted();

async function openAt(url: string, place: SpillFolder, options: CopyOptions = {}): Promise<OpenedBlobs> {
  const main = await createBlobsS3({ url, ...CHANCE, ...options });
  const raw = openRawS3(url);
  const driver = createSpillingBlobs({ ...QUIET, main, spill: await place.open(options) });
  return {
    driver,
    async damage(hash, spoil) {
      const key = raw.keyOf(hash);
      await raw.write(key, spoil(await raw.read(key)));
    },
    // The folder is removed by the first that has opened it, which is closed last.
    reopen: (changes = options) => openAt(url, { ...place, remove: async () => {} }, changes),
    async close() {
      await driver.remove(await Array.fromAsync(driver.list()));
      await driver.close();
      raw.close();
      await place.remove();
    },
  };
}

for (const [name, newSpill] of Object.entries(SPILLS)) {
  blobsContract(`object store, spilling to ${name}`, async () => openAt(newS3Place(), await newSpill()));
}

describe.each(Object.entries(SPILLS))('blobs that spill to %s', (_, newSpill) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  /** An object store behind a line that can be broken, and any number of processes that use it. */
  async function newWorld() {
    const url = newS3Place();
    const { hostname: host, port } = new URL(url);
    const line: BreakableLine = await openLine({ host, port: Number(port) });
    const overLine = new URL(url);
    overLine.port = String(line.port);
    const place = await newSpill();
    closing.push(
      () => place.remove(),
      () => line.close(),
    );
    // These two see the truth: past the line, and past the composition.
    const main = await createBlobsS3({ url, ...CHANCE });
    const spill = await place.open();
    closing.push(async () => {
      await main.remove(await Array.fromAsync(main.list()));
      await Promise.all([main.close(), spill.close()]);
    });
    const told: string[] = [];
    const open = async (options: Partial<SpillingBlobsOptions> = {}): Promise<SpillingBlobs> => {
      const blobs = createSpillingBlobs({
        main: await createBlobsS3({ url: overLine.href, timeoutMs: 600, checkMs: 600, ...CHANCE }),
        spill: await place.open(),
        ...CHANCE,
        ...ROOMY,
        moves: false,
        retryMs: 20,
        longestRetryMs: 200,
        moveEveryMs: 20,
        onSpill: ({ code }) => told.push(code),
        onReturn: () => told.push('back'),
        ...options,
      });
      closing.push(() => blobs.close());
      return blobs;
    };
    return { url, line, main, spill, told, open };
  }

  test('go to the other place while the object store is away, can be read, and are brought home', async () => {
    const { line, main, spill, told, open } = await newWorld();
    const blobs = await open();
    const [before, during] = [blobOf('before'), blobOf('during')];
    await blobs.put([before]);
    line.set('cut');
    await blobs.put([during]);
    expect(blobs.degradation()).toContain('cannot be reached');
    expect(await blobs.get(during.hash)).toEqual(Buffer.from(during.bytes));
    expect(await blobs.has(during.hash)).toBe(true);
    expect(await listed(spill)).toEqual([during.hash]);
    await blobs.check();

    line.set('open');
    await expect.poll(() => blobs.move(), PATIENT).toBe(1);
    expect(await listed(spill)).toEqual([]);
    expect(await listed(main)).toEqual(hashesOf([before, during]));
    expect(await listed(blobs)).toEqual(hashesOf([before, during]));
    expect(blobs.degradation()).toBeNull();
    expect(told).toEqual(['BLOBS_UNAVAILABLE', 'back']);
  });

  test('are neither there nor absent while only the object store could know', async () => {
    const { line, open } = await newWorld();
    const blobs = await open();
    const blob = blobOf('in main only');
    await blobs.put([blob]);
    line.set('silent');
    for (let time = 0; time < 2; time += 1) {
      await expect(blobs.get(blob.hash)).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
      await expect(blobs.has(blob.hash)).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
      await expect(blobs.delete([blob.hash])).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
    }
    line.set('open');
    await expect.poll(() => blobs.get(blob.hash).catch(() => null), PATIENT).toEqual(Buffer.from(blob.bytes));
  });

  test('do not ask an object store that is known to be away', async () => {
    const { line, open } = await newWorld();
    const clock = { now: 0 };
    const blobs = await open({ now: () => clock.now, retryMs: 60_000, longestRetryMs: 60_000 });
    line.set('cut');
    await blobs.put([blobOf('first')]);
    line.set('open');
    await blobs.put([blobOf('second')]);
    expect(await blobs.move()).toBe(0);
    await expect(blobs.get(blobOf('elsewhere').hash)).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
    clock.now = 60_000;
    expect(await blobs.move()).toBe(2);
    expect(await blobs.get(blobOf('elsewhere').hash)).toBeNull();
  });

  /** Processes that use an object store which can be full. */
  async function newFullWorld() {
    const { spill, told, open } = await newWorld();
    const url = newS3Place();
    const store = await openFullableS3(url);
    closing.push(() => store.close());
    const behind = await createBlobsS3({ url, ...CHANCE });
    closing.push(async () => {
      await behind.remove(await Array.fromAsync(behind.list()));
      await behind.close();
    });
    const openFull = async (options: Partial<SpillingBlobsOptions> = {}) =>
      open({ main: await createBlobsS3({ url: store.url, ...CHANCE }), ...options });
    return { behind, spill, told, store, open: openFull };
  }

  test.each(['507 InsufficientStorage', '403 QuotaExceeded', '400 XMinioAdminBucketQuotaExceeded'] as const)(
    'go to the other place while the object store is full (%s), which is read as ever',
    async (answer) => {
      const { behind, spill, told, store, open } = await newFullWorld();
      const blobs = await open();
      const [before, during] = [blobOf('before'), blobOf('during')];
      await blobs.put([before]);
      store.refusePuts(answer);
      await blobs.put([during]);
      expect(blobs.degradation()).toContain('is full');
      expect(await listed(spill)).toEqual([during.hash]);
      expect(await blobs.get(during.hash)).toEqual(Buffer.from(during.bytes));
      expect(await blobs.get(before.hash)).toEqual(Buffer.from(before.bytes));
      expect(await blobs.get(blobOf('never put').hash)).toBeNull();
      await blobs.delete([before.hash]);
      expect(await blobs.move()).toBe(0);
      await blobs.check();

      store.refusePuts(null);
      await expect.poll(() => blobs.move(), PATIENT).toBe(1);
      expect(told).toEqual(['DISK_FULL', 'back']);
      expect(blobs.degradation()).toBeNull();
      expect(await listed(behind)).toEqual([during.hash]);
      expect(await listed(spill)).toEqual([]);
    },
  );

  test('are refused with DISK_FULL once the other place holds as much as it may, until there is room', async () => {
    const { spill, store, open } = await newFullWorld();
    const clock = { now: 0 };
    const blobs = await open({ maxSpilledBytes: 20_000, now: () => clock.now });
    store.refusePuts('507 InsufficientStorage');
    const all = Array.from({ length: 40 }, () => blobOf(randomBytes(2_000)));
    const results: (string | null)[] = [];
    for (const blob of all) results.push(await blobs.put([blob]).then(() => null, codeOf));
    expect(results.slice(0, 10)).toEqual(Array(10).fill(null));
    expect(new Set(results.slice(11))).toEqual(new Set(['DISK_FULL']));
    await expect(blobs.check()).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(await listed(spill)).toEqual(hashesOf(all.filter((_, at) => results[at] === null)));

    store.refusePuts(null);
    clock.now = 60_000;
    await blobs.check();
    await blobs.put([all[39] as Blob]);
    expect(blobs.degradation()).toBeNull();
  });

  test('are listed once and deleted from both places', async () => {
    const { main, spill, open } = await newWorld();
    const blobs = await open();
    const all = Array.from({ length: 5 }, (_, n) => blobOf(`body ${n}`));
    await main.put(all.slice(0, 3));
    await spill.put(all.slice(2));
    expect(await listed(blobs)).toEqual(hashesOf(all));
    await blobs.delete(hashesOf(all));
    expect([await listed(main), await listed(spill)]).toEqual([[], []]);
  });

  test('move by themselves in a process that is told to', async () => {
    const { main, spill, open } = await newWorld();
    const all = Array.from({ length: 150 }, (_, n) => blobOf(`body ${n}`));
    await spill.put(all);
    await open({ moves: true });
    await expect.poll(() => listed(spill), PATIENT).toEqual([]);
    expect(await listed(main)).toEqual(hashesOf(all));
  });

  test('survive several movers at once', async () => {
    const { url, main, spill, open } = await newWorld();
    const all = Array.from({ length: 200 }, (_, n) => blobOf(`body ${n}`));
    await spill.put(all);
    // Nothing is away here, so the usual time limits hold: short ones are missed on a busy machine.
    const openPatient = async () => open({ main: await createBlobsS3({ url, ...CHANCE }) });
    const movers = [await openPatient(), await openPatient(), await openPatient()];
    await Promise.all(movers.map((blobs) => blobs.move()));
    expect(await listed(spill)).toEqual([]);
    expect(await listed(main)).toEqual(hashesOf(all));
  });

  test('are never lost nor missed while the object store comes and goes', async () => {
    const { line, main, spill, open } = await newWorld();
    const writers = [await open(), await open()];
    const movers = [await open({ moves: true }), await open({ moves: true })];
    const put: Blob[] = [];
    let spilled = 0;
    // By what was done, not by time: each state lasts for so many batches.
    const STATES = ['open', 'cut', 'open', 'silent', 'open', 'cut', 'silent', 'cut', 'open'] as const;
    const BATCHES_PER_STATE = 8;
    let batches = 0;
    const write = async (blobs: SpillingBlobs) => {
      while (batches < STATES.length * BATCHES_PER_STATE) {
        line.set(STATES[Math.floor(batches / BATCHES_PER_STATE)] ?? 'open');
        batches += 1;
        const batch = Array.from({ length: 8 }, () =>
          blobOf(`<p>${randomBytes(20).toString('hex')}</p>`.repeat(200)),
        );
        await blobs.put(batch);
        put.push(...batch);
        if (blobs.degradation() !== null) spilled += 1;
        const looked = put[(batches * 7_919) % put.length] as Blob;
        const found = await blobs.get(looked.hash).catch((error: unknown) => error);
        if (isScrapifieError(found)) expect(found.code).toBe('BLOBS_UNAVAILABLE');
        else expect(found).toEqual(Buffer.from(looked.bytes));
      }
    };
    await Promise.all(writers.map(write));
    line.set('open');
    expect(spilled).toBeGreaterThan(0);
    await expect.poll(() => listed(spill), PATIENT).toEqual([]);
    for (const { hash, bytes } of put) {
      const found = await main.get(hash);
      expect(found !== null && Buffer.compare(found, bytes) === 0).toBe(true);
    }
    // A probe whose removal was cut off stays until the next sweep, and is no body.
    const hashes = new Set(hashesOf(put));
    for (const other of (await listed(main)).filter((hash) => !hashes.has(hash))) {
      expect(await main.get(other as ContentHash)).toBeNull();
    }
    for (const blobs of [...writers, ...movers]) {
      await expect.poll(() => blobs.check().then(() => blobs.degradation()), PATIENT).toBeNull();
    }
  });
});
