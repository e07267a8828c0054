import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../../core/config/private-files.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { LakeFile, LakeFiles } from '../../../core/ports/lake-store.ts';

/** Files of a lake in an object store, copied to this machine for queries. Files of the lake never change. */
export interface LakeCopies {
  /** Copies the files that are not there yet. They stay at least until `release`. Throws QUERY_TOO_LARGE when they are too many. */
  get(files: readonly LakeFile[]): Promise<{ pathOf(path: string): string; release(): Promise<void> }>;
}

const AT_ONCE = 4;

export function createLakeCopies(source: LakeFiles, folder: string, mostBytes: number): LakeCopies {
  const uses = new Map<string, number>();
  const copying = new Map<string, Promise<void>>();
  const pathOf = (path: string) => join(folder, path);

  async function copy({ path }: LakeFile): Promise<void> {
    const target = pathOf(path);
    const now = new Date();
    const isThere = await utimes(target, now, now).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    const bytes = await source.read(path);
    if (bytes === null) {
      throw new ScrapifieError('CONFLICT', 'The lake was changed while the query began. Send it again.');
    }
    await mkdir(dirname(target), { recursive: true, mode: PRIVATE_FOLDER });
    const partial = `${target}.${randomBytes(6).toString('hex')}`;
    await writeFile(partial, bytes, { mode: PRIVATE_FILE });
    await rename(partial, target);
  }

  /** Queries that want the same file at the same time wait for one copy of it. */
  function copyOnce(file: LakeFile): Promise<void> {
    const running = copying.get(file.path) ?? copy(file).finally(() => copying.delete(file.path));
    copying.set(file.path, running);
    return running;
  }

  /** Removes the copies that were not used for longest, until the others fit. */
  async function trim(): Promise<void> {
    const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const found = await Promise.all(
      names
        .filter((entry) => entry.isFile())
        .map(async (entry) => {
          const full = join(entry.parentPath, entry.name);
          const file = await stat(full).catch(() => null);
          return file === null ? [] : [{ full, bytes: file.size, usedAt: file.mtimeMs }];
        }),
    );
    const files = found.flat().sort((one, other) => other.usedAt - one.usedAt);
    let bytes = 0;
    for (const file of files) {
      bytes += file.bytes;
      const isUsed = (uses.get(relative(folder, file.full)) ?? 0) > 0;
      if (bytes > mostBytes && !isUsed) await rm(file.full, { force: true });
    }
  }

  return {
    async get(files) {
      const wanted = files.reduce((sum, { bytes }) => sum + bytes, 0);
      if (wanted > mostBytes) {
        throw new ScrapifieError(
          'QUERY_TOO_LARGE',
          `The query would read ${wanted} bytes of the lake, and ${mostBytes} are allowed. Narrow it by domains, since and until.`,
        );
      }
      const count = (by: 1 | -1) => {
        for (const { path } of files) {
          const left = (uses.get(path) ?? 0) + by;
          if (left > 0) uses.set(path, left);
          else uses.delete(path);
        }
      };
      count(1);
      const release = async () => {
        count(-1);
        await trim();
      };
      try {
        for (let at = 0; at < files.length; at += AT_ONCE) {
          await Promise.all(files.slice(at, at + AT_ONCE).map(copyOnce));
        }
      } catch (error) {
        await release();
        throw error;
      }
      return { pathOf, release };
    },
  };
}
