import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Shell } from '../shell/shell.ts';

const told = new WeakMap<NodeJS.WriteStream, Set<string>>();

/** Writes a note beside the results of a command, once however often the command comes to it. */
export function tellOnce({ stderr }: Pick<Shell, 'stderr'>, note: string): void {
  const before = told.get(stderr) ?? new Set();
  told.set(stderr, before);
  if (before.has(note)) return;
  before.add(note);
  stderr.write(`${note}\n`);
}

/** The error for a file that cannot be written, in words for the user who named it or its folder. */
export function cannotWrite(path: string, error: unknown): ScrapifieError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ScrapifieError('DISK_FULL', `No space left to write ${path}.`, { cause: error });
  }
  return new ScrapifieError('DATA_DIR_UNUSABLE', `${path} cannot be written: ${message}`, { cause: error });
}
