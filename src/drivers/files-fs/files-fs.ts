import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder, PRIVATE_FILE } from '../../core/config/private-files.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Files } from '../../core/ports/blobs.ts';

const PARTIAL = '.partial';
const DAY_MS = 86_400_000;
const CODES: Readonly<Record<string, ErrorCode>> = { ENOSPC: 'DISK_FULL', EDQUOT: 'DISK_FULL' };

/** Files in a folder, which is made with the first of them. A file has another name until it is complete and on the disk. */
export function createFilesFs(dir: string): Files {
  const pathOf = (name: string) => {
    if (name !== basename(name) || name === '' || name === '..')
      throw new Error(`${name} is no name of a file.`);
    return join(dir, name);
  };
  const guard = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw fileError(error, path);
    }
  };
  const isThere = async (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );

  return {
    write(name, chunks) {
      const path = pathOf(name);
      return guard(path, async () => {
        makeFolder(dir);
        if (await isThere(path)) throw taken(path);
        const partial = `${path}${PARTIAL}`;
        const file = await open(partial, 'w', PRIVATE_FILE);
        try {
          await writeAll(file, chunks);
          // Not a rename, which would replace a file that was made meanwhile.
          await link(partial, path);
        } finally {
          await file.close();
          await rm(partial, { force: true });
        }
        await syncFolder(dir);
      });
    },
    async *read(name, range) {
      const path = pathOf(name);
      if (range !== undefined && range.end <= range.start) return;
      const part = range === undefined ? {} : { start: range.start, end: range.end - 1 };
      try {
        yield* createReadStream(path, { highWaterMark: 1_048_576, ...part }) as AsyncIterable<Uint8Array>;
      } catch (error) {
        throw fileError(error, path);
      }
    },
    has: (name) => isThere(pathOf(name)),
    list: () =>
      guard(dir, async () => {
        const names = (await namesIn(dir)).filter((name) => !name.endsWith(PARTIAL));
        const found = await Promise.all(
          names.map(async (name) => {
            const file = await stat(join(dir, name)).catch(() => null);
            return file?.isFile() === true ? [{ name, bytes: file.size }] : [];
          }),
        );
        return found.flat();
      }),
    remove: (name) => guard(pathOf(name), () => rm(pathOf(name), { force: true })),
    async removeRemains() {
      for (const name of await namesIn(dir)) {
        const path = join(dir, name);
        const file = name.endsWith(PARTIAL) ? await stat(path).catch(() => null) : null;
        if (file?.isFile() === true && Date.now() - file.mtimeMs > DAY_MS) await rm(path, { force: true });
      }
    },
    close: async () => undefined,
  };
}

async function writeAll(file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
  }
  await file.sync();
}

async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  await folder.sync().finally(() => folder.close());
}

const taken = (path: string) => new ScrapifieError('CONFLICT', `${path} is there already. Name a new file.`);

function fileError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (isScrapifieError(error) || typeof code !== 'string' || !('errno' in (error as object))) return error;
  if (code === 'EEXIST') return taken(path);
  if (code === 'ENOENT')
    return new ScrapifieError('NOT_FOUND', `There is no file ${path}.`, { cause: error });
  return new ScrapifieError(
    CODES[code] ?? 'DATA_DIR_UNUSABLE',
    `The file ${path} cannot be used (${code}).`,
    {
      cause: error,
    },
  );
}
