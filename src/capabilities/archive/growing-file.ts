import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * A file that grows by whole pieces: a reader that opens it by its name, whenever the writer was killed, finds it as it was
 * after some `publish`, never with half a piece at its end.
 *
 * A write of several pages of memory can be cut by a kill, and a file has no way to take such a write back. So there are
 * two copies: one has the name and is never written to, the other is hidden and grows. `publish` gives the name to the
 * hidden one, which `rename` does at once or not at all, and the copy that had it is brought up to date to grow next.
 * Every byte is written twice.
 */
export interface GrowingFile {
  /** Number of bytes that readers find under the name now. */
  readonly publishedBytes: number;
  /** Number of bytes that readers will find after the next `publish`. */
  readonly bytes: number;
  append(chunk: Uint8Array): Promise<void>;
  /** Resolves when everything that was appended stands under the name, also after a power failure. */
  publish(): Promise<void>;
  /** Closes the file without what was not published, and removes the hidden copy. */
  close(): Promise<void>;
}

const COPY_BYTES = 1_048_576;

/** Opens the file, which may be there already; hidden copies that a killed process left behind are removed. */
export async function openGrowingFile(path: string): Promise<GrowingFile> {
  const next = join(dirname(path), `.${basename(path)}.next`);
  const last = join(dirname(path), `.${basename(path)}.last`);
  await Promise.all([rm(next, { force: true }), rm(last, { force: true })]);
  let publishedBytes = await sizeOf(path);
  let file: FileHandle = await openNext(publishedBytes !== null);
  let bytes = publishedBytes ?? 0;

  async function openNext(hasPublished: boolean): Promise<FileHandle> {
    // A copy that shares its blocks with the first one, where the file system can do that.
    if (hasPublished) await copyFile(path, next, constants.COPYFILE_FICLONE);
    return open(next, hasPublished ? 'r+' : 'w+');
  }

  async function writeAll(target: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < chunk.byteLength; ) {
      const { bytesWritten } = await target.write(chunk, done, chunk.byteLength - done, at + done);
      done += bytesWritten;
    }
  }

  /** Gives the copy that had the name what was appended since. */
  async function catchUp(source: FileHandle, from: number): Promise<void> {
    await rename(last, next);
    file = await open(next, 'r+');
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(1, bytes - from)));
    for (let at = from; at < bytes; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, bytes - at), at);
      if (bytesRead === 0) throw new Error(`${path} was cut while it was written.`);
      await writeAll(file, buffer.subarray(0, bytesRead), at);
      at += bytesRead;
    }
  }

  return {
    get publishedBytes() {
      return publishedBytes ?? 0;
    },
    get bytes() {
      return bytes;
    },
    async append(chunk) {
      const at = bytes;
      await writeAll(file, chunk, at);
      bytes = at + chunk.byteLength;
    },
    async publish() {
      if (bytes === publishedBytes) return;
      await file.datasync();
      const before = publishedBytes;
      const hasLast = before !== null && (await link(path, last).then(isDone, isNotDone));
      await rename(next, path);
      publishedBytes = bytes;
      const published = file;
      try {
        if (hasLast) await catchUp(published, before ?? 0);
        else file = await openNext(true);
      } finally {
        await published.close();
      }
    },
    async close() {
      await file.close();
      await Promise.all([rm(next, { force: true }), rm(last, { force: true })]);
    },
  };
}

const isDone = () => true;
/** A file system without hard links: the copy is made anew. */
const isNotDone = () => false;

/** Null when there is no such file. */
async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
}
