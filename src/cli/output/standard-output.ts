import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { listen } from '../../core/errors/guarded.ts';
import { cannotWrite } from './notes.ts';

/** The first error of each stream: Node.js itself forgets those of standard output. */
const failures = new WeakMap<Writable, Error>();

/**
 * Makes the errors of standard output known to `outputWritten`, and makes it write all of a chunk where it is a file:
 * Node.js writes a chunk with one call, and a disk that is nearly full takes the beginning of it without an error.
 */
export function prepareOutput(stdout: Writable & { readonly fd: number }): void {
  listen(stdout, 'error', (error: Error) => {
    if (!failures.has(stdout)) failures.set(stdout, error);
  });
  if (stdout instanceof Socket) return;
  stdout._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stdout.fd, chunk, at);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

/**
 * Resolves when everything that was written to standard output has left this process. Throws DISK_FULL, or
 * DATA_DIR_UNUSABLE, when some of it could not be written: a stream tells that later than the call that wrote.
 */
export async function outputWritten(stdout: NodeJS.WriteStream): Promise<void> {
  const last = await new Promise<Error | null>((resolve) => {
    stdout.write('', (error) => resolve(error ?? null));
  });
  // The first error is the cause; a later one may only say that the stream is closed.
  const failure = failures.get(stdout) ?? last;
  // A reader that has seen enough ends the program elsewhere and is no failure.
  if (failure !== null && (failure as NodeJS.ErrnoException).code !== 'EPIPE') {
    throw cannotWrite('standard output', failure);
  }
}
