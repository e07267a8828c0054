import { join } from 'node:path';
import type { FilePlace } from '../capabilities/backup/installation.ts';
import { makeFolder } from '../core/config/private-files.ts';
import type { Settings } from '../core/config/settings.ts';
import { isScrapifieError, type ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Blobs, Files } from '../core/ports/blobs.ts';
import { createBlobsFs } from '../drivers/blobs-fs/blobs-fs.ts';
import type { BlobsS3 } from '../drivers/blobs-s3/blobs-s3.ts';
import { createFilesFs } from '../drivers/files-fs/files-fs.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';

/** Where bodies are kept. Plain data: it travels to the threads that read pages, each of which opens its own. */
export type BlobsPlace = Pick<Settings, 'dataDir' | 'databaseUrl' | 's3Url' | 'spillBytes'>;

export interface OpenBlobs extends Blobs {
  /** Why bodies are not where they belong at the moment; null when they are. */
  degradation(): string | null;
  /**
   * Why no further body can be kept at the moment, as far as this process knows: DISK_FULL, or null. Asking never waits;
   * it has the places looked at again when the last look is a while ago.
   */
  refusal(): ScrapifieError | null;
}

interface OpenBlobsOptions {
  /**
   * Looks at the object store first, and brings bodies that were kept elsewhere back to it: the process does that once,
   * not each of its threads. Throws BLOBS_REFUSED.
   */
  readonly isFirst: boolean;
  readonly onAway: (error: Error) => void;
  readonly onReturn: () => void;
  /** Told when a folder had a damaged index, which was made again. */
  readonly onRebuilt?: (error: ScrapifieError) => void;
}

/** Loaded where there is an object store: every page thread opens bodies, most of them a folder. */
const objectStoreDrivers = async () => ({
  ...(await import('../drivers/blobs-s3/blobs-s3.ts')),
  ...(await import('../drivers/blobs-postgres/blobs-postgres.ts')),
  ...(await import('../drivers/blobs-spill/spilling-blobs.ts')),
});

/** How long the result of a look at the places counts. */
const LOOK_FRESH_MS = 2_000;
const PASSES_BY_ITSELF: ReadonlySet<string> = new Set(['BLOBS_UNAVAILABLE', 'DISK_FULL']);

/** A bucket that will never take anything is a mistake in the settings; one that is away or full comes back. */
async function prepare(main: BlobsS3, onAway: (error: Error) => void): Promise<void> {
  try {
    await main.check();
    await main.applyLifecycle(() => undefined);
  } catch (error) {
    if (isScrapifieError(error) && PASSES_BY_ITSELF.has(error.code)) onAway(error);
    else {
      await main.close();
      throw error;
    }
  }
}

/**
 * A folder; or an object store, and while that is away the database, where all processes find the bodies, or a
 * folder where there is only this process.
 */
export async function openBlobs(place: BlobsPlace, options: OpenBlobsOptions): Promise<OpenBlobs> {
  const { dataDir, databaseUrl, s3Url, spillBytes } = place;
  const folder = (name: string) => {
    makeFolder(dataDir);
    const { isFirst, onRebuilt = () => undefined } = options;
    return createBlobsFs({ dir: join(dataDir, name), sync: true, isFirst, onRebuilt });
  };
  if (s3Url === undefined) return withRefusal({ ...(await folder('blobs')), degradation: () => null });
  const { createBlobsS3, createBlobsPostgres, createSpillingBlobs } = await objectStoreDrivers();
  const timeAndChance = { now: createSteadyClock().now, random: Math.random };
  const main = await createBlobsS3({ url: s3Url, ...timeAndChance });
  if (options.isFirst) await prepare(main, options.onAway);
  const spill =
    databaseUrl === undefined ? await folder('spilled') : await createBlobsPostgres({ url: databaseUrl });
  return withRefusal(
    createSpillingBlobs({
      main,
      spill,
      maxSpilledBytes: spillBytes,
      ...timeAndChance,
      moves: options.isFirst,
      onSpill: options.onAway,
      onReturn: options.onReturn,
    }),
  );
}

/**
 * Where bytes are kept on their way between processes: beside the bodies and in the same order of preference, but never
 * among them, so that all of it can expire. Each blob is one of its kind and has one copy.
 */
export async function openTransit(place: BlobsPlace): Promise<Blobs> {
  const { dataDir, databaseUrl, s3Url, spillBytes } = place;
  const reliedOnMs = Number.POSITIVE_INFINITY;
  const folder = (name: string) => {
    makeFolder(dataDir);
    return createBlobsFs({ dir: join(dataDir, name), reliedOnMs });
  };
  if (s3Url === undefined) return folder('transit');
  const { createBlobsS3, createBlobsPostgres, createSpillingBlobs, TRANSIT_FOLDER } =
    await objectStoreDrivers();
  const url = new URL(s3Url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${TRANSIT_FOLDER}`;
  const timeAndChance = { now: Date.now, random: Math.random };
  return createSpillingBlobs({
    main: await createBlobsS3({ url: url.href, reliedOnMs, ...timeAndChance }),
    spill:
      databaseUrl === undefined
        ? await folder('spilled-transit')
        : await createBlobsPostgres({ url: databaseUrl, table: 'transit_blobs', reliedOnMs }),
    maxSpilledBytes: spillBytes,
    ...timeAndChance,
    // Bytes in transit are read within moments and not worth moving.
    moves: false,
    onSpill: () => undefined,
    onReturn: () => undefined,
  });
}

/** Remembers whether bodies were refused for want of room. */
function withRefusal(blobs: Omit<OpenBlobs, 'refusal'>): OpenBlobs {
  let refusal: ScrapifieError | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  const noting = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
      refusal = null;
    } catch (error) {
      refusal = isScrapifieError(error) && error.code === 'DISK_FULL' ? error : null;
      throw error;
    } finally {
      lookedAt = performance.now();
    }
  };
  const check = () => noting(blobs.check());
  return {
    ...blobs,
    put: (bodies) => noting(blobs.put(bodies)),
    check,
    refusal() {
      if (looking === null && performance.now() - lookedAt >= LOOK_FRESH_MS) {
        looking = check()
          .catch(() => undefined)
          .finally(() => {
            looking = null;
          });
      }
      return refusal;
    },
  };
}

/** Files in a folder, or in an object store, whose client is loaded with the first of them. */
export async function openFiles(place: FilePlace): Promise<Files> {
  if ('folder' in place) return createFilesFs(place.folder);
  const { createFilesS3 } = await import('../drivers/blobs-s3/files-s3.ts');
  return createFilesS3(place.s3Url);
}
