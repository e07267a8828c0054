import { type FileHandle, open } from 'node:fs/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Bytes that can be read at any place: a file, or a part of one. */
export interface ByteSource {
  /** Names it in messages. */
  readonly name: string;
  readonly size: number;
  /** Fewer bytes at the end of the source; none beyond it. */
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export async function openFile(path: string): Promise<ByteSource> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    throw new ScrapifieError('BAD_ARCHIVE', `${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const { size } = await file.stat();
  return {
    name: path,
    size,
    async read(offset, length) {
      const wanted = Math.max(0, Math.min(length, size - offset));
      const buffer = Buffer.allocUnsafe(wanted);
      let filled = 0;
      while (filled < wanted) {
        const { bytesRead } = await file.read(buffer, filled, wanted - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    },
    close: () => file.close(),
  };
}

/** A part of another source, which stays open when the part is closed. */
export function partOf(source: ByteSource, name: string, start: number, size: number): ByteSource {
  return {
    name,
    size,
    read: (offset, length) => source.read(start + offset, Math.max(0, Math.min(length, size - offset))),
    close: async () => undefined,
  };
}

const AHEAD_BYTES = 2_097_152;

/** A source for one that goes through it once: what is read from the file is kept until it has passed. */
export function readingAhead(source: ByteSource): ByteSource {
  let window: Buffer = Buffer.alloc(0);
  let start = 0;
  return {
    ...source,
    async read(offset, length) {
      const end = Math.min(offset + length, source.size);
      if (offset < start || end > start + window.length) {
        window = await source.read(offset, Math.max(length, AHEAD_BYTES));
        start = offset;
      }
      return window.subarray(offset - start, Math.max(offset, end) - start);
    },
  };
}

export const badArchive = (source: Pick<ByteSource, 'name'>, offset: number, why: string): ScrapifieError =>
  new ScrapifieError(
    'BAD_ARCHIVE',
    `${source.name} is no archive that can be read: ${why}, at byte ${offset}.`,
  );
