import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Shell } from '../shell/shell.ts';
import { cannotWrite } from './cannot-write.ts';
import { outputWritten } from './standard-output.ts';

/** Gathered before they are written: a write per page would be a system call per page. */
const CHUNK_CHARS = 65_536;

/**
 * Writes texts, or bytes, to a file, or to standard output when none is named. A file appears under its name when it is complete,
 * so that half of it is never taken for the whole. Throws DISK_FULL or DATA_DIR_UNUSABLE with the file's name.
 */
export async function writeOut(
  shell: Shell,
  out: string | undefined,
  texts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (out === undefined || out === '-') {
    try {
      await pipeline(Readable.from(inChunks(texts)), shell.stdout, { end: false });
    } catch (error) {
      // The error of the stream says why; an error of the source is reported as it is.
      await outputWritten(shell.stdout);
      throw error;
    }
    return;
  }
  const path = resolve(shell.cwd, out);
  const part = `${path}.part`;
  try {
    await pipeline(Readable.from(inChunks(texts)), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error instanceof ScrapifieError ? error : cannotWrite(path, error);
  }
}

/** Bytes come in chunks already. */
async function* inChunks(texts: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  let chunk = '';
  for await (const text of texts) {
    if (typeof text !== 'string') {
      yield text;
      continue;
    }
    chunk += text;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
