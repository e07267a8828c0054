import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../core/config/private-files.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LakeEntry, LakeFiles } from '../../core/ports/lake-store.ts';

/** Files that are being written; they are no files of the lake. */
const PARTIAL = '.partial';
const PARTIAL_MS = 3_600_000;

/** A lake in a folder, which is made with its first file. A file has another name until it is whole and on the disk. */
export function createLakeFs(root: string): LakeFiles {
  const dir = resolve(root);
  const pathOf = (path: string): string => {
    const full = resolve(dir, path);
    if (!full.startsWith(dir + sep)) throw new Error(`${path} leads out of the lake.`);
    return full;
  };

  async function writeOnce(path: string, bytes: Uint8Array): Promise<void> {
    const folder = dirname(path);
    const made = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    const partial = `${path}.${randomBytes(6).toString('hex')}${PARTIAL}`;
    try {
      const file = await open(partial, 'wx', PRIVATE_FILE);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    await syncFolder(folder);
    if (made === undefined) return;
    for (let at = folder; at.length >= made.length; at = dirname(at)) await syncFolder(dirname(at));
  }

  return {
    name: dir,
    async write(path, bytes) {
      const full = pathOf(path);
      try {
        // The folder may be removed as empty between its making and the file: then both are made again.
        await writeOnce(full, bytes).catch((error) => {
          if (codeOf(error) === 'ENOENT') return writeOnce(full, bytes);
          throw error;
        });
      } catch (error) {
        throw fileError(error, full);
      }
    },
    async read(path) {
      try {
        return await readFile(pathOf(path));
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw fileError(error, pathOf(path));
      }
    },
    async remove(paths) {
      for (const path of paths) {
        const full = pathOf(path);
        try {
          await rm(full, { force: true });
          await removeEmpty(dirname(full), dir);
        } catch (error) {
          throw fileError(error, full);
        }
      }
    },
    list: (prefix) => listFolder(prefix === '' ? dir : pathOf(prefix), prefix),
    localPath: pathOf,
    close: async () => undefined,
  };
}

async function* listFolder(folder: string, prefix: string): AsyncGenerator<LakeEntry> {
  const entries = await opendir(folder).catch((error) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw fileError(error, folder);
  });
  if (entries === null) return;
  for await (const entry of entries) {
    const full = join(folder, entry.name);
    if (entry.isDirectory()) yield* listFolder(full, `${prefix}${entry.name}/`);
    if (!entry.isFile()) continue;
    const file = await stat(full).catch(() => null);
    if (file === null) continue;
    if (!entry.name.endsWith(PARTIAL)) yield { path: `${prefix}${entry.name}`, bytes: file.size };
    else if (Date.now() - file.mtimeMs > PARTIAL_MS) await rm(full, { force: true });
  }
}

/** Up to the folder of the lake itself, which stays. */
async function removeEmpty(folder: string, root: string): Promise<void> {
  for (let at = folder; at.length > root.length; at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle: FileHandle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

function fileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof ScrapifieError) return error;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new ScrapifieError(
    isFull ? 'DISK_FULL' : 'DATA_DIR_UNUSABLE',
    `The file ${path} of the lake cannot be used (${code}).`,
    { cause: error },
  );
}
