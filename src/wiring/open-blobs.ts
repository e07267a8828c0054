import { join } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';
import type { Settings } from '../config/settings.ts';
import { createBlobsFs } from '../drivers/blobs-fs/blobs-fs.ts';
import { createBlobsPostgres } from '../drivers/blobs-postgres/blobs-postgres.ts';
import { type BlobsS3, createBlobsS3 } from '../drivers/blobs-s3/blobs-s3.ts';
import { createSpillingBlobs } from '../drivers/blobs-spill/spilling-blobs.ts';
import { isScrapifieError } from '../errors/scrapifie-error.ts';
import { createSteadyClock } from '../model/steady-clock.ts';
import type { Blobs } from '../ports/blobs.ts';

/** Where bodies are kept. Plain data: it travels to the threads that read pages, each of which opens its own. */
export type BlobsPlace = Pick<Settings, 'dataDir' | 'databaseUrl' | 's3Url'>;

export interface OpenBlobs extends Blobs {
  /** Why bodies are not where they belong at the moment; null when they are. */
  degradation(): string | null;
}

export interface OpenBlobsOptions {
  /**
   * Looks at the object store first, and brings bodies that were kept elsewhere back to it: the process does that once,
   * not each of its threads. Throws BLOBS_REFUSED.
   */
  readonly isFirst: boolean;
  readonly onAway: (error: Error) => void;
  readonly onReturn: () => void;
}

/** A bucket that will never take anything is a mistake in the settings; one that is away comes back. */
async function prepare(main: BlobsS3, onAway: (error: Error) => void): Promise<void> {
  try {
    await main.check();
    await main.applyLifecycle(() => undefined);
  } catch (error) {
    if (isScrapifieError(error) && error.code === 'BLOBS_UNAVAILABLE') onAway(error);
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
  const { dataDir, databaseUrl, s3Url } = place;
  const folder = (name: string) => {
    makeFolder(dataDir);
    return createBlobsFs({ dir: join(dataDir, name) });
  };
  if (s3Url === undefined) return { ...(await folder('blobs')), degradation: () => null };
  const timeAndChance = { now: createSteadyClock().now, random: Math.random };
  const main = await createBlobsS3({ url: s3Url, ...timeAndChance });
  if (options.isFirst) await prepare(main, options.onAway);
  const spill =
    databaseUrl === undefined
      ? await folder('spilled')
      : await createBlobsPostgres({ url: databaseUrl, now: Date.now });
  return createSpillingBlobs({
    main,
    spill,
    ...timeAndChance,
    moves: options.isFirst,
    onSpill: options.onAway,
    onReturn: options.onReturn,
  });
}
