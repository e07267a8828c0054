import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadTarget } from '../capabilities/backup/backup-content.ts';
import { makeFolder } from '../core/config/private-files.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { StoreSnapshot } from '../core/ports/store-copy.ts';
import { createBlobsFs } from '../drivers/blobs-fs/blobs-fs.ts';
import { createBlobsS3 } from '../drivers/blobs-s3/blobs-s3.ts';
import { createFilesS3 } from '../drivers/blobs-s3/files-s3.ts';
import { createFilesFs } from '../drivers/files-fs/files-fs.ts';
import { openPostgresDraft } from '../drivers/store-postgres/postgres-draft.ts';
import { openPostgresSnapshot } from '../drivers/store-postgres/postgres-snapshot.ts';
import { POSTGRES_MIGRATIONS } from '../drivers/store-postgres/schema/migrations.ts';
import { LOCK_FILE, lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import { SQLITE_MIGRATIONS } from '../drivers/store-sqlite/schema/migrations.ts';
import { DRAFT_SUFFIX, openSqliteDraft, seededRows } from '../drivers/store-sqlite/sqlite-draft.ts';
import { openSqliteSnapshot } from '../drivers/store-sqlite/sqlite-snapshot.ts';
import type { BlobsPlace } from './open-blobs.ts';
import type { StorePlace } from './storage.ts';

/** Where an installation keeps everything. */
type CopyPlace = StorePlace & BlobsPlace;

const DATABASE_FILE = 'scrapifie.db';
const KEY_FILE = 'vault.key';
/** Stands beside the bodies while a place is being filled. A place with files and without this marker is an installation. */
const MARKER = 'scrapifie-restoring';

/** All rows of an installation as they are now, beside running servers; `isExclusive`: only where there are none. */
export function openSnapshot(place: CopyPlace, isExclusive: boolean): Promise<StoreSnapshot> {
  if (place.databaseUrl !== undefined) {
    const sqliteSchema = SQLITE_MIGRATIONS.length;
    return openPostgresSnapshot({ url: place.databaseUrl, sqliteSchema, isExclusive });
  }
  const path = join(place.dataDir, DATABASE_FILE);
  return openSqliteSnapshot({ path, postgresSchema: POSTGRES_MIGRATIONS.length, isExclusive });
}

export interface CopyTarget extends LoadTarget {
  /** An earlier attempt was interrupted here. */
  readonly isResumed: boolean;
  /** The place is whole from now on. */
  finish(): Promise<void>;
  /** The place was refused: it is closed, and a folder that was made for it is removed with its contents. */
  abandon(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A place that has nothing yet, or what an attempt that was interrupted has left: bodies, which are kept. Throws
 * PLACE_NOT_EMPTY. No process works in a folder meanwhile.
 */
export async function openTarget(place: CopyPlace): Promise<CopyTarget> {
  const { databaseUrl, s3Url, dataDir } = place;
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each();
  };
  const needsFolder = databaseUrl === undefined || s3Url === undefined;
  const isNewFolder = needsFolder && !existsSync(dataDir);
  const abandon = async () => {
    await close();
    if (isNewFolder) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    if (needsFolder) {
      makeFolder(dataDir);
      closers.push(lockFolder(dataDir));
    }
    const marks = s3Url === undefined ? createFilesFs(dataDir) : await createFilesS3(s3Url);
    closers.push(() => marks.close());
    const isResumed = await marks.has(MARKER);
    if (needsFolder) requireEmptyFolder(dataDir, isResumed);
    const blobs = await openBodies(place);
    closers.push(() => blobs.close());
    if (!isResumed) await requireNoBodies(blobs);
    if (!isResumed) await marks.write(MARKER, mark());
    return {
      isResumed,
      blobs,
      openDraft: (schema) =>
        databaseUrl === undefined
          ? openSqliteDraft(join(dataDir, DATABASE_FILE), schema)
          : openPostgresDraft(databaseUrl, schema, seededRows()),
      finish: () => marks.remove(MARKER),
      abandon,
      close,
    };
  } catch (error) {
    await abandon();
    throw error;
  }
}

async function* mark(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('Scrapifie was filling this place. Start "restore" or "move" again to go on.\n');
}

/** Bodies in the object store itself, or in the folder; synced, because the source may be removed after. */
function openBodies({ s3Url, dataDir }: CopyPlace): Promise<Blobs> {
  if (s3Url !== undefined) return createBlobsS3({ url: s3Url, now: Date.now, random: Math.random });
  return createBlobsFs({ dir: join(dataDir, 'blobs'), sync: true });
}

/** A vault key that the operator has put there first is welcome. */
function requireEmptyFolder(dataDir: string, isResumed: boolean): void {
  const own = new Set([LOCK_FILE, `${LOCK_FILE}-journal`, KEY_FILE, `${MARKER}.partial`]);
  // An attempt that left a database was complete, and killed before its marker was removed: the caller compares it.
  const isLeft = (name: string) =>
    name === 'blobs' ||
    name === MARKER ||
    name === DATABASE_FILE ||
    name.startsWith(DATABASE_FILE + DRAFT_SUFFIX);
  const found = readdirSync(dataDir).find((name) => !own.has(name) && !(isResumed && isLeft(name)));
  if (found === undefined) return;
  throw new ScrapifieError(
    'PLACE_NOT_EMPTY',
    `The folder ${dataDir} is not empty: it has ${found}. Name a folder that is empty or not there.`,
  );
}

async function requireNoBodies(blobs: Pick<Blobs, 'list'>): Promise<void> {
  for await (const { hash } of blobs.list()) {
    throw new ScrapifieError(
      'PLACE_NOT_EMPTY',
      `The place for bodies is not empty: it has ${hash}. Name a bucket, or a prefix in it, that no installation uses.`,
    );
  }
}
