import type { Logger } from '../../core/observe/logger.ts';
import type { LakeFiles, NewLakeFile } from '../../core/ports/lake-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { LakeEncoder } from './lake-encoder.ts';
import { LAKE_SCHEMA_VERSION } from './lake-schema.ts';
import type { EncodedFile } from './page-rows.ts';
import { lakePath, newFileId } from './partition.ts';

/** What the lake is made of. */
export interface LakeParts {
  readonly store: Store;
  readonly files: LakeFiles;
  readonly encoder: LakeEncoder;
  /** The current time by the store's clock. */
  readonly now: () => number;
  /** Random hexadecimal digits, at least 16. */
  readonly randomHex: () => string;
  readonly logger: Logger;
}

type WriterParts = Pick<LakeParts, 'files' | 'now' | 'randomHex'>;

/** Files that are written at once: each is synced to disk, or sent to the object store. */
const WRITES_AT_ONCE = 8;

/** Writes the files under names of their own. They are no part of the lake yet. */
export async function writeLakeFiles(
  encoded: readonly EncodedFile[],
  { files, now, randomHex }: WriterParts,
): Promise<readonly NewLakeFile[]> {
  const written: NewLakeFile[] = [];
  for (let at = 0; at < encoded.length; at += WRITES_AT_ONCE) {
    const some = encoded
      .slice(at, at + WRITES_AT_ONCE)
      .map(async ({ bytes, ...file }): Promise<NewLakeFile> => {
        const madeAt = Math.floor(now());
        const id = newFileId(madeAt, randomHex());
        const path = lakePath(file, id);
        await files.write(path, bytes);
        return { ...file, id, path, bytes: bytes.length, madeAt, schemaVersion: LAKE_SCHEMA_VERSION };
      });
    written.push(...(await Promise.all(some)));
  }
  return written;
}

/** Removes files that have not become part of the lake. What fails is left to the collection of orphans. */
export async function discardFiles(
  written: readonly NewLakeFile[],
  { files, logger }: Pick<LakeParts, 'files' | 'logger'>,
): Promise<void> {
  await files
    .remove(written.map(({ path }) => path))
    .catch((error) => logger.warn({ err: error }, 'lake: files were not removed'));
}
