import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { PRIVATE_FOLDER } from './private-files.ts';

/**
 * Makes a folder, for this user alone, and those above it; one that is there is fine. Throws DATA_DIR_UNUSABLE. One folder at a time,
 * because Node.js' own recursive way never returns where the system makes no folders at all, such as /proc.
 */
export function makeFolder(path: string): void {
  try {
    const missing: string[] = [];
    for (let folder = path; !isThere(folder) && dirname(folder) !== folder; folder = dirname(folder)) {
      missing.push(folder);
    }
    for (const folder of missing.reverse()) makeOne(folder, folder === path);
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
  } catch (error) {
    const { message } = error as Error;
    throw new ScrapifieError('DATA_DIR_UNUSABLE', `The folder ${path} cannot be made: ${message}`, {
      cause: error,
    });
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makeOne(folder: string, isPrivate: boolean): void {
  try {
    mkdirSync(folder, isPrivate ? { mode: PRIVATE_FOLDER } : {});
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
