import { openSync, writeSync } from 'node:fs';

/**
 * A file for log lines, opened with the first of them. Written line by line, because only what went wrong comes
 * here. A line that cannot be written is dropped: a full disk must not end the work that it is reported by, and
 * pino's own file destination tries for ever to write the rest when the process exits.
 */
export function createLogFile(path: string): { write(line: string): void } {
  let file: number | null = null;
  return {
    write(line) {
      try {
        file ??= openSync(path, 'a');
        writeSync(file, line);
      } catch {
        // Nowhere to tell it; the command itself finds out that the folder cannot be written.
      }
    },
  };
}
