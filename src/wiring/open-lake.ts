import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type FilePlace, filePlaceOf } from '../capabilities/backup/installation.ts';
import { createLakeEncoder, type LakeParts } from '../capabilities/lake/lake-files.ts';
import { createLakeKeeper, type LakeKeeper } from '../capabilities/lake/lake-keeper.ts';
import { createLakeReader, type LakeReader } from '../capabilities/lake/read-events.ts';
import { createLakeCopies } from '../capabilities/query/sql/lake-copies.ts';
import { createSqlQueries, type SqlQueries } from '../capabilities/query/sql/sql-queries.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { LakeFiles } from '../core/ports/lake-store.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { Store } from '../core/ports/store.ts';
import { createLakeS3 } from '../drivers/blobs-s3/lake-s3.ts';
import { createLakeFs } from '../drivers/lake-fs/lake-fs.ts';

export type LakeSettings = Pick<
  Settings,
  'lake' | 'lakeCacheBytes' | 'sqlMemoryMb' | 'sqlConcurrency' | 'dataDir' | 's3Url'
>;

/** The lake of an installation. Nothing is made or asked for before the first use. */
export interface OpenLake {
  readonly parts: LakeParts;
  readonly sql: SqlQueries;
  /** What the reader of events does that fills the lake. */
  readonly reader: LakeReader;
  /** Keeps the lake in order; once it is stopped, the reader waits no more for further events. */
  openKeeper(queue: Pick<Queue, 'every'>): LakeKeeper;
  close(): Promise<void>;
}

const RANDOM_BYTES = 8;

interface LakeSurroundings {
  readonly store: Store;
  /** The store for queries, which fail soon when it is unavailable; missing: the same. */
  readonly front?: Store;
  readonly now: () => number;
  readonly logger: Logger;
}

export function openLake(
  settings: LakeSettings,
  { store, front = store, now, logger }: LakeSurroundings,
): OpenLake {
  const files = openLakeFiles(settings);
  const encoder = createLakeEncoder();
  const isLocal = files.localPath('x') !== null;
  const folder = join(settings.dataDir, 'lake-cache');
  const randomHex = () => randomBytes(RANDOM_BYTES).toString('hex');
  const parts: LakeParts = { store, files, encoder, now, randomHex, logger };
  const reader = createLakeReader(parts);
  return {
    parts,
    reader,
    openKeeper(queue) {
      const keeper = createLakeKeeper({ ...parts, queue });
      return {
        ...keeper,
        async stop() {
          reader.hurry();
          await keeper.stop();
        },
      };
    },
    sql: createSqlQueries({
      store: front,
      files,
      copies: isLocal ? null : createLakeCopies(files, folder, settings.lakeCacheBytes),
      clock: () => performance.now(),
      memoryMb: settings.sqlMemoryMb,
      mostAtOnce: settings.sqlConcurrency,
    }),
    async close() {
      await encoder.close();
      await files.close();
    },
  };
}

function openLakeFiles(settings: LakeSettings): LakeFiles {
  const place = lakePlaceOf(settings);
  return 'folder' in place ? createLakeFs(place.folder) : createLakeS3(place.s3Url);
}

/** Processes of a fleet share the object store, and not a folder. */
function lakePlaceOf({ lake, dataDir, s3Url }: LakeSettings): FilePlace {
  if (lake !== undefined) return filePlaceOf(lake, process.cwd(), s3Url);
  if (s3Url === undefined) return { folder: join(dataDir, 'lake') };
  const url = new URL(s3Url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/lake`;
  return { s3Url: url.href };
}
